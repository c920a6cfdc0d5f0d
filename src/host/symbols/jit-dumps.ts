import { readFileSync } from 'node:fs';
import { fileName } from '../../base/names/file-name.ts';
import { jitDumpPid } from '../../base/names/jit-file-names.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { RecordingContext } from '../../base/streams/recording-input.ts';
import type { OpenJitDump, RefusedJitDump } from '../../jitdump/jitdump.ts';
import { namespacedPid } from '../../symbolizer/jit/namespaced-pid.ts';
import type { OpenedFiles } from '../system/opened-files.ts';
import { openJitFile } from './jit-file.ts';
import { blocking, sourceOf } from './regular-file.ts';

/** Where jitdump files are looked for, apart from their own paths. */
export interface JitDumpDirectories {
  /** Directory that holds dumps under their own names. */
  readonly perfMapDir?: string;
  /** Directory under which the recording machine's files have their own paths: then this machine's are not used. */
  readonly symfs?: string;
}

/**
 * Opens jitdump files of this machine; while their process runs, also those that only it sees (a container's). In named directories any writer is trusted;
 * elsewhere, see `openJitFile`.
 * @param recording tells until when the process was recorded
 * @param diagnostics gets doubts about a file that is used (`jit-file-owner`)
 * @param opened gets the files that are opened
 */
export function jitDumpsOf(
  { perfMapDir, symfs }: JitDumpDirectories,
  { modifiedNs }: RecordingContext = {},
  diagnostics?: Diagnostics,
  opened?: OpenedFiles,
): OpenJitDump {
  return (path, pid) => {
    const name = fileName(path);
    // Nothing but jitdump files is opened, whatever a recording names.
    const number = jitDumpPid(name);
    if (number === undefined || !path.startsWith('/') || path.split('/').includes('..')) return undefined;
    const own = `/proc/${pid}/root${path}`;
    // A process with another pid in its own namespace usually has its own files, too.
    const isOwnFirst = Number(number) !== pid && isOwnNumber(pid, number);
    const named = [...(perfMapDir === undefined ? [] : [`${perfMapDir}/${name}`]), ...(symfs === undefined ? [] : [symfs + path])];
    const found = symfs !== undefined ? [] : isOwnFirst ? [own, path] : [path, own];
    const writer = { pid, recordedUntilNs: modifiedNs };
    let refused: RefusedJitDump | undefined;
    for (const place of [...named, ...found]) {
      const jitFile = openJitFile(place, named.includes(place) ? undefined : writer);
      if (jitFile === undefined) continue;
      const { descriptor, remark } = jitFile;
      if (descriptor === undefined) refused ??= { name: place, refusal: remark };
      const source = descriptor === undefined ? undefined : blocking(sourceOf(place, descriptor, opened));
      if (source === undefined) continue;
      if (remark !== '') diagnostics?.add('jit-file-owner', 'info', `${place}: ${remark}`);
      return source;
    }
    return refused;
  };
}

/** Whether a running process has this pid in its own namespace. */
function isOwnNumber(pid: number, number: string): boolean {
  try {
    return namespacedPid(readFileSync(`/proc/${pid}/status`, 'latin1')) === number;
  } catch {
    return false;
  }
}
