import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { PerfconvError } from '../base/problems/errors.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import { isWebWritable, type WebWritableLike } from '../base/streams/web-sink.ts';
import { GzipSink } from '../host/compression/gzip-sink.ts';
import { OutputStage } from '../host/output/output-stage.ts';
import { WritableSink } from '../host/output/writable-sink.ts';
import type { WriteOptions } from '../library/options.ts';
import { DecodedProfile, type Profile as PortableProfile } from '../library/profile.ts';
import { CSV_TABLE_NAMES } from '../pipeline/choices.ts';
import type { Format } from '../pipeline/formats.ts';
import { pathOf } from './path-of-url.ts';

/** Where a format is written. */
export type ProfileOutput = string | URL | Writable | WebWritableLike;

/** A decoded recording with names: what the formats are written from. */
export interface Profile extends PortableProfile {
  /**
   * Writes a format.
   * @param output a path or a `file:` URL, at which the file (for CSV, the directory) appears complete or not at all; or a stream of Node or of the web, which
   *   is not ended
   * @throws PerfconvError `io`; `no-samples`; `usage` for an output that would replace a file that is read; `unsupported`
   */
  write(format: Format, output: ProfileOutput, options?: WriteOptions): Promise<void>;
}

/** Compresses with gzip, like the command line. */
export function gzip(target: ByteSink): GzipSink {
  return new GzipSink(target);
}

/** A profile that can be written to files. */
export class FileProfile extends DecodedProfile implements Profile {
  override async write(format: Format, output: ProfileOutput, options: WriteOptions = {}): Promise<void> {
    if (typeof output === 'string') return this.#writePath(format, output, options);
    if (output instanceof URL) return this.#writePath(format, pathOf(output, 'a format is written to'), options);
    const isWeb = isWebWritable(output);
    // Not every caller has its types checked by a compiler.
    if (!isWeb && typeof (output as Partial<Writable> | null)?.write !== 'function') {
      throw new PerfconvError('usage', 'a format is written to a path, a file: URL, or a stream of node:stream or of the web');
    }
    if (format === 'csv') throw new PerfconvError('usage', 'csv is a directory of tables: give its path');
    if (isWeb) return super.write(format, output, options);
    await this.writeToStream(format, new WritableSink(output, 'output'), options);
  }

  async #writePath(format: Format, path: string, options: WriteOptions): Promise<void> {
    this.#checkUnread(format, path);
    const stage = new OutputStage();
    try {
      if (format === 'csv') await this.writeTablesTo(await stage.openDirectory(path, CSV_TABLE_NAMES), options);
      else await this.writeTo(format, await stage.openFile(path), path, options);
      // More symbol files may have been read for this format.
      this.#checkUnread(format, path);
      for (const { name, reason } of await stage.commit()) this.note('written-in-place', `${name} was written in place: ${reason}`);
    } finally {
      await stage.discard();
    }
  }

  /** @throws PerfconvError `usage` if the output would replace a file that is read */
  #checkUnread(format: Format, path: string): void {
    const written = format === 'csv' ? [path, ...CSV_TABLE_NAMES.map((name) => join(path, name))] : [path];
    for (const file of written) {
      const harm = this.parts.map(({ input }) => input.conflictOfWriting(file)).find((one) => one !== undefined);
      if (harm !== undefined) throw new PerfconvError('usage', `${file} would ${harm}`);
    }
  }
}
