import { readRange } from '../bytes/byte-source.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { PerfconvError } from '../errors.ts';
import { isKnownBuildId, sameBuildId } from './build-id.ts';
import { buildIdCacheFiles } from './candidates.ts';
import { Kallsyms } from './kallsyms.ts';
import type { SymbolFiles, SymbolizerOptions } from './symbol-files.ts';
import type { SymbolTable } from './symbol-table.ts';

/** The kernel that was recorded. */
export interface RecordedKernel {
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Release as `uname -r` prints it; empty when unknown. */
  readonly osRelease: string;
  /** A symbol whose run-time address was recorded, `_text` or `_stext`, and that address; absent when none was. */
  readonly referenceSymbol?: string;
  readonly referenceAddress?: number;
}

/** A symbol list that fits the recorded kernel. */
interface FittingKallsyms {
  readonly kallsyms: Kallsyms;
  /** What to add to its addresses: another boot of the same kernel may lie elsewhere (KASLR). */
  readonly shift: number;
}

const LIVE_KALLSYMS = '/proc/kallsyms';
/** Kernels with every symbol have lists of some 20 MB. One that comes with a recording may be anything. */
const MAX_KALLSYMS_BYTES = 256 << 20;
/** Names under which BPF code and the kernel's other generated code is recorded (PERF_RECORD_KSYMBOL), and their kallsyms column. */
const GENERATED_CODE: readonly (readonly [RegExp, string])[] = [
  [/^bpf_/, 'bpf'],
  [/^ftrace_/, '__builtin__ftrace'],
  [/^kprobe_/, '__builtin__kprobes'],
];

/** Symbols of the kernel and its modules, from the one symbol list that fits the recording. */
export class KernelSymbols {
  readonly #files: SymbolFiles;
  readonly #options: SymbolizerOptions;
  readonly #buildIdDir: string | undefined;
  readonly #diagnostics: Diagnostics;
  /** Each list is read once, by path. */
  readonly #lists = new Map<string, Promise<Kallsyms | undefined>>();
  #found: Promise<FittingKallsyms | undefined> | undefined;

  constructor(files: SymbolFiles, options: SymbolizerOptions, buildIdDir: string | undefined, diagnostics: Diagnostics) {
    this.#files = files;
    this.#options = options;
    this.#buildIdDir = buildIdDir;
    this.#diagnostics = diagnostics;
  }

  /** The kernel image's symbols at run-time addresses. The first kernel asked for decides which symbol list is used. */
  async kernel(kernel: RecordedKernel): Promise<SymbolTable | undefined> {
    this.#found ??= this.#find(kernel);
    const found = await this.#found;
    return found?.kallsyms.kernel(found.shift);
  }

  /**
   * The symbols of a module, `[name]` or a path `…/name.ko`, or of code generated at run time, `bpf_prog_…`. Before the kernel itself was
   * asked for, only its release can tell which symbol list fits.
   */
  async module(name: string, osRelease: string): Promise<SymbolTable | undefined> {
    const found = await (this.#found ?? this.#find({ buildId: '', osRelease }));
    // Modules of another boot lie elsewhere, each moved differently.
    if (found === undefined || found.shift !== 0) return undefined;
    return found.kallsyms.module(kallsymsColumn(name));
  }

  async #find(kernel: RecordedKernel): Promise<FittingKallsyms | undefined> {
    for (const path of await this.#candidates(kernel)) {
      let list = this.#lists.get(path);
      if (list === undefined) {
        list = this.#read(path);
        this.#lists.set(path, list);
      }
      const kallsyms = await list;
      const shift = kallsyms && shiftOf(kallsyms, kernel);
      if (kallsyms && shift !== undefined) return { kallsyms, shift };
      if (kallsyms) this.#diagnostics.add('kallsyms-mismatch', 'warning', `${path} is not of the recorded kernel: it has no symbol ${kernel.referenceSymbol}`);
    }
    return undefined;
  }

  /** Undefined when there is no such file or it hides its addresses. */
  async #read(path: string): Promise<Kallsyms | undefined> {
    const source = await this.#files.open(path);
    if (source === undefined) return undefined;
    try {
      if ((source.sizeBytes ?? 0) > MAX_KALLSYMS_BYTES) throw new PerfconvError('unsupported', `a symbol list of ${source.sizeBytes} bytes`, { file: path });
      const kallsyms = Kallsyms.parse(await readRange(source, 0, source.sizeBytes ?? 0));
      if (!kallsyms.isHidden) return kallsyms;
      this.#diagnostics.add('kallsyms-hidden', 'warning', `${path} shows no addresses without privilege (kptr_restrict)`);
      return undefined;
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#diagnostics.add('symbol-file-damaged', 'warning', error.message);
      return undefined;
    } finally {
      await source.close();
    }
  }

  async #candidates(kernel: RecordedKernel): Promise<string[]> {
    if (this.#options.kallsyms !== undefined) return [this.#options.kallsyms];
    const { kcoreDir } = this.#options;
    // The recording's own list is the right one. Its kcore is code without names and is not opened.
    const recorded = kcoreDir === undefined ? [] : [`${kcoreDir}/kallsyms`];
    const cached = buildIdCacheFiles(this.#buildIdDir, kernel.buildId, ['kallsyms']);
    const running = await this.#files.runningKernel();
    return [...recorded, ...cached, ...(isSameKernel(kernel, running) ? [LIVE_KALLSYMS] : [])];
  }
}

/** Whether the recording was made under the kernel that runs now: by build id, else by release. */
export function isSameKernel(recorded: RecordedKernel, running: { readonly osRelease: string; readonly buildId: string } | undefined): boolean {
  if (running === undefined) return false;
  if (isKnownBuildId(recorded.buildId) && isKnownBuildId(running.buildId)) return sameBuildId(recorded.buildId, running.buildId);
  return recorded.osRelease !== '' && recorded.osRelease === running.osRelease;
}

/** Undefined when the list lacks the symbol: it is of another kernel. */
function shiftOf(kallsyms: Kallsyms, { referenceSymbol, referenceAddress }: RecordedKernel): number | undefined {
  if (referenceSymbol === undefined || referenceAddress === undefined) return 0;
  const address = kallsyms.addressOf(referenceSymbol);
  return address === undefined ? undefined : referenceAddress - address;
}

function kallsymsColumn(name: string): string {
  for (const [pattern, column] of GENERATED_CODE) if (pattern.test(name)) return column;
  if (name.startsWith('[') && name.endsWith(']')) return name.slice(1, -1);
  return name.slice(name.lastIndexOf('/') + 1).replace(/\.ko(\.\w+)?$/, '');
}
