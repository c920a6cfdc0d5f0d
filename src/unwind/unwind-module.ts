import type { ByteView } from '../base/byte-view.ts';
import type { Decompressor } from '../base/decompressor.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import type { UnwindMachine } from './unwind-machine.ts';

/** What else is known when the rules of a file are read. */
export interface UnwindModuleOptions {
  /** The separate debug file: it may hold `.debug_frame`. It may be closed once the module is read. */
  readonly debug?: ElfFile;
  /** Unpacks a compressed `.debug_frame`. Without it, that is left out. */
  readonly decompressor?: Decompressor;
}

/** `.eh_frame` in memory, without a file: what JITs tell of their code (`JIT_CODE_UNWINDING_INFO`). */
export interface EhFrameBytes {
  readonly machine: UnwindMachine;
  readonly view: ByteView;
  /** The svma of the first byte. */
  readonly addr: number;
}

/**
 * How frames of one file are unwound: by `.eh_frame` (searched by `.eh_frame_hdr`'s table where that is right), `.debug_frame`, `.ARM.exidx`.
 * What was looked up is kept, so that there should be one module for each file, however often that is mapped.
 */
export class UnwindModule {
  /** Rules of code that has none but `.eh_frame`. */
  static ofEhFrame(_frames: EhFrameBytes): UnwindModule {
    return new UnwindModule();
  }

  /** Whether unwinding ended with `pending` because bytes of the file were wanted: {@link readWanted} reads them. */
  get wantsBytes(): boolean {
    return false;
  }

  /**
   * Reads what unwinding wanted of the file (constants that expressions refer to, code of functions without rules). What cannot be read counts as
   * absent from then on.
   */
  async readWanted(): Promise<void> {}
}

/**
 * Reads the rules of a file. Lookups are synchronous afterwards; what they rarely want besides is read by {@link UnwindModule.readWanted}.
 * @param elf stays open as long as the module is used
 * @throws PerfconvError when the file cannot be read; rules that are damaged are left out, and counted
 */
export async function readUnwindModule(_elf: ElfFile, _options: UnwindModuleOptions = {}): Promise<UnwindModule> {
  return new UnwindModule();
}
