import { PassThrough, Readable, Writable } from 'node:stream';
import { main } from '../../../src/cli/main.ts';

export interface MainResult {
  readonly status: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface MainOptions {
  readonly stdin?: Uint8Array | Readable;
  readonly isTTY?: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the program inside this process, with streams of its own. */
export async function runMain(args: readonly string[], { stdin = new Uint8Array(0), isTTY = false, columns, env = {} }: MainOptions = {}): Promise<MainResult> {
  const stdout = Object.assign(collector(isTTY), columns !== undefined && { columns });
  const stderr = collector(isTTY);
  const input = stdin instanceof Readable ? stdin : new PassThrough().end(stdin);
  const status = await main(args, { stdin: input, stdout, stderr, env });
  return { status, stdout: stdout.bytes(), stderr: stderr.bytes().toString() };
}

function collector(isTTY: boolean): Writable & { isTTY: boolean; bytes(): Buffer } {
  const chunks: Buffer[] = [];
  const writable = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return Object.assign(writable, { isTTY, bytes: () => Buffer.concat(chunks) });
}
