import { addressOfBig } from '../base/addresses.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { recordTypeName } from '../perfdata/constants.ts';
import type { RecordCursor } from '../perfdata/record-cursor.ts';
import {
  DSO_DEX_FILE,
  DSO_ELF_FILE,
  DSO_KERNEL,
  DSO_KERNEL_MODULE,
  DSO_SYMBOL_MAP_FILE,
  SP_EVENT_ID,
  SP_SPLIT,
  SP_SPLIT_END,
  SP_TRACING_DATA,
} from '../simpleperf/constants.ts';
import type { SimpleperfFile, SimpleperfSymbols } from '../simpleperf/files.ts';
import type { RecordedSymbols } from '../simpleperf/recorded-symbols.ts';
import { readSimpleperfRecord } from '../simpleperf/records.ts';
import { type SymbolMap, symbolMapsOf } from '../simpleperf/symbol-maps.ts';
import { classifyUserMap, type Dso, type DsoTable } from './dsos.ts';
import type { EventList } from './events.ts';
import { RangeTree } from './range-tree.ts';
import type { TaskTable } from './tasks.ts';

// All that a session does with what simpleperf alone writes: records, maps without a record, symbols.

/** Reads the one of simpleperf's records that says which ids belong to which event; for readers that need nothing else of them. */
export function readEventIds({ view, offset, size, type }: RecordCursor, events: EventList): void {
  if (type !== SP_EVENT_ID) return;
  const record = readSimpleperfRecord(view, offset, offset + size, type);
  if (typeof record === 'object' && record.type === 'eventId') events.addIds(record.ids);
}

/** Reads what a session needs of simpleperf's own records: which ids belong to which event, and symbols. */
export class SimpleperfRecordReader {
  readonly #events: EventList;
  readonly #symbols: RecordedSymbols;
  readonly #diagnostics: Diagnostics;

  constructor(events: EventList, symbols: RecordedSymbols, diagnostics: Diagnostics) {
    this.#events = events;
    this.#symbols = symbols;
    this.#diagnostics = diagnostics;
  }

  /** Reads a record whose type is SIMPLEPERF_TYPE_START or more. */
  read({ view, offset, size, type, fileOffset }: RecordCursor): void {
    // What these carry was unpacked when they were walked.
    if (type === SP_SPLIT || type === SP_SPLIT_END || type === SP_TRACING_DATA) return;
    const record = readSimpleperfRecord(view, offset, offset + size, type);
    if (record === undefined) {
      this.#diagnostics.add('unknown-record', 'loss', `${recordTypeName(type)} is not known and was skipped`, fileOffset);
      return;
    }
    if (typeof record === 'string') {
      this.#diagnostics.add('bad-record', 'loss', `${recordTypeName(type)}: ${record}; the record is skipped`, fileOffset);
      return;
    }
    switch (record.type) {
      case 'eventId':
        this.#events.addIds(record.ids);
        break;
      case 'kernelSymbol':
        if (record.kallsyms.length > 0) this.#symbols.kallsyms = record.kallsyms;
        break;
      case 'dso':
        this.#symbols.addFile(record.dsoId, record.name, Number(record.dsoType), addressOfBig(record.minVaddr));
        break;
      case 'symbol':
        if (!this.#symbols.addSymbol(record.dsoId, addressOfBig(record.addr), Number(record.len), record.name)) {
          this.#diagnostics.add('bad-record', 'loss', `${recordTypeName(type)} belongs to no SIMPLE_PERF_RECORD_DSO; it is skipped`, fileOffset);
        }
        break;
      case 'unwindingResult':
        // A recording lists all unwindings or failed ones only; 0 is success.
        if (record.errorCode !== 0n) {
          this.#diagnostics.add('unwinding-failed', 'info', 'simpleperf could not unwind user stacks to their ends while it recorded', fileOffset);
        }
        break;
    }
  }
}

/** Puts the code of {@link symbolMapsOf} where it must be, in each program that a process runs. What a record maps replaces it. */
export class SymbolMaps {
  readonly #tasks: TaskTable;
  /** By pid. */
  readonly #maps = new Map<number, RangeTree>();

  constructor(files: readonly SimpleperfFile[], tasks: TaskTable, dsos: DsoTable) {
    this.#tasks = tasks;
    for (const map of symbolMapsOf(files)) this.#maps.set(map.pid, rangesOf(map, dsos));
    for (const pid of this.#maps.keys()) this.apply(pid);
  }

  /** Maps the code of a process that begins anew, by fork or exec, if there is any. */
  apply(pid: number): void {
    const maps = this.#maps.get(pid);
    if (maps !== undefined) this.#tasks.ownSpace(this.#tasks.process(pid)).unrecorded = maps;
  }
}

function rangesOf({ pid, ranges }: SymbolMap, dsos: DsoTable): RangeTree {
  const maps = new RangeTree();
  for (const { start, end } of ranges) {
    const record = {
      pid,
      tid: pid,
      start,
      length: end - start,
      pageOffset: start,
      filename: '//anon',
      fileIdentity: '',
      buildId: '',
      isExecutable: true,
      isJitSymfile: false,
    };
    const { kind, name } = classifyUserMap(record);
    maps.put(start, end, 0, dsos.internMapped(record, kind, name));
  }
  return maps;
}

/** Symbols that the recording holds for one of its DSOs. */
export interface EmbeddedTable {
  readonly symbols: SimpleperfSymbols;
  /** What to add to their addresses for the DSO's own. */
  readonly shift: number;
}

/** All symbols inside a recording. They were read on the machine that recorded, of the very files that ran there. */
export interface EmbeddedSymbols {
  /** By DSO: the tables that may name its addresses, to be asked in this order; none where the recording holds none. */
  readonly tables: readonly (readonly EmbeddedTable[])[];
  /** The kernel's own list of its symbols, as /proc/kallsyms gave it; undefined where the recording does not hold it. */
  readonly kallsyms: Uint8Array | undefined;
}

/** Finds what belongs to each DSO. @param files those of the header's features, `recorded` what came as records */
export function embeddedSymbolsOf(dsos: readonly Dso[], files: readonly SimpleperfFile[], recorded: RecordedSymbols): EmbeddedSymbols {
  const byPath = new Map<string, SimpleperfFile[]>();
  const kernel: EmbeddedTable[] = [];
  for (const file of [...files, ...recorded.files]) {
    if (file.symbols.starts.length === 0) continue;
    if (file.type === DSO_KERNEL) kernel.push({ symbols: file.symbols, shift: 0 });
    const known = byPath.get(file.path);
    if (known === undefined) byPath.set(file.path, [file]);
    else known.push(file);
  }
  const tables = dsos.map((dso) => {
    if (dso.isOneFunction) return [];
    if (dso.kind === 'kernel') return kernel;
    const own: EmbeddedTable[] = [];
    for (const file of byPath.get(dso.longName) ?? byPath.get(symbolMapName(dso)) ?? []) {
      const shift = shiftOf(file, dso);
      if (shift !== undefined) own.push({ symbols: file.symbols, shift });
    }
    // Where a module's file was not at hand, its symbols come from kallsyms, with the kernel's.
    return dso.kind === 'module' ? [...own, ...kernel] : own;
  });
  return { tables, kallsyms: recorded.kallsyms };
}

/** simpleperf writes a JIT's map without its directory, wherever that was. */
function symbolMapName({ kind, name }: Dso): string {
  return kind === 'anon' ? name.slice(name.lastIndexOf('/') + 1) : name;
}

/** What to add to a file's addresses for those of its DSO; undefined when the two do not go together. */
function shiftOf({ type, minVaddr, offsetOfMinVaddr }: SimpleperfFile, { kind, start, codeStart }: Dso): number | undefined {
  switch (kind) {
    case 'module':
      // Run-time addresses: the recording says where in the module's memory min_vaddr lies.
      return type === DSO_KERNEL_MODULE ? start + Math.max(0, offsetOfMinVaddr) - minVaddr : undefined;
    case 'file':
    case 'vdso': {
      if (type === DSO_DEX_FILE) return 0;
      if (type !== DSO_ELF_FILE) return undefined;
      // Before 2018 simpleperf did not write where min_vaddr lies: then it is where the lowest code map begins.
      const offset = offsetOfMinVaddr >= 0 ? offsetOfMinVaddr : codeStart;
      return Number.isFinite(offset) ? offset - minVaddr : undefined;
    }
    case 'anon':
      // JIT code: the addresses are those of the process.
      return type === DSO_ELF_FILE || type === DSO_SYMBOL_MAP_FILE ? 0 : undefined;
    case 'kernel':
    case 'guest':
      return undefined;
  }
}
