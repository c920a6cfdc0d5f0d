import { bitCount } from '../../../base/bytes/bit-count.ts';
import { ARM_PC } from '../../machines/arm-registers.ts';
import type { CodeFlow, CodeReader } from '../code/instruction-decoder.ts';
import type { ScanState } from '../code/scan-state.ts';

const WORD_BYTES = 4;

/** Where code goes on after a conditional instruction. @param flow where it goes on if the condition holds */
export function conditional(flow: CodeFlow): CodeFlow {
  return flow === 'jump' ? 'branch' : flow === 'end' ? 'next' : flow;
}

/** 32 bits of code, signed. */
export function wordAt(code: CodeReader, svma: number): number {
  return code.half(svma) | (code.half(svma + 2) << 16);
}

/** Where the words of LDM and STM are from the base register on: its value is incremented or decremented, after or before each word. */
export type BlockMode = 'IA' | 'IB' | 'DA' | 'DB';

export function blockMode(isUp: boolean, isBefore: boolean): BlockMode {
  if (isUp) return isBefore ? 'IB' : 'IA';
  return isBefore ? 'DB' : 'DA';
}

/** STM, PUSH. @param list a bit for each register */
export function storeMany(state: ScanState, list: number, base: number, mode: BlockMode, writesBack: boolean): void {
  let at = firstWord(list, mode);
  for (let register = 0; register <= ARM_PC; register++) {
    if ((list & (1 << register)) === 0) continue;
    state.store(register, base, at);
    at += WORD_BYTES;
  }
  if (writesBack) moveBase(state, list, base, mode);
}

/** LDM, POP. @param list a bit for each register */
export function loadMany(state: ScanState, list: number, base: number, mode: BlockMode, writesBack: boolean): void {
  let at = firstWord(list, mode);
  let baseAt: number | undefined;
  for (let register = 0; register <= ARM_PC; register++) {
    if ((list & (1 << register)) === 0) continue;
    if (register === base) baseAt = at;
    else state.load(register, base, at);
    at += WORD_BYTES;
  }
  // The base itself is loaded last: the others' addresses count from it.
  if (baseAt !== undefined) state.load(base, base, baseAt);
  else if (writesBack) moveBase(state, list, base, mode);
}

/** Where the first word is, from the base register on. */
function firstWord(list: number, mode: BlockMode): number {
  const sizeBytes = WORD_BYTES * bitCount(list);
  switch (mode) {
    case 'IA':
      return 0;
    case 'IB':
      return WORD_BYTES;
    case 'DA':
      return WORD_BYTES - sizeBytes;
    case 'DB':
      return -sizeBytes;
  }
}

function moveBase(state: ScanState, list: number, base: number, mode: BlockMode): void {
  const sizeBytes = WORD_BYTES * bitCount(list);
  state.add(base, base, mode === 'IA' || mode === 'IB' ? sizeBytes : -sizeBytes);
}

/** What LDR and STR do with the distance: it is part of the address, or added to the base register after the access, or both. */
export type Indexing = 'offset' | 'post-indexed' | 'pre-indexed';

export function indexing(isBefore: boolean, writesBack: boolean): Indexing {
  if (!isBefore) return 'post-indexed';
  return writesBack ? 'pre-indexed' : 'offset';
}

/** STR of one word. */
export function storeOne(state: ScanState, register: number, base: number, distance: number, index: Indexing): void {
  state.store(register, base, index === 'post-indexed' ? 0 : distance);
  if (index !== 'offset') state.add(base, base, distance);
}

/** LDR of one word. */
export function loadOne(state: ScanState, register: number, base: number, distance: number, index: Indexing): void {
  state.load(register, base, index === 'post-indexed' ? 0 : distance);
  if (index !== 'offset' && register !== base) state.add(base, base, distance);
}
