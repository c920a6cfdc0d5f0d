// Reads where the machine code of an ELF file is, where it is loaded, and which symbols it has, without any code of
// perfconv. Addresses are BigInts: as Numbers, hundreds of neighboring kernel addresses would be the same.

import { closeSync, openSync, readSync } from 'node:fs';

const PT_LOAD = 1;
const SHT_PROGBITS = 1;
const SHT_SYMTAB = 2;
const SHT_DYNSYM = 11;
const SHF_EXECINSTR = 4;
const STT_NOTYPE = 0;

/** Sections with code as `{ name, start, sizeBytes }`, without the PLT, whose stubs have no debug information. */
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
      if (name !== '') symbols.set(name, { address: entries.address(at + (is64 ? 8 : 4)), isLabel: (info & 0xf) === STT_NOTYPE });
    }
    return symbols;
  });
}

/** Loaded parts of the file (PT_LOAD), as `{ address, offset, sizeBytes }`. */
export function loadedSegments(path) {
  return readElf(path, ({ header, bytes, is64 }) => {
    const [phoff, shorts] = is64 ? [header.size(32), 54] : [header.size(28), 42]; // e_phentsize, e_phnum
    const phentsize = header.u16(shorts);
    const table = bytes(phoff, phentsize * header.u16(shorts + 2));
    const segments = [];
    for (let at = 0; at < table.length; at += phentsize) {
      if (table.u32(at) !== PT_LOAD) continue;
      const [vaddr, offset, filesz] = is64 ? [16, 8, 32] : [8, 4, 16];
      segments.push({ address: table.address(at + vaddr), offset: table.size(at + offset), sizeBytes: table.size(at + filesz) });
    }
    return segments;
  });
}

/** Reads numbers and texts of a file, in its byte order and address size. */
class Bytes {
  #buffer;
  #view;
  #littleEndian;
  #is64;

  constructor(buffer, { littleEndian, is64 }) {
    this.#buffer = buffer;
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    this.#littleEndian = littleEndian;
    this.#is64 = is64;
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

  /** An address of 8 or 4 bytes. */
  address(at) {
    return this.#is64 ? this.#view.getBigUint64(at, this.#littleEndian) : BigInt(this.u32(at));
  }

  /** An offset or a size in the file. */
  size(at) {
    return Number(this.address(at));
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
    const bytes = (offset, sizeBytes) => new Bytes(buffer(offset, sizeBytes), { littleEndian, is64 });
    const header = bytes(0, 64);
    const [shoff, shorts] = is64 ? [header.size(40), 58] : [header.size(32), 46]; // e_shentsize, e_shnum, e_shstrndx
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
  const [flags, addr, offset, size, link] = is64 ? [8, 16, 24, 32, 40] : [8, 12, 16, 20, 24];
  return {
    nameAt: table.u32(at),
    type: table.u32(at + 4),
    flags: table.size(at + flags),
    addr: table.address(at + addr),
    offset: table.size(at + offset),
    sizeBytes: table.size(at + size),
    link: table.u32(at + link),
  };
}
