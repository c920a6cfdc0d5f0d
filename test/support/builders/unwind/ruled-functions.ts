import { Diagnostics } from '../../../../src/base/problems/diagnostics.ts';
import { Symbolizer } from '../../../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../elf/elf-builder.ts';
import { MadeFiles } from '../made-symbol-files.ts';
import { assembleFrames, assembleFrameTable, CfaCode } from './frame-assembler.ts';

/** Registers by their DWARF numbers: the stack pointer, which the CFA is at each function's start, and the link register. */
interface RuleRegisters {
  readonly sp: number;
  readonly lr: number;
}

/**
 * What finds the rules of a file's functions, which have no names. They follow one another from the beginning of the text on.
 * @param machine `e_machine` of the file, which is 64-bit and little-endian
 * @param sizeBytes of each function
 * @param codes the rules of each
 */
export function ruledFunctions(path: string, machine: number, { sp, lr }: RuleRegisters, sizeBytes: number, codes: readonly CfaCode[]): Symbolizer {
  const framesAt = TEXT.vaddr + 0x800;
  const tableAt = TEXT.vaddr + 0x900;
  const functions = codes.map((code, i) => ({ start: TEXT.vaddr + i * sizeBytes, sizeBytes, code }));
  const frames = assembleFrames([[{ returnAddress: lr, code: new CfaCode().defCfa(sp, 0) }, functions]], { addr: framesAt });
  const entries = functions.map(({ start }, i) => [start, framesAt + frames.fdeOffsets[i]] as const);
  const moreSections = [
    { name: '.eh_frame', addr: framesAt, content: frames.bytes },
    { name: '.eh_frame_hdr', addr: tableAt, content: assembleFrameTable(tableAt, framesAt, entries) },
  ];
  const files = new MadeFiles();
  files.content.set(path, buildElf({ classBits: 64, littleEndian: true, machine, moreSections }));
  return new Symbolizer(files, { debugDirs: [], compatPerf: false }, new Diagnostics());
}
