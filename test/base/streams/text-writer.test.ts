import { describe, expect, it } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { TextWriter } from '../../../src/base/streams/text-writer.ts';

async function written(...texts: string[]): Promise<Buffer> {
  const sink = new BufferSink();
  const out = new TextWriter(sink);
  for (const text of texts) out.put(text);
  await out.flush();
  return Buffer.from(sink.bytes());
}

describe('text of any length', () => {
  // Text is encoded in parts, at whose ends a character of two UTF-16 units must not be cut.
  it.each([65_534, 65_535, 65_536, 131_071, 131_072])('with a character outside the basic plane after %i units is written as it is', async (length) => {
    const text = `${'x'.repeat(length)}😀${'ä'.repeat(70_000)}`;
    expect((await written('a', text, 'b')).equals(Buffer.from(`a${text}b`))).toBe(true);
  });

  it('keeps bytes that are not UTF-8, wherever they are', async () => {
    const text = `${'x'.repeat(65_535)}\udcff${'y'.repeat(65_536)}\udc80`;
    const bytes = await written(text);
    expect(bytes.length).toBe(text.length);
    expect([bytes[65_535], bytes.at(-1)]).toEqual([0xff, 0x80]);
  });

  it('takes at most twice the memory that it needs', async () => {
    const allocated: number[] = [];
    const Original = globalThis.Uint8Array;
    globalThis.Uint8Array = new Proxy(Original, {
      construct(target, args, newTarget) {
        if (typeof args[0] === 'number') allocated.push(args[0]);
        return Reflect.construct(target, args, newTarget) as object;
      },
    });
    try {
      const out = new TextWriter({ write: async () => {} });
      out.put('x'.repeat(10 << 20));
      await out.flush();
    } finally {
      globalThis.Uint8Array = Original;
    }
    expect(Math.max(...allocated)).toBeLessThan(20 << 20);
  });
});
