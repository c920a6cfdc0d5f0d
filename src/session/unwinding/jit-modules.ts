import { ByteView } from '../../base/bytes/byte-view.ts';
import { firstAbove } from '../../base/tables/first-above.ts';
import type { JitDump } from '../../jitdump/jitdump.ts';
import type { UnwindMachine } from '../../unwind/machines/unwind-machine.ts';
import { CodeEffort } from '../../unwind/modules/code-effort.ts';
import { UnwindModule } from '../../unwind/modules/unwind-module.ts';

/** Maximum number of modules that are kept: each function has one, of a few kilobytes. */
const MAX_MODULES = 4096;

/**
 * JITs write `.eh_frame` as if it were after the code, at the next multiple of 8 (V8), of 16 (CPython), or immediately: its addresses are relative to that
 * place. The right alignment is the one by which the rules begin where the code does. They may end before the code does: V8 pads it to a multiple of 8.
 */
const ALIGNMENTS = [8, 16, 1];

interface JitModule {
  readonly module: UnwindModule;
  readonly start: number;
}

/** How functions that JITs made are unwound: by the rules in their dumps or, without any, by their code, which is there, too. */
export class JitModules {
  readonly #dumps: ReadonlyMap<number, JitDump>;
  /** By DSO: what its functions' code has been read for. */
  readonly #efforts: CodeEffort[] = [];
  /** By DSO and function, see {@link keyOf}; undefined for a function of which there is neither. The oldest is dropped first. */
  readonly #modules = new Map<number, JitModule | undefined>();
  /** By DSO: where in the dump the code of its functions begins, which ascends. */
  readonly #starts: Float64Array[] = [];
  /** The function that was last asked for: its DSO, its offsets, and by how much its addresses differ from these. */
  #lastDso = -1;
  #lastStart = 0;
  #lastEnd = 0;
  #lastDelta = 0;
  #lastModule: UnwindModule | undefined;

  /** @param dumps by DSO; they are added as they are found */
  constructor(dumps: ReadonlyMap<number, JitDump>) {
    this.#dumps = dumps;
  }

  /** Whether there is any dump. */
  get isEmpty(): boolean {
    return this.#dumps.size === 0;
  }

  /**
   * The module of the function at a run-time address, in which svmas are run-time addresses; undefined if there is none.
   * @param offset of the address in the dump
   */
  moduleAt(dso: number, address: number, offset: number, machine: UnwindMachine): UnwindModule | undefined {
    if (dso === this.#lastDso && offset >= this.#lastStart && offset < this.#lastEnd && address - offset === this.#lastDelta) return this.#lastModule;
    const dump = this.#dumps.get(dso);
    if (dump === undefined) return undefined;
    const { fileOffsets, sizesBytes } = dump.functions;
    this.#starts[dso] ??= Float64Array.from(fileOffsets);
    const starts = this.#starts[dso];
    const index = firstAbove(starts, offset, 0, starts.length) - 1;
    if (index < 0 || offset >= starts[index] + sizesBytes[index]) return undefined;
    this.#lastDso = dso;
    this.#lastStart = starts[index];
    this.#lastEnd = starts[index] + sizesBytes[index];
    this.#lastDelta = address - offset;
    this.#lastModule = this.#moduleOf(dump, dso, index, starts[index] + address - offset, machine);
    return this.#lastModule;
  }

  #moduleOf(dump: JitDump, dso: number, index: number, start: number, machine: UnwindMachine): UnwindModule | undefined {
    const key = keyOf(dso, index);
    const known = this.#modules.get(key);
    // Moved code has other addresses.
    if (known === undefined ? this.#modules.has(key) : known.start === start) return known?.module;
    const module = ehFrameModule(dump, index, start, machine) ?? this.#codeModule(dump, dso, index, start, machine);
    this.#modules.set(key, module && { module, start });
    if (this.#modules.size > MAX_MODULES) {
      const [oldest] = this.#modules.keys();
      this.#modules.delete(oldest);
    }
    return module;
  }

  #codeModule({ functions, code, unwinding }: JitDump, dso: number, index: number, start: number, machine: UnwindMachine): UnwindModule | undefined {
    const from = code.offsets[index];
    if (from < 0 || machine !== 'x86_64') return undefined;
    this.#efforts[dso] ??= new CodeEffort();
    const view = new ByteView(code.bytes.subarray(from, from + functions.sizesBytes[index]), unwinding.littleEndian);
    return UnwindModule.ofFunction(machine, { view, addr: start }, this.#efforts[dso]);
  }
}

function ehFrameModule({ functions, unwinding }: JitDump, index: number, start: number, machine: UnwindMachine): UnwindModule | undefined {
  const sizeBytes = unwinding.sizesBytes[index];
  if (sizeBytes === 0) return undefined;
  const from = unwinding.offsets[index];
  const view = new ByteView(unwinding.bytes.subarray(from, from + sizeBytes), unwinding.littleEndian);
  const codeBytes = functions.sizesBytes[index];
  const modules = ALIGNMENTS.map((alignment) => UnwindModule.ofEhFrame({ machine, view, addr: start + Math.ceil(codeBytes / alignment) * alignment }));
  return modules.find((module) => module.functionStart(start) === start && module.ruleAt(start) >= 0);
}

/** Both in one number: no dump has 2^32 functions. */
function keyOf(dso: number, index: number): number {
  return dso * 0x1_0000_0000 + index;
}
