/** One column for each value of a row, and how many rows there are. */
interface Table {
  readonly length: number;
  readonly [column: string]: unknown;
}

interface FirefoxDocument {
  readonly meta: {
    /** Indexes of the threads that the viewer opens with. */
    readonly initialSelectedThreads: readonly number[];
    readonly preprocessedProfileVersion: number;
    readonly categories: readonly { name: string; color: string; subcategories: readonly string[] }[];
    readonly markerSchema: readonly { name: string; fields: readonly { key: string; format: string }[] }[];
    readonly extra: readonly { label: string; entries: readonly { label: string }[] }[];
    readonly [key: string]: unknown;
  };
  readonly libs: readonly Readonly<Record<string, string | null>>[];
  readonly shared: {
    readonly stackTable: Table & { readonly frame: readonly number[]; readonly prefixOffset: readonly number[] };
    readonly frameTable: Table;
    readonly funcTable: Table;
    readonly resourceTable: Table;
    readonly nativeSymbols: Table;
    readonly sources: Table;
    readonly sourceLocationTable: Table;
    readonly stringArray: readonly string[];
  };
  readonly threads: readonly FirefoxThreadTables[];
}

interface FirefoxThreadTables {
  readonly name: string;
  readonly processName: string;
  readonly pid: string;
  readonly tid: number | string;
  readonly isMainThread: boolean;
  readonly processStartupTime: number;
  readonly processShutdownTime: number | null;
  readonly registerTime: number;
  readonly unregisterTime: number | null;
  readonly samples: Table & {
    readonly stack: readonly (number | null)[];
    readonly timeDeltas: readonly number[];
    readonly weight: readonly number[] | null;
    readonly weightType: string;
    readonly threadCPUDelta?: readonly number[];
  };
  readonly markers: Table & {
    readonly data: readonly (Readonly<Record<string, unknown>> | null)[];
    readonly name: readonly number[];
    readonly startTime: readonly (number | null)[];
    readonly endTime: readonly (number | null)[];
    readonly phase: readonly number[];
    readonly category: readonly number[];
  };
}

export interface FirefoxSample {
  readonly timeMs: number;
  /** In nanoseconds for times. */
  readonly period: bigint;
  /** Row of the stack table. */
  readonly stack: number;
}

export interface FirefoxMarker {
  readonly name: string;
  readonly startMs: number;
  /** undefined for a marker that is not an interval. */
  readonly endMs: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export interface FirefoxThreadRead {
  readonly thread: FirefoxThreadTables;
  /** Without the rows that end a run. */
  readonly samples: readonly FirefoxSample[];
  readonly markers: readonly FirefoxMarker[];
}

export interface FirefoxFrame {
  readonly name: string;
  /** Source file; empty if there is none. */
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly lib: string | undefined;
  readonly address: number;
  readonly inlineDepth: number;
  readonly category: string;
  readonly nativeSymbol: string | undefined;
}

/** A document of Firefox Profiler's processed format, every index of which was checked. */
export interface FirefoxRead {
  readonly document: FirefoxDocument;
  readonly threads: readonly FirefoxThreadRead[];
  /** The event whose threads have no event in their names. */
  readonly timelineEvent: string;
  /** Frames of a stack, the outermost first. */
  readonly framesOf: (stack: number) => FirefoxFrame[];
}

/**
 * What each column of the shared tables refers to (a table of `shared`, strings, `libs`), and its value for nothing.
 */
const REFERENCES: Readonly<Record<string, Readonly<Record<string, readonly [target: string, none: null | -1 | undefined]>>>> = {
  stackTable: { frame: ['frameTable', undefined] },
  frameTable: {
    lib: ['libs', -1],
    category: ['categories', null],
    func: ['funcTable', undefined],
    nativeSymbol: ['nativeSymbols', null],
    originalLocation: ['sourceLocationTable', null],
  },
  funcTable: {
    name: ['stringArray', undefined],
    resource: ['resourceTable', -1],
    source: ['sources', null],
    originalLocation: ['sourceLocationTable', null],
  },
  resourceTable: { name: ['stringArray', undefined], host: ['stringArray', null] },
  nativeSymbols: { libIndex: ['libs', undefined], name: ['stringArray', undefined] },
  sources: { filename: ['stringArray', undefined], sourceMapURL: ['stringArray', null] },
  sourceLocationTable: { source: ['sources', undefined] },
};

/** The other columns of version 70. Source: Firefox Profiler, src/types/profile.ts. */
const OTHER_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  stackTable: ['prefixOffset'],
  frameTable: ['address', 'inlineDepth', 'subcategory', 'innerWindowID', 'line', 'column'],
  funcTable: ['isJS', 'relevantForJS', 'lineNumber', 'columnNumber'],
  resourceTable: ['type'],
  nativeSymbols: ['address', 'functionSize'],
  sources: ['id', 'startLine', 'startColumn', 'content'],
  sourceLocationTable: ['line', 'column'],
};

/**
 * Reads a document of version 70.
 * @throws Error if a column is missing or has the wrong length, or an index refers to nothing
 */
export function readFirefox(bytes: Uint8Array): FirefoxRead {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const document = JSON.parse(text) as FirefoxDocument;
  const { libs, meta, shared } = document;
  if (meta.preprocessedProfileVersion !== 70) throw new Error(`version ${meta.preprocessedProfileVersion}`);
  if (meta.categories.find(({ color }) => color === 'grey') === undefined) throw new Error('no default category');
  const sizes: Record<string, number> = { libs: libs.length, categories: meta.categories.length, stringArray: shared.stringArray.length };
  for (const table of Object.keys(REFERENCES)) sizes[table] = tableOf(document, table).length;
  for (const [table, columns] of Object.entries(REFERENCES)) {
    for (const name of [...Object.keys(columns), ...OTHER_COLUMNS[table]]) columnOf(table, tableOf(document, table), name);
    for (const [name, [target, none]] of Object.entries(columns)) {
      for (const index of columnOf(table, tableOf(document, table), name)) requireIndex(`${table}.${name}`, index, sizes[target], none);
    }
  }
  if (shared.stringArray.some((one) => typeof one !== 'string' || /\p{Surrogate}/u.test(one))) throw new Error('a string is no Unicode');
  for (const [row, offset] of shared.stackTable.prefixOffset.entries()) {
    if (!Number.isInteger(offset) || offset < 0 || offset > row) throw new Error(`stack ${row} has its caller ${offset} rows before it`);
  }
  // No string contains this: quotation marks in strings are escaped.
  const weights = [...text.matchAll(/"weight":(?:null|\[([^\]]*)\])/g)].map(([, list]) => list?.split(',').filter((one) => one !== ''));
  if (weights.length !== document.threads.length) throw new Error(`${weights.length} threads have weights`);
  return {
    document,
    threads: document.threads.map((thread, index) => readThread(thread, weights[index], sizes, document)),
    timelineEvent: meta.extra[0].entries[0].label,
    framesOf: (stack) => framesOf(document, stack),
  };
}

function readThread(thread: FirefoxThreadTables, weights: readonly string[] | undefined, sizes: Record<string, number>, document: FirefoxDocument) {
  const { markers, samples } = thread;
  const { stack, timeDeltas, weightType } = samples;
  for (const name of ['stack', 'timeDeltas', ...(samples.threadCPUDelta === undefined ? [] : ['threadCPUDelta'])]) columnOf(thread.name, samples, name);
  if (weights !== undefined && weights.length !== samples.length) throw new Error(`${thread.name}: ${weights.length} weights of ${samples.length} samples`);
  for (const one of [...timeDeltas, ...(samples.threadCPUDelta ?? [])]) if (!(one >= 0)) throw new Error(`${thread.name}: not a time: ${one}`);
  if (weightType !== 'tracing-ms' && weightType !== 'samples') throw new Error(`weights of type ${weightType}`);
  const read: FirefoxSample[] = [];
  let timeMs = 0;
  for (const [row, one] of stack.entries()) {
    timeMs += timeDeltas[row];
    requireIndex(`${thread.name}: stack`, one, sizes.stackTable, null);
    const period = weights === undefined ? 1n : numberOf(weights[row], weightType === 'tracing-ms' ? 6 : 0);
    // A row without a stack says that nothing runs, and the row before it until when something ran.
    const isNone = one === null || stack[row + 1] === null;
    if (isNone && period !== 0n) throw new Error(`${thread.name}: a row that is no sample has a weight`);
    if (!isNone) read.push({ timeMs, period, stack: one });
  }
  return { thread, samples: read, markers: readMarkers(thread.name, markers, document) };
}

function readMarkers(thread: string, markers: FirefoxThreadTables['markers'], { meta, shared }: FirefoxDocument): FirefoxMarker[] {
  for (const name of ['data', 'name', 'startTime', 'endTime', 'phase', 'category']) columnOf(`${thread}: markers`, markers, name);
  return markers.name.map((name, row): FirefoxMarker => {
    requireIndex(`${thread}: name of a marker`, name, shared.stringArray.length, undefined);
    requireIndex(`${thread}: category of a marker`, markers.category[row], meta.categories.length, undefined);
    const data = markers.data[row];
    const schema = meta.markerSchema.find((one) => one.name === data?.type);
    if (data !== null && schema === undefined) throw new Error(`a marker of type ${data.type}, which has no schema`);
    for (const [key, value] of Object.entries(data ?? {})) {
      if (key === 'type') continue;
      if (key === 'cause') {
        requireIndex(`${thread}: stack of a marker`, (value as { stack: number }).stack, shared.stackTable.length, undefined);
        continue;
      }
      const field = schema?.fields.find((one) => one.key === key);
      if (field === undefined) throw new Error(`a marker has ${key}, which its schema lacks`);
      if (field.format === 'unique-string') requireIndex(`${thread}: ${key} of a marker`, value, shared.stringArray.length, undefined);
    }
    const [startMs, endMs] = [markers.startTime[row], markers.endTime[row]];
    const isInterval = markers.phase[row] === 1;
    if (startMs === null || (isInterval && (endMs === null || endMs < startMs))) throw new Error(`${thread}: a marker from ${startMs} to ${endMs}`);
    return { name: shared.stringArray[name], startMs, endMs: isInterval ? (endMs ?? undefined) : undefined, data };
  });
}

function framesOf({ libs, meta, shared }: FirefoxDocument, stack: number): FirefoxFrame[] {
  const { frameTable, funcTable, nativeSymbols, sources, stackTable, stringArray } = shared;
  const at = (table: Table, name: string, row: number): number => (table[name] as readonly number[])[row];
  const frames: FirefoxFrame[] = [];
  for (let row = stack, offset = -1; offset !== 0; row -= offset) {
    const frame = stackTable.frame[row];
    const func = at(frameTable, 'func', frame);
    const source = at(funcTable, 'source', func);
    const symbol = at(frameTable, 'nativeSymbol', frame);
    frames.unshift({
      name: stringArray[at(funcTable, 'name', func)],
      file: source === null ? '' : stringArray[at(sources, 'filename', source)],
      line: at(frameTable, 'line', frame),
      column: at(frameTable, 'column', frame),
      lib: libs[at(frameTable, 'lib', frame)]?.path ?? undefined,
      address: at(frameTable, 'address', frame),
      inlineDepth: at(frameTable, 'inlineDepth', frame),
      category: meta.categories[at(frameTable, 'category', frame)].name,
      nativeSymbol: symbol === null ? undefined : stringArray[at(nativeSymbols, 'name', symbol)],
    });
    offset = stackTable.prefixOffset[row];
  }
  return frames;
}

function tableOf({ shared }: FirefoxDocument, name: string): Table {
  return (shared as unknown as Record<string, Table>)[name];
}

function columnOf(table: string, rows: Table, name: string): readonly unknown[] {
  const column = rows[name];
  if (!Array.isArray(column) || column.length !== rows.length) throw new Error(`${table}.${name} does not have ${rows.length} rows`);
  return column;
}

function requireIndex(what: string, index: unknown, size: number, none: null | -1 | undefined): void {
  if (none !== undefined && index === none) return;
  if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= size) throw new Error(`${what}: ${index} of ${size}`);
}

/** A decimal as a whole number of its smallest units. */
function numberOf(text: string, decimals: number): bigint {
  const [whole, rest = ''] = text.split('.');
  if (!/^\d+$/.test(whole) || !/^\d*$/.test(rest) || rest.length > decimals) throw new Error(`not a weight: ${text}`);
  return BigInt(whole + rest.padEnd(decimals, '0'));
}
