import { POWERPC_CTR } from '../../../src/unwind/machines/powerpc-registers.ts';
import type { InstructionDecoder } from '../../../src/unwind/scan/code/instruction-decoder.ts';
import { CONSTANT, SAVED, ScanState } from '../../../src/unwind/scan/code/scan-state.ts';
import { LoongarchDecoder } from '../../../src/unwind/scan/decoders/loongarch-decoder.ts';
import { MipsDecoder } from '../../../src/unwind/scan/decoders/mips-decoder.ts';
import { PowerpcDecoder } from '../../../src/unwind/scan/decoders/powerpc-decoder.ts';
import { RiscvDecoder } from '../../../src/unwind/scan/decoders/riscv-decoder.ts';
import { X86Decoder } from '../../../src/unwind/scan/decoders/x86/x86-decoder.ts';

/** Where code begins. */
const START = 0x1000;

/** Bytes of code as the assembler lists them: halves of 16 bits, or words of 32. */
function bytesOf(listing: string): number[] {
  return listing
    .split(' ')
    .flatMap((word) => word.match(/../g)?.reverse() ?? [])
    .map((byte) => Number.parseInt(byte, 16));
}

/** What a register holds: `4-16` is the first value of register 4, less 16; `[4+8]` the word at such an address; a number; `?` what is not tracked. */
function registerText({ bases, offsets }: ScanState, register: number): string {
  const base = bases[register];
  const offset = offsets[register];
  if (base === CONSTANT) return String(offset);
  if (base < 0) return '?';
  return base >= SAVED ? `[${base - SAVED}${offset < 0 ? '' : '+'}${offset}]` : `${base}${offset < 0 ? '' : '+'}${offset}`;
}

/**
 * What instructions do, one after the other: how the last one goes on, and which registers have other values afterwards.
 * @param sp the number of the stack pointer
 * @param listing see {@link bytesOf}
 * @returns such as `leave 14? 13=13+8`: the flow and where it leads to, `?` if the last one is conditional, and the registers by DWARF number; after `if taken`,
 *   those that have other values where a condition holds
 */
export function follow(decoder: InstructionDecoder, sp: number, listing: string): string {
  return followTo(decoder, sp, listing).text;
}

/**
 * The same, and which words of the stack hold registers afterwards.
 * @returns such as `next 1=1-32 [-32]=1`: the word where the stack pointer points now holds the value that register 1 had before
 */
export function followStores(decoder: InstructionDecoder, sp: number, listing: string): string {
  const { text, state } = followTo(decoder, sp, listing);
  if (state === undefined) return text;
  const stored = Array.from({ length: POWERPC_CTR + 1 }, (_, register) => ({ register, at: state.savedAt(register) }));
  const words = stored.flatMap(({ register, at }) => (at === undefined ? [] : [{ register, at }])).sort((one, other) => one.at - other.at);
  return [text, ...words.map(({ register, at }) => `[${at}]=${register}`)].join(' ');
}

/** @returns what {@link follow} does, and the state that it tells; none if instructions had another size */
function followTo(decoder: InstructionDecoder, sp: number, listing: string): { text: string; state?: ScanState } {
  const bytes = bytesOf(listing);
  const byte = (svma: number): number => bytes[svma - START] ?? 0;
  const half = (svma: number): number => byte(svma) | (byte(svma + 1) << 8);
  const code = { byte, half, word: (svma: number): number => half(svma) | (half(svma + 2) << 16) };
  const state = new ScanState();
  state.begin(sp);
  decoder.enter?.();
  let flow = '';
  let svma = START;
  for (; svma < START + bytes.length; svma += decoder.sizeBytes) flow = decoder.decode(code, svma, state);
  if (svma !== START + bytes.length) return { text: 'another size' };
  const isByRegister = flow === 'leave' || flow === 'may-leave';
  const to = flow === 'jump' || flow === 'branch' ? ` ${(decoder.target - START).toString(16)}` : isByRegister ? ` ${decoder.via}` : '';
  const last = flow === 'leave' ? (decoder.taken ?? state) : state;
  const changes = changesIn(last, decoder);
  const ifTaken = decoder.taken === undefined || last === decoder.taken ? [] : changesIn(decoder.taken, decoder);
  const text = [`${flow}${to}${decoder.taken === undefined ? '' : '?'}`, ...changes, ...(ifTaken.length === 0 ? [] : ['if taken', ...ifTaken])].join(' ');
  return { text, state: last };
}

/** The registers that do not have their first values. */
function changesIn(state: ScanState, decoder: InstructionDecoder): string[] {
  const count = decoder instanceof PowerpcDecoder ? POWERPC_CTR + 1 : 32;
  return Array.from({ length: count }, (_, register) => register)
    .filter(
      (register) =>
        !((decoder instanceof RiscvDecoder || decoder instanceof LoongarchDecoder || decoder instanceof MipsDecoder) && register === 0) &&
        !(decoder instanceof X86Decoder && register > 16) &&
        registerText(state, register) !== `${register}+0`,
    )
    .map((register) => `${register}=${registerText(state, register)}`);
}
