import type { CodeFlow, CodeReader, InstructionDecoder } from '../code/instruction-decoder.ts';
import type { ScanState } from '../code/scan-state.ts';
import { loongarchDistance } from './branch-distance.ts';

const RA = 1;
/** Moves from other register files to an integer register: movfr2gr.s, .d, movfrh2gr.s, movfcsr2gr, movcf2gr, by their upper 22 bits. */
const MOVES_TO_INTEGER: ReadonlySet<number> = new Set([0x0114b400, 0x0114b800, 0x0114bc00, 0x0114c800, 0x0114dc00].map((word) => word >>> 10));

/** 64-bit LoongArch. @see LoongArch Reference Manual, volume 1, appendix B, "Instruction Encoding" */
export class LoongarchDecoder implements InstructionDecoder {
  target = 0;
  via = 0;
  readonly sizeBytes = 4;

  decode(code: CodeReader, svma: number, state: ScanState): CodeFlow {
    const word = code.word(svma);
    // r0 is always 0, whatever is written to it.
    state.setConstant(0, 0);
    const flow = this.#follow(word, svma, state);
    state.setConstant(0, 0);
    return flow;
  }

  #follow(word: number, svma: number, state: ScanState): CodeFlow {
    const [rd, rj] = [word & 31, (word >>> 5) & 31];
    const opcode = word >>> 26;
    const distance = ((word << 6) >> 16) * 4;
    switch (opcode) {
      case 0x10: // beqz, bnez, bceqz, bcnez
      case 0x11:
      case 0x12:
        this.target = svma + (((rd << 27) >> 11) | ((word >>> 10) & 0xffff)) * 4;
        return 'branch';
      case 0x13: // jirl
        if (rd === RA) return 'call';
        this.via = rj;
        return distance === 0 ? 'leave' : 'end';
      case 0x14: // b, bl
      case 0x15:
        this.target = svma + loongarchDistance(word);
        return opcode === 0x14 ? 'jump' : 'call';
      case 0x16: // beq, bne, blt, bge, bltu, bgeu
      case 0x17:
      case 0x18:
      case 0x19:
      case 0x1a:
      case 0x1b:
        this.target = svma + distance;
        return 'branch';
    }
    // break
    if (word >>> 15 === 0x54) return 'end';
    compute(word, svma, state);
    return 'next';
  }
}

function compute(word: number, svma: number, state: ScanState): void {
  const [rd, rj, rk] = [word & 31, (word >>> 5) & 31, (word >>> 10) & 31];
  const immediate = (word << 10) >> 20;
  switch (word >>> 22) {
    case 0x00b: // addi.d
      state.add(rd, rj, immediate);
      return;
    case 0x00a: // addi.w
      if (state.isConstant(rj)) state.setConstant(rd, (state.offsets[rj] + immediate) | 0);
      else state.clobber(rd);
      return;
    case 0x00e: // ori
      if (state.isConstant(rj)) state.setConstant(rd, state.offsets[rj] | (immediate & 0xfff));
      else state.clobber(rd);
      return;
    case 0x0a3: // ld.d
      state.load(rd, rj, immediate);
      return;
    case 0x0a7: // st.d
      state.store(rd, rj, immediate);
      return;
  }
  switch (word >>> 24) {
    case 0x26: // ldptr.d
      state.load(rd, rj, ((word << 8) >> 18) * 4);
      return;
    case 0x27: // stptr.d
      state.store(rd, rj, ((word << 8) >> 18) * 4);
      return;
  }
  switch (word >>> 15) {
    case 0x21: // add.d
      state.combine(rd, rj, rk, 1);
      return;
    case 0x23: // sub.d
      state.combine(rd, rj, rk, -1);
      return;
    case 0x2a: // or
      if (rk === 0) state.add(rd, rj, 0);
      else state.clobber(rd);
      return;
  }
  const upper = (word << 7) & ~0xfff;
  // addu16i.d, lu12i.w, pcaddu12i
  if (word >>> 26 === 0x04) state.add(rd, rj, ((word << 6) >> 16) * 0x1_0000);
  else if (word >>> 25 === 0x0a) state.setConstant(rd, upper);
  else if (word >>> 25 === 0x0e) state.setConstant(rd, svma + upper);
  else if (writesInteger(word)) state.clobber(rd);
  // rdtimel.w, rdtimeh.w, rdtime.d also tell which counter it is.
  if (word >>> 10 >= 0x18 && word >>> 10 <= 0x1a) state.clobber(rj);
}

/** Whether another instruction writes the integer register in its lowest five bits. Others are stores, or have registers of other files there. */
function writesInteger(word: number): boolean {
  const opcode = word >>> 24;
  // asrtle.d, asrtgt.d, syscall, dbcl
  if (opcode === 0) return ![0x02, 0x03, 0x55, 0x56].includes(word >>> 15);
  if (opcode === 0x01) return MOVES_TO_INTEGER.has(word >>> 10);
  if (opcode <= 0x04 || (opcode >= 0x14 && opcode <= 0x24)) return true;
  // ld.b, ld.h, ld.w; ld.bu, ld.hu, ld.wu
  if (opcode === 0x28 || opcode === 0x2a) return [0xa0, 0xa1, 0xa2, 0xa8, 0xa9, 0xaa].includes(word >>> 22);
  // ldl.w, ldr.w, ldl.d, ldr.d
  if (opcode === 0x2e) return true;
  if (opcode === 0x38) return loadsIndexed((word >>> 15) & 0xff);
  // vpickve2gr.b …, xvpickve2gr.w …
  return [0x72ef, 0x72f3, 0x76ef, 0x76f3].includes(word >>> 16);
}

/** ldx.b …; ldx.bu …; sc.q … ammin_db.du, amcas.b among them, after which come the barriers; ldgt.b …, ldle.b …. */
function loadsIndexed(extended: number): boolean {
  return extended < 0x20 || (extended >= 0x40 && extended < 0x58) || (extended >= 0xae && extended < 0xe4) || (extended >= 0xf0 && extended < 0xf8);
}
