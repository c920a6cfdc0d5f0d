/** Unwinds user stacks without a recording: registers, memory and the modules' rules in, frames out. Loads nothing that reads recordings. */

export { ByteView } from './base/bytes/byte-view.ts';
export { type ErrorPlace, PerfconvError, type PerfconvErrorCode } from './base/problems/errors.ts';
export { BufferSource, type ByteSource } from './base/streams/byte-source.ts';
export type { Compression, Decompressor } from './base/streams/decompressor.ts';
export { ElfFile, type ElfSection, type ElfSegment } from './elf/elf-file.ts';
export type { UnwindInput } from './unwind/frames/unwind-input.ts';
export type { UnwindMachine } from './unwind/machines/unwind-machine.ts';
export type { CodeExtent, CodeMatch, CodeSpace } from './unwind/modules/code-space.ts';
export { type EhFrameBytes, readUnwindModule, UnwindModule } from './unwind/modules/unwind-module.ts';
export type { UnwindModuleOptions } from './unwind/rules/unwind-tables.ts';
export { type UnwindEnd, Unwinder, type UnwinderOptions } from './unwind/unwinder.ts';
