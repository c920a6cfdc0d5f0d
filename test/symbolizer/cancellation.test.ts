import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { cancellable } from '../../src/base/streams/cancellation.ts';
import { cancellableFiles } from '../../src/symbolizer/inputs/cancellable-files.ts';
import type { FetchedFile, SymbolFiles } from '../../src/symbolizer/inputs/symbol-files.ts';
import { type CodeObject, Diagnostics, Symbolizer } from '../../src/symbols.ts';
import { buildElf, TEXT } from '../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { failure } from '../support/failure.ts';

const ID = 'aa11111111111111111111111111111111111111';
const SERVER: CodeObject = { name: '/opt/server', kind: 'file', buildId: ID, osRelease: '' };
const reason = new Error('no longer wanted');
const named = buildElf({ classBits: 64, littleEndian: true, buildId: ID, symbols: [{ name: 'main', value: TEXT.vaddr, sizeBytes: 64 }] });

let files: MadeFiles & Pick<SymbolFiles, 'fetch'>;
let diagnostics: Diagnostics;
let symbolizer: Symbolizer;
let controller: AbortController;
beforeEach(() => {
  files = new MadeFiles();
  diagnostics = new Diagnostics();
  symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false }, diagnostics);
  controller = new AbortController();
});

/** Asks for the symbols of the server with the controller's signal. */
async function ask(): Promise<string | undefined> {
  const code = await symbolizer.symbolsFor(SERVER, { lines: true, signal: controller.signal });
  await code?.close?.();
  return code?.table?.name(0);
}

describe('a question for symbols', () => {
  test('is given up while its files are opened, which are closed; the next one finds them', async () => {
    files.content.set(SERVER.name, named);
    const { open } = MadeFiles.prototype;
    files.open = async (path) => {
      if (path === SERVER.name) controller.abort(reason);
      return open.call(files, path);
    };
    await expect(ask()).rejects.toBe(reason);
    expect(files.openCount).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller = new AbortController();
    files.open = MadeFiles.prototype.open;
    expect(await ask()).toBe('main');
    expect([files.openCount, diagnostics.list()]).toEqual([0, []]);
  });

  test('hands its signal to what asks servers', async () => {
    let given: unknown;
    files.fetch = async (_id, _kind, signal) => {
      given = signal;
      return { source: undefined, places: [] };
    };
    expect(await ask()).toBeUndefined();
    expect(given).toBe(controller.signal);
    await symbolizer.symbolsFor(SERVER);
    expect(given).toBeUndefined();
  });

  test('does not wait for a server whose answer never comes, and closes one that comes late', async () => {
    let answer: (fetched: FetchedFile) => void = () => {};
    files.fetch = () => {
      setImmediate(() => controller.abort(reason));
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    await expect(ask()).rejects.toBe(reason);
    const source = new BufferSource(named, 'late');
    const closed = new Promise<void>((resolve) => {
      source.close = async () => resolve();
    });
    answer({ source, places: [] });
    await closed;
  });

  test('has debug information unpacked ahead where it would be without a signal', async () => {
    const decompress = vi.fn<SymbolFiles['decompress']>(async (_compression, bytes) => bytes);
    const packed = Uint8Array.of(1);
    const unpacking = Object.assign(new MadeFiles(), { decompress });
    await cancellable(controller.signal, (cancellation) => cancellableFiles(unpacking, cancellation).decompress('zlib', packed, 8, true));
    expect(decompress).toHaveBeenCalledWith('zlib', packed, 8, true);
  });

  test('throws a reason that is an error of perfconv, too', async () => {
    files.content.set(SERVER.name, new Uint8Array(10));
    const { PerfconvError } = await import('../../src/symbols.ts');
    const own = new PerfconvError('limit', 'the user closed the window');
    files.fetch = async () => {
      controller.abort(own);
      throw own;
    };
    await expect(ask()).rejects.toBe(own);
  });

  test('that is over leaves what it found usable', async () => {
    files.content.set(SERVER.name, named);
    const code = await symbolizer.symbolsFor(SERVER, { lines: false, starts: true, signal: controller.signal });
    controller.abort(reason);
    expect(await code?.functionStarts?.(Float64Array.of(TEXT.vaddr))).toHaveLength(1);
    await code?.close?.();
    expect(files.openCount).toBe(0);
  });

  test('accepts nothing but an AbortSignal', async () => {
    const question = symbolizer.symbolsFor(SERVER, { lines: false, signal: new AbortController() as never });
    expect(await failure(question)).toEqual(['usage', 'signal an object: expected an AbortSignal']);
  });
});
