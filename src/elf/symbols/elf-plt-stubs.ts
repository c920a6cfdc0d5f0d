import type { ByteView } from '../../base/bytes/byte-view.ts';
import { EM_386, EM_AARCH64, EM_ARM, EM_LOONGARCH, EM_MIPS, EM_RISCV, EM_S390, EM_X86_64 } from '../elf-constants.ts';
import type { ElfFile, ElfSection } from '../elf-file.ts';

/** A stub of the procedure linkage table: it jumps to the address that the dynamic linker has put into a slot of the GOT. */
export interface PltStub {
  /** File offset. */
  readonly start: number;
  readonly sizeBytes: number;
  /** Address (svma) of the slot. */
  readonly slot: number;
}

/** A stub in a section's bytes. It extends to the next one. */
interface FoundStub {
  readonly at: number;
  readonly slot: number;
}

/** A section with stubs. */
interface StubCode {
  readonly view: ByteView;
  /** Address (svma) of its first byte. */
  readonly addr: number;
  /** Size of an entry according to the section header; may be 0 or wrong. */
  readonly entsize: number;
  /** The address of `_GLOBAL_OFFSET_TABLE_`. */
  readonly got: number;
}

/** `.iplt`, for functions that are chosen when the program starts, only comes from LLVM. */
const STUB_SECTIONS = ['.plt', '.plt.sec', '.plt.got', '.iplt'];
const READERS: Readonly<Record<number, (code: StubCode) => FoundStub[]>> = {
  [EM_386]: (code) => readX86Stubs(code, i386Slot),
  [EM_X86_64]: (code) => readX86Stubs(code, amd64Slot),
  [EM_ARM]: readArmStubs,
  [EM_AARCH64]: readAarch64Stubs,
  [EM_RISCV]: readRiscvStubs,
  [EM_S390]: readS390Stubs,
  [EM_LOONGARCH]: readLoongarchStubs,
  [EM_MIPS]: readMipsStubs,
};

/** All stubs of a file in the forms that GNU ld and LLVM's linker make; empty for unknown machines. */
export async function readPltStubs(elf: ElfFile): Promise<PltStub[]> {
  const read = READERS[elf.machine];
  if (read === undefined) return [];
  const got = (elf.section('.got.plt') ?? elf.section('.got'))?.addr ?? 0;
  const stubs: PltStub[] = [];
  for (const name of STUB_SECTIONS) {
    const section = elf.section(name);
    if (section === undefined) continue;
    const view = await elf.readSection(section);
    const found = read({ view, addr: section.addr, entsize: section.entsize, got });
    for (const stub of placed(found, section, view.length)) stubs.push(stub);
  }
  return stubs;
}

function placed(found: readonly FoundStub[], section: ElfSection, sizeBytes: number): PltStub[] {
  return found.map(({ at, slot }, i) => ({ start: section.offset + at, sizeBytes: (found[i + 1]?.at ?? sizeBytes) - at, slot }));
}

/** The slot that a `jmp *…` at `at` reads; undefined if there is no such jump. */
type X86Slot = (code: StubCode, at: number) => number | undefined;

/**
 * There is one jump in each 16 bytes; or, without endbr, in each 8 bytes of a `.plt.got` and of the `.plt` of a static program, whose section header does not
 * say so (observed, binutils 2.40).
 */
function readX86Stubs(code: StubCode, slotOf: X86Slot): FoundStub[] {
  const { view, entsize } = code;
  const startsAt = (at: number): boolean => at + 8 <= view.length && slotOf(code, at) !== undefined;
  const isShort = entsize === 8 || (entsize === 0 && startsAt(0) && (view.length === 8 || startsAt(8)));
  const sizeBytes = isShort ? 8 : 16;
  const found: FoundStub[] = [];
  for (let at = 0; at + sizeBytes <= code.view.length; at += sizeBytes) {
    let slot: number | undefined;
    for (let jump = at; slot === undefined && jump + 6 <= at + sizeBytes; jump++) slot = slotOf(code, jump);
    if (slot !== undefined) found.push({ at, slot });
  }
  return found;
}

/** `jmp *disp32(%rip)`; or `mov disp32(%rip),%r11` if LLVM's linker keeps the jump from being predicted (-z retpolineplt). */
function amd64Slot({ view, addr }: StubCode, at: number): number | undefined {
  if (view.u8(at) === 0xff && view.u8(at + 1) === 0x25) return addr + at + 6 + view.i32(at + 2);
  const isLoad = view.u8(at) === 0x4c && view.u8(at + 1) === 0x8b && view.u8(at + 2) === 0x1d;
  return isLoad && at + 7 <= view.length ? addr + at + 7 + view.i32(at + 3) : undefined;
}

/**
 * `jmp *address` or, in position-independent code, `jmp *disp32(%ebx)`, where the register has the GOT's address. With -z retpolineplt,
 * LLVM's linker has `push %eax`, then `mov address,%eax` or `mov disp32(%ebx),%eax`.
 */
function i386Slot({ view, got }: StubCode, at: number): number | undefined {
  const first = view.u8(at);
  const second = view.u8(at + 1);
  if (first === 0xff && second === 0x25) return view.u32(at + 2);
  if (first === 0xff && second === 0xa3) return got + view.i32(at + 2);
  if (first !== 0x50) return undefined;
  if (second === 0xa1) return view.u32(at + 2);
  return second === 0x8b && view.u8(at + 2) === 0x83 && at + 7 <= view.length ? got + view.i32(at + 3) : undefined;
}

const AARCH64_BTI_C = 0xd503245f;

/** `adrp x16, page; ldr x17, [x16, #offset]`, possibly after `bti c`; what follows depends on pointer authentication. */
function readAarch64Stubs({ view, addr }: StubCode): FoundStub[] {
  const found: FoundStub[] = [];
  for (let at = 0; at + 8 <= view.length; at += 4) {
    const adrp = view.u32(at);
    const ldr = view.u32(at + 4);
    if ((adrp & 0x9f00001f) >>> 0 !== 0x90000010 || (ldr & 0xffc003ff) >>> 0 !== 0xf9400211) continue;
    const pages = ((((adrp >>> 5) & 0x7ffff) << 13) >> 11) | ((adrp >>> 29) & 3); // 21 bits, signed
    const slot = addr + at - ((addr + at) % 4096) + pages * 4096 + ((ldr >>> 10) & 0xfff) * 8;
    found.push({ at: at >= 4 && view.u32(at - 4) === AARCH64_BTI_C ? at - 4 : at, slot });
  }
  return found;
}

/** `bx pc; nop`; `bx pc; b` to itself, as newer linkers write it (observed, binutils 2.40). */
const THUMB_ENTRIES = [0x46c04778, 0xe7fd4778];

/** `add ip, pc, #a; add ip, ip, #b; …; ldr pc, [ip, #c]!`, possibly after a branch by which Thumb code enters. */
function readArmStubs({ view, addr }: StubCode): FoundStub[] {
  const found: FoundStub[] = [];
  for (let at = 0; at + 4 <= view.length; at += 4) {
    const first = view.u32(at);
    if ((first & 0xfffff000) >>> 0 !== 0xe28fc000) continue;
    let slot = addr + at + 8 + armImmediate(first);
    let next = at + 4;
    for (; next + 4 <= view.length && (view.u32(next) & 0xfffff000) >>> 0 === 0xe28cc000; next += 4) slot += armImmediate(view.u32(next));
    if (next + 4 > view.length || (view.u32(next) & 0xfffff000) >>> 0 !== 0xe5bcf000) continue;
    slot += view.u32(next) & 0xfff;
    found.push({ at: at >= 4 && THUMB_ENTRIES.includes(view.u32(at - 4)) ? at - 4 : at, slot: slot % 0x1_0000_0000 });
    at = next;
  }
  return found;
}

/** Eight bits rotated to the right by twice the four above them. */
function armImmediate(instruction: number): number {
  const by = ((instruction >>> 8) & 0xf) * 2;
  const byte = instruction & 0xff;
  return ((byte >>> by) | (byte << (32 - by))) >>> 0;
}

/** `lpad 0` of Zicfilp; without that extension, it is `auipc x0, 0`, which does nothing. */
const RISCV_LPAD = 0x00000017;

/** `auipc t3, hi; l[wd] t3, lo(t3)`. */
function readRiscvStubs({ view, addr }: StubCode): FoundStub[] {
  const found: FoundStub[] = [];
  for (let at = 0; at + 8 <= view.length; at += 4) {
    const auipc = view.u32(at);
    const load = view.u32(at + 4);
    const loads = load & 0xfffff;
    if ((auipc & 0xfff) !== 0xe17 || (loads !== 0xe3e03 && loads !== 0xe2e03)) continue;
    const slot = addr + at + ((auipc & 0xfffff000) | 0) + (load >> 20);
    found.push({ at: at >= 4 && view.u32(at - 4) === RISCV_LPAD ? at - 4 : at, slot });
  }
  return found;
}

/** `pcaddu12i $t3, hi; ld.[wd] $t3, $t3, lo`. */
function readLoongarchStubs({ view, addr }: StubCode): FoundStub[] {
  const found: FoundStub[] = [];
  for (let at = 0; at + 8 <= view.length; at += 4) {
    const pcadd = view.u32(at);
    const load = view.u32(at + 4);
    const loads = (load & 0xffc003ff) >>> 0;
    if ((pcadd & 0xfe00001f) >>> 0 !== 0x1c00000f || (loads !== 0x28c001ef && loads !== 0x288001ef)) continue;
    found.push({ at, slot: addr + at + (((pcadd >>> 5) << 12) | 0) + ((load << 10) >> 20) });
  }
  return found;
}

const S390_ENTRY_SIZE_BYTES = 32;

/** `larl %r1, slot` at the beginning of each 32 bytes. */
function readS390Stubs({ view, addr }: StubCode): FoundStub[] {
  const found: FoundStub[] = [];
  for (let at = 0; at + S390_ENTRY_SIZE_BYTES <= view.length; at += S390_ENTRY_SIZE_BYTES) {
    if (view.u8(at) === 0xc0 && view.u8(at + 1) === 0x10) found.push({ at, slot: addr + at + view.i32(at + 2) * 2 });
  }
  return found;
}

/** `lui $15, hi; l[wd] $25, lo($15)`, which only code that is not position-independent has. */
function readMipsStubs({ view }: StubCode): FoundStub[] {
  const found: FoundStub[] = [];
  for (let at = 0; at + 8 <= view.length; at += 4) {
    const [lui, load] = [view.u32(at), view.u32(at + 4)];
    const loads = load >>> 16;
    if (lui >>> 16 !== 0x3c0f || (loads !== 0x8df9 && loads !== 0xddf9)) continue;
    found.push({ at, slot: (lui << 16) + ((load << 16) >> 16) });
  }
  return found;
}
