import type { Dso } from '../session/dsos.ts';
import type { SessionResult } from '../session/session.ts';
import type { CodeSymbols } from '../symbol-table/code-symbols.ts';
import type { CodeObject, CodeQuestion } from '../symbolizer/code-object.ts';
import { isGuestImage } from '../symbolizer/kernel/kernel-identity.ts';
import type { RecordingSymbols } from '../symbolizer/recording-symbols.ts';
import { RunTimeKernelCode } from './bpf-code.ts';
import { EmbeddedSymbolTables } from './embedded-symbols.ts';
import { jitDumpSymbols } from './jit-symbols.ts';

/** Whom a recording's code is asked about. */
export interface CodeSourceOptions {
  /** Undefined: nothing but the recording itself is asked. */
  readonly symbols: RecordingSymbols | undefined;
  /** As perf 6.1 does, which does not know symbols that the recording itself holds. */
  readonly compatPerf: boolean;
}

/** What knows the code of a recording's DSOs: whoever wants names of it asks here. */
export class CodeSources {
  readonly #session: SessionResult;
  readonly #options: CodeSourceOptions;
  readonly #embedded: EmbeddedSymbolTables;
  readonly #runTimeCode: RunTimeKernelCode;
  /** By the process that runs it; −1 for the machine's own. */
  readonly #kernels = new Map<number, Dso>();

  constructor(session: SessionResult, options: CodeSourceOptions) {
    this.#session = session;
    this.#options = options;
    this.#embedded = new EmbeddedSymbolTables(session);
    this.#runTimeCode = new RunTimeKernelCode(session.features.bpfPrograms ?? []);
    for (const dso of session.dsos) if (isKernelImage(dso)) this.#kernels.set(ownerOf(dso), dso);
  }

  /**
   * What knows a DSO's code, each to be asked for the addresses that those before it left. Files are opened when it is their turn, and closed when
   * the next one is asked for or the walk ends.
   *
   * What the recording itself holds comes first: it was read from the very files that ran, while those of the same names
   * here are often others (an Android device's), and it has what the recording machine alone could know (JIT code, Java
   * methods). Files are asked for the addresses that are left, since the device's own binaries may be stripped of their symbols.
   */
  async *of(index: number, question: Required<CodeQuestion>): AsyncGenerator<CodeSymbols, void, undefined> {
    const dso = this.#session.dsos[index];
    if (dso.isOneFunction) {
      yield this.#runTimeCode.codeOf(dso);
      return;
    }
    if (!this.#options.compatPerf) for (const table of this.#embedded.tablesOf(index)) yield { table };
    const dump = this.#session.jitDumps.get(index);
    if (dump !== undefined) {
      question.search.use(dump.name, 'symbols');
      yield jitDumpSymbols(dump);
    } else yield* this.#inFiles(dso, question);
  }

  async *#inFiles(dso: Dso, question: Required<CodeQuestion>): AsyncGenerator<CodeSymbols, void, undefined> {
    const { symbols } = this.#options;
    if (symbols === undefined) return;
    const refused = dso.kind === 'anon' ? this.#session.refusedJitDumps.get(dso.name) : undefined;
    if (refused !== undefined) question.search.note(refused.name, 'refused', refused.refusal);
    const code = await symbols.symbolsFor(codeObject(dso, this.#session, this.#kernelOf(dso)), question);
    if (code === undefined) return;
    try {
      yield code;
    } finally {
      await code.close?.();
    }
  }

  /** The kernel that a module belongs to; undefined for what is no module, and where no record tells the kernel. */
  #kernelOf(dso: Dso): Dso | undefined {
    const isModule = dso.kind === 'module' || (dso.kind === 'guest' && !isGuestImage(dso.name));
    return isModule ? this.#kernels.get(ownerOf(dso)) : undefined;
  }
}

/** @param kernel of a module */
function codeObject(dso: Dso, { features }: SessionResult, kernel: Dso | undefined): CodeObject {
  const { name, longName, kind, buildId, fileIdentity, sharesName, start, codeStart, pid } = dso;
  return {
    name,
    kind,
    buildId,
    // What a virtual machine runs is not recorded.
    osRelease: kind === 'guest' ? '' : (features.osrelease ?? ''),
    ...(kind === 'module' && { longName, start }),
    ...(kind === 'guest' && { pid, start }),
    ...(kind === 'file' && { pid, fileIdentity, sharesName, ...(Number.isFinite(codeStart) && { codeStart, mapFile: mapFileOf(dso) }) }),
    ...referenceOf(dso),
    ...(kernel !== undefined && { kernel: { buildId: kernel.buildId, ...referenceOf(kernel) } }),
  };
}

/** The process that runs the kernel which a DSO is or belongs to; −1 for the machine's own. */
function ownerOf({ kind, pid }: Dso): number {
  return kind === 'guest' ? pid : -1;
}

function referenceOf({ referenceSymbol, referenceAddress }: Dso): Pick<CodeObject, 'referenceSymbol' | 'referenceAddress'> {
  return referenceSymbol === '' ? {} : { referenceSymbol, referenceAddress };
}

/** Whether a DSO is a kernel itself, the machine's or a virtual machine's, and no module of one. */
export function isKernelImage({ kind, name }: Dso): boolean {
  return kind === 'kernel' || (kind === 'guest' && isGuestImage(name));
}

/** What is at hand of a map is where its code began, and where the last one of its maps ended: mostly that is the same one. */
function mapFileOf({ codeStart, limit, bias }: Dso): string {
  return `${(codeStart + bias).toString(16)}-${(limit + bias).toString(16)}`;
}
