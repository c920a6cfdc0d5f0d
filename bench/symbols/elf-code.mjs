// Where the machine code of an ELF file lies, where it is loaded, and what stands at which symbol's address: read with nothing of
// perfconv's own.

import { closeSync, openSync, readSync } from 'node:fs';

const PT_LOAD = 1;
const SHT_PROGBITS = 1;
const SHT_SYMTAB = 2;
const SHT_DYNSYM = 11;
const SHF_EXECINSTR = 4;
const STT_NOTYPE = 0;

/** Sections with code as `{ name, start, sizeBytes }`, but for the PLT's, whose stubs no debug information knows. */
export function codeSections(path) {
  return readElf(path, ({ sections }) =>
    sections
      .filter(({ name, type, flags }) => type === SHT_PROGBITS && (flags & SHF_EXECINSTR) !== 0 && !name.startsWith('.plt'))
      .map(({ name, addr, sizeBytes }) => ({ name, start: addr, sizeBytes })),
  );
}

/** Symbols by name as `{ address, isLabel }`; a label is neither a function nor data. */
export function readSymbols(path) {
  return readElf(path, ({ sections, bytesOf, is64 }) => {
    const table = sections.find(({ type }) => type === SHT_SYMTAB) ?? sections.find(({ type }) => type === SHT_DYNSYM);
    const symbols = new Map();
    if (table === undefined) return symbols;
    const [entries, strings] = [bytesOf(table), bytesOf(sections[table.link])];
    for (let at = 0; at < entries.length; at += is64 ? 24 : 16) {
      const name = strings.text(entries.u32(at));
      const info = entries.u8(at + (is64 ? 4 : 12));
      if (name !== '') symbols.set(name, { address: is64 ? entries.u64(at + 8) : entries.u32(at + 4), isLabel: (info & 0xf) === STT_NOTYPE });
    }
    return symbols;
  });
}

/** What of the file is loaded, as `{ address, offset, sizeBytes }`. */
export function loadedSegments(path) {
  return readElf(path, ({ header, bytes, is64 }) => {
    const [phoff, shorts] = is64 ? [header.u64(32), 54] : [header.u32(28), 42]; // e_phentsize, e_phnum
    const phentsize = header.u16(shorts);
    const table = bytes(phoff, phentsize * header.u16(shorts + 2));
    const segments = [];
    for (let at = 0; at < table.length; at += phentsize) {
      if (table.u32(at) !== PT_LOAD) continue;
      segments.push(
        is64
          ? { address: table.u64(at + 16), offset: table.u64(at + 8), sizeBytes: table.u64(at + 32) }
          : { address: table.u32(at + 8), offset: table.u32(at + 4), sizeBytes: table.u32(at + 16) },
      );
    }
    return segments;
  });
}

/** Numbers and texts of a buffer, in either byte order. */
class Bytes {
  #buffer;
  #view;
  #littleEndian;

  constructor(buffer, littleEndian) {
    this.#buffer = buffer;
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    this.#littleEndian = littleEndian;
  }

  get length() {
    return this.#buffer.length;
  }

  u8(at) {
    return this.#buffer[at];
  }

  u16(at) {
    return this.#view.getUint16(at, this.#littleEndian);
  }

  u32(at) {
    return this.#view.getUint32(at, this.#littleEndian);
  }

  u64(at) {
    return Number(this.#view.getBigUint64(at, this.#littleEndian));
  }

  text(at) {
    return this.#buffer.toString('latin1', at, this.#buffer.indexOf(0, at));
  }
}

function readElf(path, use) {
  const file = openSync(path, 'r');
  try {
    const buffer = (offset, sizeBytes) => {
      const bytes = Buffer.alloc(sizeBytes);
      readSync(file, bytes, 0, sizeBytes, offset);
      return bytes;
    };
    const ident = buffer(0, 64);
    if (ident.toString('latin1', 0, 4) !== '\x7fELF') throw new Error(`${path} is not an ELF file`);
    const [is64, littleEndian] = [ident[4] === 2, ident[5] === 1];
    const bytes = (offset, sizeBytes) => new Bytes(buffer(offset, sizeBytes), littleEndian);
    const header = bytes(0, 64);
    const [shoff, shorts] = is64 ? [header.u64(40), 58] : [header.u32(32), 46]; // e_shentsize, e_shnum, e_shstrndx
    const shentsize = header.u16(shorts);
    const table = bytes(shoff, shentsize * header.u16(shorts + 2));
    const rows = [];
    for (let at = 0; at < table.length; at += shentsize) rows.push(sectionAt(table, at, is64));
    const bytesOf = ({ offset, sizeBytes }) => bytes(offset, sizeBytes);
    const names = bytesOf(rows[header.u16(shorts + 4)]);
    return use({ header, sections: rows.map((row) => ({ ...row, name: names.text(row.nameAt) })), bytes, bytesOf, is64 });
  } finally {
    closeSync(file);
  }
}

function sectionAt(table, at, is64) {
  const [nameAt, type] = [table.u32(at), table.u32(at + 4)];
  return is64
    ? { nameAt, type, flags: table.u64(at + 8), addr: table.u64(at + 16), offset: table.u64(at + 24), sizeBytes: table.u64(at + 32), link: table.u32(at + 40) }
    : { nameAt, type, flags: table.u32(at + 8), addr: table.u32(at + 12), offset: table.u32(at + 16), sizeBytes: table.u32(at + 20), link: table.u32(at + 24) };
}
