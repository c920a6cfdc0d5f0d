import { createReadStream, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import { systemCode } from '../system/io-error.ts';
import { isPipeAt } from '../system/pipes.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

/**
 * The standard streams of the process, for a worker: those that Node gives it go through the main thread, and report neither whether they are terminals nor
 * whether a write has failed.
 */
export class StandardStreams {
  readonly env = process.env;
  readonly stdin = new InputStream();
  readonly stderr = Object.assign(new DescriptorStream(STDERR), { isTTY: isatty(STDERR) });
  #stdout: (Writable & { readonly fd: number; readonly isTTY?: boolean; readonly columns?: number }) | undefined;

  get stdout(): Writable & { readonly fd: number; readonly isTTY?: boolean; readonly columns?: number } {
    this.#stdout ??= openOutput();
    return this.#stdout;
  }
}

/** Standard input, opened only when it is first read, since the open stream keeps the thread from ending. */
class InputStream extends Readable {
  readonly fd = STDIN;
  #source: Readable | undefined;

  override _read(): void {
    this.#source ??= this.#open();
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#source?.destroy();
    done(error);
  }

  #open(): Readable {
    const source = openInput();
    source.on('data', (chunk) => {
      if (!this.push(chunk)) source.pause();
    });
    source.on('end', () => this.push(null));
    source.on('error', (error) => this.destroy(error));
    return source;
  }
}

function openInput(): Readable {
  if (isatty(STDIN)) return new ReadStream(STDIN);
  if (isPipeAt(STDIN)) return new Socket({ fd: STDIN, readable: true, writable: false });
  return createReadStream('', { fd: STDIN, autoClose: false });
}

function openOutput(): Writable & { readonly fd: number } {
  if (isatty(STDOUT)) return Object.assign(new WriteStream(STDOUT), { fd: STDOUT });
  if (isPipeAt(STDOUT)) return Object.assign(new Socket({ fd: STDOUT, readable: false, writable: true }), { fd: STDOUT });
  return new DescriptorStream(STDOUT);
}

/** Writes synchronously: to a file, which takes everything, and messages, which must appear whatever becomes of the program. */
class DescriptorStream extends Writable {
  readonly fd: number;

  constructor(fd: number) {
    super({ decodeStrings: true });
    this.fd = fd;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    try {
      for (let at = 0; at < chunk.length; ) at += writeAvailable(this.fd, chunk, at);
      done();
    } catch (error) {
      done(error as Error);
    }
  }
}

/** @returns bytes written; 0 if a non-blocking pipe is full */
function writeAvailable(fd: number, chunk: Buffer, at: number): number {
  try {
    return writeSync(fd, chunk, at);
  } catch (error) {
    if (systemCode(error) !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return 0;
  }
}
