import type { SourceFunction } from '../code-symbols.ts';
import type { DwarfFile, Unit } from './dwarf-file.ts';
import { FormReader } from './forms.ts';
import { type DieReference, type FunctionDie, readFunctionDie } from './function-die.ts';
import type { LineTable } from './line-table.ts';
import type { TextPlace } from './string-reader.ts';

/** References from one DIE to the next that are followed; compilers make three. */
const MAX_HOPS = 16;

/** A function whose names are filled in when all functions are known: they are read in the order of the file. */
class DescribedFunction implements SourceFunction {
  name = '';
  linkageName = '';
  file = '';
  startLine = 0;
}

/** A text that a function lacks yet. */
interface WantedText {
  readonly target: DescribedFunction;
  readonly field: 'name' | 'linkageName';
  readonly place: TextPlace;
  readonly strOffsetsBase: number;
  readonly offsetSize: 4 | 8;
}

/** A function whose description goes on in another unit. */
interface Unfinished {
  readonly target: DescribedFunction;
  readonly file: DwarfFile;
  /** Of `.debug_info`. */
  readonly offset: number;
  readonly known: Known;
}

/** What of a function has been found on the way through its DIEs: the first one that says a thing counts. */
interface Known {
  name: boolean;
  linkageName: boolean;
  declFile: boolean;
  declLine: boolean;
  hops: number;
}

/** Told of damage that leaves a part out. */
export type OnDamage = (error: unknown, file: DwarfFile, offset: number) => void;

/** The functions that DIEs describe, one object for each description. */
export class SourceFunctions {
  readonly #byDie = new Map<DwarfFile, Map<number, DescribedFunction>>();
  readonly #texts = new Map<DwarfFile, WantedText[]>();
  readonly #onDamage: OnDamage;
  #unfinished: Unfinished[] = [];

  constructor(onDamage: OnDamage) {
    this.#onDamage = onDamage;
  }

  /**
   * The function that a DIE is about; its names come with {@link finish}.
   * @param die of a subprogram or inlined subroutine at `dieAt` of the unit
   * @param lines names the unit's files
   * @throws PerfconvError `damaged`
   */
  functionOf(unit: Unit, dieAt: number, die: FunctionDie, lines: LineTable | undefined): SourceFunction {
    const { file, header } = unit;
    const isItself = die.origin === undefined || die.name !== undefined || die.linkageName !== undefined || die.declLine > 0;
    const known: Known = { name: false, linkageName: false, declFile: false, declLine: false, hops: 0 };
    if (isItself) {
      const [target, isNew] = this.#at(file, header.offset + dieAt);
      if (isNew) this.#describe(target, unit, die, lines, known);
      return target;
    }
    const place = placeOf(unit, die.origin!);
    if (place === undefined) return this.#at(file, header.offset + dieAt)[0];
    const [target, isNew] = this.#at(place.file, place.offset);
    if (isNew) this.#goOn(target, unit, place, lines, known);
    return target;
  }

  /** Reads what functions lack: what stands in other units, and their names. @param file the only one to do so for; its functions are forgotten */
  async finish(file?: DwarfFile): Promise<void> {
    for (let round = 0; this.#unfinished.length > 0 && round < MAX_HOPS; round++) await this.#finishRound();
    for (const [of, texts] of this.#texts) {
      if (file !== undefined && of !== file) continue;
      this.#texts.delete(of);
      try {
        await readTexts(of, texts);
      } catch (error) {
        this.#onDamage(error, of, 0);
      }
    }
    if (file !== undefined) this.#byDie.delete(file);
  }

  async #finishRound(): Promise<void> {
    const all = this.#unfinished;
    this.#unfinished = [];
    const files = [...new Set(all.map(({ file }) => file))];
    for (const file of files) {
      const inFile = all.filter((one) => one.file === file).sort((a, b) => a.offset - b.offset);
      let unit: Unit | undefined;
      let lines: LineTable | undefined;
      let start = -1;
      for (const { target, offset, known } of inFile) {
        try {
          const nextStart = await file.units.startOf(offset);
          if (nextStart !== start) {
            start = nextStart;
            // Stays so when the unit cannot be read: that is tried once.
            unit = undefined;
            if (start >= 0) unit = await file.unitAt(start);
            lines = unit && (await this.#linesOf(unit));
          }
          if (unit !== undefined) this.#describe(target, unit, dieOf(unit, offset - start), lines, known);
        } catch (error) {
          this.#onDamage(error, file, offset);
        }
      }
    }
  }

  async #linesOf(unit: Unit): Promise<LineTable | undefined> {
    try {
      return await unit.file.lineTable(unit);
    } catch (error) {
      this.#onDamage(error, unit.file, unit.header.offset);
      return undefined;
    }
  }

  /** The function of a DIE, and whether nobody has asked for it before. */
  #at(file: DwarfFile, offset: number): [DescribedFunction, boolean] {
    let functions = this.#byDie.get(file);
    if (functions === undefined) {
      functions = new Map();
      this.#byDie.set(file, functions);
    }
    const known = functions.get(offset);
    if (known !== undefined) return [known, false];
    const target = new DescribedFunction();
    functions.set(offset, target);
    return [target, true];
  }

  /** Takes from a DIE what is not known yet, and from those that it refers to. */
  #describe(target: DescribedFunction, unit: Unit, die: FunctionDie, lines: LineTable | undefined, known: Known): void {
    this.#takeText(target, 'name', unit, die.name, known);
    this.#takeText(target, 'linkageName', unit, die.linkageName, known);
    if (!known.declFile && die.declFile >= 0) {
      known.declFile = true;
      target.file = lines?.file(die.declFile) ?? '';
    }
    if (!known.declLine && die.declLine > 0) {
      known.declLine = true;
      target.startLine = die.declLine;
    }
    if (die.origin === undefined || ++known.hops > MAX_HOPS) return;
    const place = placeOf(unit, die.origin);
    if (place !== undefined) this.#goOn(target, unit, place, lines, known);
  }

  #goOn(target: DescribedFunction, unit: Unit, place: DiePlace, lines: LineTable | undefined, known: Known): void {
    const { offset, end } = unit.header;
    if (place.file !== unit.file || place.offset < offset || place.offset >= end) this.#unfinished.push({ target, known, ...place });
    else this.#describe(target, unit, dieOf(unit, place.offset - offset), lines, known);
  }

  #takeText(target: DescribedFunction, field: 'name' | 'linkageName', unit: Unit, place: TextPlace | undefined, known: Known): void {
    if (known[field] || place === undefined) return;
    known[field] = true;
    if (place.kind === 'text') {
      target[field] = place.text;
      return;
    }
    const texts = this.#texts.get(unit.file) ?? [];
    if (texts.length === 0) this.#texts.set(unit.file, texts);
    texts.push({ target, field, place, strOffsetsBase: unit.root.strOffsetsBase, offsetSize: unit.header.offsetSize });
  }
}

interface DiePlace {
  readonly file: DwarfFile;
  readonly offset: number;
}

function placeOf(unit: Unit, { kind, offset }: DieReference): DiePlace | undefined {
  if (kind === 'unit') return { file: unit.file, offset: unit.header.offset + offset };
  if (kind === 'info') return { file: unit.file, offset };
  return unit.file.supplementary && { file: unit.file.supplementary, offset };
}

/** Reads the DIE of a function at `dieAt` of a unit. @throws PerfconvError `damaged` */
export function dieOf(unit: Unit, dieAt: number): FunctionDie {
  const reader = new FormReader(unit.view, unit.header);
  reader.at = dieAt;
  return readFunctionDie(unit.abbreviations, reader);
}

/** Fills texts in, in the order in which they stand in the file. */
async function readTexts(file: DwarfFile, texts: readonly WantedText[]): Promise<void> {
  const placed: { readonly want: WantedText; readonly place: TextPlace & { offset: number } }[] = [];
  const byIndex: { readonly want: WantedText; readonly index: number }[] = [];
  for (const want of texts) {
    if (want.place.kind === 'index') byIndex.push({ want, index: want.place.index });
    else if (want.place.kind !== 'text') placed.push({ want, place: want.place });
  }
  byIndex.sort((a, b) => a.want.strOffsetsBase + a.index * a.want.offsetSize - b.want.strOffsetsBase - b.index * b.want.offsetSize);
  for (const { want, index } of byIndex) {
    const place = await file.strings.resolveIndex(index, want.strOffsetsBase, want.offsetSize);
    if (place?.kind === 'str') placed.push({ want, place });
  }
  placed.sort((a, b) => a.place.offset - b.place.offset);
  for (const { want, place } of placed) want.target[want.field] = await file.strings.text(place);
}
