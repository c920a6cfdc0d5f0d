import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { decompress } from '../../../src/host/compression/decompress.ts';
import { openAhead } from '../../../src/symbolizer/debug/open-lines.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { buildSectionElf } from '../../support/builders/elf/section-elf.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';

const NAMES = ['info', 'str', 'line', 'loclists', 'abbrev'];

function fileWithDebugInfo(): Uint8Array {
  const sections = NAMES.map((name, i) => {
    const content = Buffer.alloc((1 << 20) + i, name);
    // ELFCOMPRESS_ZLIB, a size and an alignment.
    const header = new ByteFields(true).u32(1, 0).u64(content.length, 1);
    return { name: `.debug_${name}`, flags: 0x800, content: header.put(deflateSync(content)).done() };
  });
  return buildSectionElf({ sections });
}

describe('openAhead', () => {
  it('starts to unpack the sections that every look-up reads', async () => {
    const begun: string[] = [];
    const host = Object.assign(new MadeFiles(), {
      decompress: async (...args: Parameters<typeof decompress>) => {
        const [, , sizeBytes, isAhead] = args;
        if (isAhead) begun.push(NAMES[sizeBytes - (1 << 20)]);
        return decompress(...args);
      },
    });
    const sections = await openAhead(await ElfFile.open(new BufferSource(fileWithDebugInfo())), host);
    expect(begun).toEqual(['info', 'abbrev', 'line']);
    expect(Buffer.from((await sections!.section('abbrev').read(0, 6)).bytes).toString()).toBe('abbrev');
  });

  it('returns nothing if a file cannot be read, and does not report it', async () => {
    const bytes = fileWithDebugInfo();
    const elf = await ElfFile.open(new BufferSource(bytes));
    elf.source.readAt = () => Promise.reject(new PerfconvError('io', 'cannot be read'));
    expect(await openAhead(elf, new MadeFiles())).toBeUndefined();
  });

  it('does not hide an error of the program', async () => {
    const elf = await ElfFile.open(new BufferSource(fileWithDebugInfo()));
    elf.source.readAt = () => Promise.reject(new TypeError('is not a function'));
    await expect(openAhead(elf, new MadeFiles())).rejects.toThrow(TypeError);
  });
});
