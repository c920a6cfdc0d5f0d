import type { BoundedView } from './bounded-view.ts';
import type { ElfAnatomy } from './elf-anatomy.ts';

// Finds the fields and instructions of call frame information. Uses no code of the unwinder.
// Source: DWARF 5, 6.4 and 7.24; LSB, "Exception Frames".

/** A piece of call frame information. `leb`: of variable length; `letters`: an augmentation; `instruction`: one with its operands. */
export interface FramePiece {
  readonly kind: 'word' | 'leb' | 'letters' | 'instruction';
  readonly offset: number;
  readonly sizeBytes: number;
}

const FRAME_SECTION = /^\.(?:eh_frame|debug_frame)$/;
const MAX_PIECES = 20_000;
const MAX_LEB_BYTES = 10;

/** Operands of the instructions above DW_CFA_offset and its like: sizes in bytes, `l` for LEB128, `b` for a block that begins with its length, `a` for an address. */
const OPERANDS: readonly string[] = ['', 'a', '1', '2', '4', 'll', 'l', 'l', 'l', 'll', '', '', 'll', 'l', 'l', 'b', 'lb', 'll', 'll', 'l', 'll', 'll', 'lb'];
/** DW_CFA_GNU_args_size and DW_CFA_GNU_negative_offset_extended. */
const MORE_OPERANDS: ReadonlyMap<number, string> = new Map([
  [0x2e, 'l'],
  [0x2f, 'll'],
]);

/** The pieces of `.eh_frame` and `.debug_frame`. */
export function framePiecesOf({ view, sections, is64 }: ElfAnatomy): FramePiece[] {
  return sections
    .filter(({ name }) => FRAME_SECTION.test(name))
    .flatMap(({ name, start, end }) => new FrameDissection(view, start, end, name === '.debug_frame', is64 ? 8 : 4).pieces());
}

/** One section, read as far as it makes sense. */
class FrameDissection {
  readonly #view: BoundedView;
  readonly #start: number;
  readonly #end: number;
  readonly #isDebugFrame: boolean;
  readonly #wordBytes: number;
  readonly #pieces: FramePiece[] = [];
  /** Size of a pointer, by the offset of the CIE that says so. */
  readonly #pointerBytes = new Map<number, number>();
  #at = 0;

  constructor(view: BoundedView, start: number, end: number, isDebugFrame: boolean, wordBytes: number) {
    this.#view = view;
    this.#start = start;
    this.#end = Math.min(end, view.length);
    this.#isDebugFrame = isDebugFrame;
    this.#wordBytes = wordBytes;
  }

  pieces(): readonly FramePiece[] {
    for (let entry = this.#start; entry + 8 <= this.#end && this.#pieces.length < MAX_PIECES; ) {
      const length = this.#view.u32(entry);
      if (length === 0) entry += 4;
      else {
        this.#entry(entry, Math.min(entry + 4 + length, this.#end));
        entry += 4 + length;
      }
    }
    return this.#pieces;
  }

  #entry(entry: number, end: number): void {
    this.#at = entry;
    this.#word(4);
    const id = this.#view.u32(this.#at);
    const isCie = id === (this.#isDebugFrame ? 0xffff_ffff : 0);
    const cie = this.#isDebugFrame ? this.#start + id : this.#at - id;
    this.#word(4);
    if (isCie) this.#cieFields(entry);
    else this.#fdeFields(this.#pointerBytes.get(cie) ?? this.#wordBytes);
    while (this.#at < end && this.#pieces.length < MAX_PIECES) this.#instruction();
  }

  #cieFields(cie: number): void {
    const version = this.#view.bytes[this.#at];
    this.#word(1);
    const lettersAt = this.#at;
    let letters = '';
    for (; this.#at < this.#end && this.#view.bytes[this.#at] !== 0; this.#at++) letters += String.fromCharCode(this.#view.bytes[this.#at]);
    this.#at++;
    this.#pieces.push({ kind: 'letters', offset: lettersAt, sizeBytes: this.#at - lettersAt });
    if (version >= 4) for (const size of [1, 1]) this.#word(size);
    for (const _ of ['code alignment', 'data alignment']) this.#leb();
    if (version === 1) this.#word(1);
    else this.#leb();
    if (!letters.startsWith('z')) return;
    this.#leb();
    for (const letter of letters.slice(1)) this.#augmentation(letter, cie);
  }

  #augmentation(letter: string, cie: number): void {
    if (letter === 'P') {
      const bytes = pointerSize(this.#view.bytes[this.#at], this.#wordBytes);
      this.#word(1);
      this.#word(bytes);
    } else if (letter === 'R' || letter === 'L') {
      if (letter === 'R') this.#pointerBytes.set(cie, pointerSize(this.#view.bytes[this.#at], this.#wordBytes));
      this.#word(1);
    }
  }

  #fdeFields(pointerBytes: number): void {
    for (const _ of ['first address', 'size']) this.#word(pointerBytes);
    if (!this.#isDebugFrame) this.#block();
  }

  #instruction(): void {
    const offset = this.#at;
    const code = this.#view.bytes[this.#at++];
    if (code >> 6 === 2) this.#leb();
    else if (code < 0x40) for (const operand of OPERANDS[code] ?? MORE_OPERANDS.get(code) ?? '') this.#operand(operand);
    this.#pieces.push({ kind: 'instruction', offset, sizeBytes: Math.min(this.#at, this.#end) - offset });
  }

  #operand(operand: string): void {
    if (operand === 'l') this.#leb();
    else if (operand === 'b') this.#block();
    else this.#word(operand === 'a' ? this.#wordBytes : Number(operand));
  }

  /** Bytes after their number. */
  #block(): void {
    const sizeBytes = this.#leb();
    this.#at += sizeBytes;
  }

  #word(sizeBytes: number): void {
    this.#pieces.push({ kind: 'word', offset: this.#at, sizeBytes });
    this.#at += sizeBytes;
  }

  /** @returns its value, if that is small */
  #leb(): number {
    const offset = this.#at;
    let value = 0;
    for (let shift = 0; this.#at < this.#end && this.#at < offset + MAX_LEB_BYTES; shift += 7) {
      const byte = this.#view.bytes[this.#at++];
      if (shift < 28) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    this.#pieces.push({ kind: 'leb', offset, sizeBytes: this.#at - offset });
    return value;
  }
}

/** Size of a pointer by its encoding (DW_EH_PE_…). */
function pointerSize(encoding: number, wordBytes: number): number {
  return { 2: 2, 3: 4, 4: 8 }[encoding & 7] ?? wordBytes;
}
