import { fileName } from '../../src/base/names/file-name.ts';
import { jitDumpPid } from '../../src/base/names/jit-file-names.ts';
import { messageOf, messageWithout } from '../../src/base/problems/errors.ts';
import { COMMAND_LINE_OPTIONS } from '../../src/base/problems/option-words.ts';
import { printable } from '../../src/base/text/printable.ts';
import { BlobSymbolFiles, mergeProfiles, openRecording, type Profile } from '../../src/index.ts';
import { KCORE_DIR } from '../../src/perfdata/directory-recording.ts';
import { identifyAll } from './file-kinds.ts';
import type { ChosenFile, ChosenRecording, FileFormat, Reply, Request, ShownFinding } from './messages.ts';
import { OPTION_LABELS } from './option-labels.ts';
import { sizeOf } from './recording-size.ts';

/** The part of a worker's global object that is used: its type is not among those of pages. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(reply: Reply): void;
}

const scope = globalThis as unknown as WorkerScope;

/** Options that have files: the page takes these without being told which they are for. */
const FILE_OPTIONS: readonly string[] = [
  'symfs',
  'debugDir',
  'buildidDir',
  'kallsyms',
  'vmlinux',
  'guestkallsyms',
  'guestvmlinux',
  'guestmodules',
  'perfMapDir',
];

/** Findings that say which of several files was used. */
const CHOICES: ReadonlySet<string> = new Set(['kallsyms-chosen', 'vmlinux-chosen']);

let profile: Profile | undefined;
/** The recordings that are not in it, and the files that were chosen for those that are. */
let ofRecordings: ShownFinding[] = [];

scope.onmessage = ({ data }) => {
  work(data).catch((error: unknown) => {
    // What is wrong with the only recording is the message itself.
    const isAll = profile === undefined && ofRecordings.length < 2;
    scope.postMessage({ kind: 'failed', message: messageOf(error), findings: isAll ? [] : findings() });
  });
};

function work(request: Request): Promise<void> {
  switch (request.kind) {
    case 'identify':
      return identify(request.files);
    case 'convert':
      return convert(request);
    case 'save':
      return save(request.format);
  }
}

async function identify(files: readonly ChosenFile[]): Promise<void> {
  // Observed: WebKit. All files would seem to be unreadable.
  await new Blob(['test']).arrayBuffer().catch(() => {
    throw new Error(
      'this browser does not let a page that is opened from a disk read files in the background: put the page on a web server, also of this machine',
    );
  });
  scope.postMessage({ kind: 'identified', files: await identifyAll(files) });
}

async function convert({ recordings, symbolFiles, kallsyms, vmlinux, options }: Extract<Request, { kind: 'convert' }>): Promise<void> {
  const files = new BlobSymbolFiles(
    await Promise.all(symbolFiles.map(async ({ path, data }) => ({ name: path, data: isJitDump(path) ? await bytesOf(data) : data }))),
  );
  const profiles: Profile[] = [];
  const paths: string[] = [];
  const failures: unknown[] = [];
  ofRecordings = [];
  let readBytes = 0;
  for (const { path, data } of recordings) {
    try {
      const recording = await openRecording(inputOf(data), { name: path, optionWords });
      // What is compressed as a whole unpacks to more bytes than were chosen.
      const onProgress = (bytes: number, totalBytes = bytes): void =>
        scope.postMessage({ kind: 'progress', bytes: readBytes + (sizeOf(data) * Math.min(bytes, totalBytes)) / Math.max(1, totalBytes) });
      const lists = hasOwnList(data) ? [] : kallsyms;
      const read = await recording.profile({ ...options, symbolFiles: files, formats: ['html'], onProgress, kallsyms: lists, vmlinux });
      profiles.push(read);
      paths.push(path);
      for (const { code, message, severity } of read.findings) {
        if (severity === 'info' && CHOICES.has(code))
          ofRecordings.push({ severity, text: printable(recordings.length === 1 ? message : `${path}: ${message}`) });
      }
    } catch (error) {
      failures.push(error);
      ofRecordings.push({ severity: 'loss', text: printable(`${path} is not in the result: ${error instanceof Error ? messageWithout(path, error) : error}`) });
    }
    readBytes += sizeOf(data);
  }
  if (profiles.length === 0) throw failures[0];
  profile = profiles.length === 1 ? profiles[0] : await mergeProfiles(profiles);
  const page = await (await fileOf('html')).text();
  scope.postMessage({ kind: 'converted', page, recordings: paths, events: profile.events.map(({ name }) => name), findings: findings() });
}

/** Whether a recording has the list of its kernel's symbols in its directory: then that is the right one. */
function hasOwnList(data: ChosenRecording['data']): boolean {
  return !(data instanceof Blob) && data.some(({ path }) => path.endsWith(`/${KCORE_DIR}/kallsyms`));
}

function inputOf(data: ChosenRecording['data']): Parameters<typeof openRecording>[0] {
  return data instanceof Blob ? data : data.map((file) => ({ name: file.path, data: file.data }));
}

async function save(format: FileFormat): Promise<void> {
  scope.postMessage({ kind: 'saved', format, file: await fileOf(format), findings: findings() });
}

/** All that was found so far. Notes are of no interest here, apart from those of {@link CHOICES}. */
function findings(): ShownFinding[] {
  const found = (profile?.findings ?? [])
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, message, count }) => ({ severity, text: printable(count === 1 ? message : `${message} (${count} times)`) }));
  return [...ofRecordings, ...found];
}

/** The profile in a format, in pieces as it is written. */
async function fileOf(format: FileFormat): Promise<Blob> {
  // A Blob need not be in this worker's memory.
  const pieces: Blob[] = [];
  await profile?.write(format, new WritableStream<Uint8Array>({ write: (piece) => void pieces.push(new Blob([new Uint8Array(piece)])) }));
  return new Blob(pieces);
}

/** Whether a file is read while records are replayed, when nothing can be awaited. */
function isJitDump(path: string): boolean {
  return jitDumpPid(fileName(path)) !== undefined;
}

async function bytesOf(data: Blob): Promise<Uint8Array> {
  return new Uint8Array(await data.arrayBuffer());
}

/** How messages name options: there is one way to give files, some are on the page, and all else is for the command line. */
function optionWords(option: string, value?: string): string {
  const label = OPTION_LABELS.get(option);
  if (label !== undefined) return `“${label}” of “Options”`;
  return FILE_OPTIONS.includes(option) ? '“Choose files”' : `the command line’s ${COMMAND_LINE_OPTIONS(option, value)}`;
}
