import type { Features } from '../perfdata/features/features.ts';
import type { Dso } from '../session/processes/dsos.ts';
import type { SessionResult } from '../session/session.ts';
import type { CodeSymbols } from '../symbol-table/code-symbols.ts';
import type { CodeObject, CodeQuestion } from '../symbolizer/inputs/code-object.ts';
import { isGuestImage } from '../symbolizer/kernel/kernel-identity.ts';
import type { RecordingSymbols } from '../symbolizer/recording-symbols.ts';
import { EmbeddedSymbolTables } from './embedded-symbols.ts';
import { jitDumpSymbols } from './jitdump-symbols.ts';
import { RunTimeKernelCode } from './run-time-kernel-code.ts';

/** Which sources a recording's code is looked up in. */
export interface CodeSourceOptions {
  /** Symbols from files; undefined: only the recording itself is used. */
  readonly symbols: RecordingSymbols | undefined;
  /** Like perf 6.1, which ignores symbols that the recording itself holds. */
  readonly compatPerf: boolean;
}

type Question = Required<Pick<CodeQuestion, 'lines' | 'search'>>;

/** All sources of symbols for a recording's code. Everything that needs names asks here. */
export class CodeSources {
  readonly #session: SessionResult;
  readonly #options: CodeSourceOptions;
  readonly #embedded: EmbeddedSymbolTables;
  readonly #runTimeCode: RunTimeKernelCode;
  /** By the process that runs the virtual machine; −1 for the machine's own kernel. */
  readonly #kernels = new Map<number, Dso>();

  constructor(session: SessionResult, options: CodeSourceOptions) {
    this.#session = session;
    this.#options = options;
    this.#embedded = new EmbeddedSymbolTables(session);
    this.#runTimeCode = new RunTimeKernelCode(session.features.bpfPrograms ?? []);
    for (const dso of session.dsos) if (isKernelImage(dso)) this.#kernels.set(ownerOf(dso), dso);
  }

  /**
   * Yields the sources that know a DSO's code, the best first. Each is asked only for the addresses that the ones before it left. Files are opened when it is
   * their turn, and closed when the iteration goes on or ends.
   *
   * What the recording itself holds comes first. It was read from the very files that ran, while files of the same
   * names on this machine are often different (the recording may be an Android device's), and it has what only the
   * recording machine could know (JIT code, Java methods). Files come last, for what the recording's own symbols do not
   * cover.
   */
  async *of(index: number, question: Question): AsyncGenerator<CodeSymbols, void, undefined> {
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

  async *#inFiles(dso: Dso, question: Question): AsyncGenerator<CodeSymbols, void, undefined> {
    const { symbols } = this.#options;
    if (symbols === undefined) return;
    const refused = dso.kind === 'anon' ? this.#session.refusedJitDumps.get(dso.name) : undefined;
    if (refused !== undefined) question.search.note(refused.name, 'refused', refused.refusal);
    // perf shows addresses if it has no names.
    const starts = !this.#options.compatPerf;
    const code = await symbols.symbolsFor(codeObject(dso, this.#session.features, this.#kernelOf(dso)), { ...question, starts });
    if (code === undefined) return;
    try {
      yield code;
    } finally {
      await code.close?.();
    }
  }

  /** The kernel that a module belongs to; undefined for a DSO that is not a module, and if no kernel was recorded. */
  #kernelOf(dso: Dso): Dso | undefined {
    const isModule = dso.kind === 'module' || (dso.kind === 'guest' && !isGuestImage(dso.name));
    return isModule ? this.#kernels.get(ownerOf(dso)) : undefined;
  }
}

/** A DSO as files are searched for it. @param kernel the one that a module belongs to */
export function codeObject(dso: Dso, features: Features, kernel?: Dso): CodeObject {
  const { name, longName, kind, buildId, fileIdentity, sharesName, start, codeStart, pid } = dso;
  return {
    name,
    kind,
    buildId,
    // The release that a virtual machine runs is not recorded.
    osRelease: kind === 'guest' ? '' : (features.osrelease ?? ''),
    ...(kind === 'module' && { longName, start }),
    ...(kind === 'vdso' && { isListed: features.buildIds?.some((listed) => listed.filename === name && listed.buildId === buildId) ?? false }),
    ...(kind === 'guest' && { pid, start }),
    ...(kind === 'file' && { pid, fileIdentity, sharesName, ...(Number.isFinite(codeStart) && { codeStart, mapFile: mapFileOf(dso) }) }),
    ...referenceOf(dso),
    ...(kernel !== undefined && { kernel: { buildId: kernel.buildId, ...referenceOf(kernel) } }),
  };
}

/** The process that runs the virtual machine to which a DSO belongs; −1 for the machine itself. */
function ownerOf({ kind, pid }: Dso): number {
  return kind === 'guest' ? pid : -1;
}

function referenceOf({ referenceSymbol, referenceAddress }: Dso): Pick<CodeObject, 'referenceSymbol' | 'referenceAddress'> {
  return referenceSymbol === '' ? {} : { referenceSymbol, referenceAddress };
}

/** Whether a DSO is the image of a kernel, the machine's or a virtual machine's, and not a module. */
export function isKernelImage({ kind, name }: Dso): boolean {
  return kind === 'kernel' || (kind === 'guest' && isGuestImage(name));
}

/** The start of a file's code and the end of its last map are known, which are mostly of the same map. */
function mapFileOf({ codeStart, limit, bias }: Dso): string {
  return `${(codeStart + bias).toString(16)}-${(limit + bias).toString(16)}`;
}
