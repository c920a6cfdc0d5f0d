import type { SourceFunction } from '../symbol-table/code-symbols.ts';
import type { DwarfFile, Unit } from './dwarf-file.ts';
import { ORIGIN_IN_SUPPLEMENTARY, ORIGIN_NONE } from './function-die.ts';
import type { LineTable } from './line-table.ts';
import { TEXT_BY_INDEX, TEXT_IN_UNIT, TEXT_NONE, textInUnit, textPlace } from './string-reader.ts';
import { type Named, WantedTexts } from './wanted-texts.ts';

/** References from one DIE to the next that are followed; compilers make three. */
const MAX_HOPS = 16;

/** A function whose names are filled in when all functions are known: they are read in the order of the file. */
class DescribedFunction implements SourceFunction {
  name = '';
  linkageName = '';
  file = '';
  startLine = 0;
}

/** What of a function has been found on the way through its DIEs: the first one that says a thing counts. */
const HAS_NAME = 1;
const HAS_LINKAGE_NAME = 2;
const HAS_DECL_FILE = 4;
const HAS_DECL_LINE = 8;

/** A function whose description goes on in another unit. */
interface Unfinished {
  readonly target: DescribedFunction;
  readonly file: DwarfFile;
  /** Of `.debug_info`. */
  readonly offset: number;
  /** HAS_… */
  readonly known: number;
  /** DIEs that were read so far. */
  readonly hops: number;
}

/** What is known of the functions of one file. */
class FileFunctions {
  /** By where their DIEs are in `.debug_info`. */
  readonly byDie = new Map<number, DescribedFunction>();
  /** Their names, as far as they are still to be read. */
  texts = new WantedTexts();
}

/** Told of damage that leaves a part out. */
export type OnDamage = (error: unknown, file: DwarfFile, offset: number) => void;

/** The functions that DIEs describe, one object for each description. */
export class SourceFunctions {
  readonly #files = new Map<DwarfFile, FileFunctions>();
  readonly #onDamage: OnDamage;
  #unfinished: Unfinished[] = [];

  constructor(onDamage: OnDamage) {
    this.#onDamage = onDamage;
  }

  /**
   * The function that the DIE last read by the unit's reader is about; its names come with {@link finish}. It lacks what cannot be read.
   * @param dieAt where in the unit the DIE is
   * @param lines names the unit's files
   */
  functionOf(unit: Unit, dieAt: number, lines: LineTable | undefined): SourceFunction {
    const { file, header, functionDies: die } = unit;
    // A subprogram may have a linkage name of its own beside its abstract origin: constructors do.
    const isItself = die.nameForm !== 0 || die.linkageNameForm !== 0 || die.declLine > 0;
    const origin = isItself ? undefined : originFile(unit);
    const { byDie } = this.#of(origin ?? file);
    const offset = origin === undefined ? header.offset + dieAt : die.originOffset;
    const known = byDie.get(offset);
    if (known !== undefined) return known;
    const target = new DescribedFunction();
    byDie.set(offset, target);
    try {
      if (origin === undefined || this.#readOrigin(target, unit, origin, 0, 0)) this.#describe(target, unit, lines, 0, 0);
    } catch (error) {
      this.#onDamage(error, file, header.offset);
    }
    return target;
  }

  /** Reads what functions lack: what is in other units, and their names. @param file the only one to do so for; its functions are forgotten */
  async finish(file?: DwarfFile): Promise<void> {
    for (let round = 0; this.#unfinished.length > 0 && round < MAX_HOPS; round++) await this.#finishRound();
    for (const [of, functions] of this.#files) {
      if (file !== undefined && of !== file) continue;
      const { texts } = functions;
      functions.texts = new WantedTexts();
      try {
        await texts.read(of.strings);
      } catch (error) {
        this.#onDamage(error, of, 0);
      }
    }
    if (file !== undefined) this.#files.delete(file);
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
      for (const { target, offset, known, hops } of inFile) {
        try {
          const nextStart = await file.units.startOf(offset);
          if (nextStart !== start) {
            start = nextStart;
            // Stays so when the unit cannot be read: that is tried once.
            unit = undefined;
            if (start >= 0) unit = await file.unitAt(start);
            lines = unit && (await this.#linesOf(unit));
          }
          if (unit === undefined) continue;
          unit.functionDies.read(offset - start);
          this.#describe(target, unit, lines, known, hops);
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

  #of(file: DwarfFile): FileFunctions {
    let functions = this.#files.get(file);
    if (functions === undefined) {
      functions = new FileFunctions();
      this.#files.set(file, functions);
    }
    return functions;
  }

  /**
   * Takes what is not known yet from the DIE last read by the unit's reader, and from those of the unit that it refers to.
   * @param hasSoFar HAS_…
   * @param hopsSoFar DIEs that were read before
   */
  #describe(target: DescribedFunction, unit: Unit, lines: LineTable | undefined, hasSoFar: number, hopsSoFar: number): void {
    const { file, functionDies: die } = unit;
    const { texts } = this.#of(file);
    let has = hasSoFar;
    for (let hops = hopsSoFar + 1; ; hops++) {
      if ((has & HAS_DECL_FILE) === 0 && die.declFile >= 0) {
        has |= HAS_DECL_FILE;
        target.file = lines?.file(die.declFile) ?? '';
      }
      if ((has & HAS_DECL_LINE) === 0 && die.declLine > 0) {
        has |= HAS_DECL_LINE;
        target.startLine = die.declLine;
      }
      if ((has & HAS_NAME) === 0 && die.nameForm !== 0) {
        has |= HAS_NAME;
        takeText(texts, target, 'name', unit, die.nameForm, die.nameAt);
      }
      if ((has & HAS_LINKAGE_NAME) === 0 && die.linkageNameForm !== 0) {
        has |= HAS_LINKAGE_NAME;
        takeText(texts, target, 'linkageName', unit, die.linkageNameForm, die.linkageNameAt);
      }
      if (hops > MAX_HOPS) return;
      const origin = originFile(unit);
      if (origin === undefined || !this.#readOrigin(target, unit, origin, has, hops)) return;
    }
  }

  /** Has the unit's reader read the DIE that the last one refers to. @returns false when it is left for later, as another unit has it */
  #readOrigin(target: DescribedFunction, { file, header, functionDies: die }: Unit, origin: DwarfFile, known: number, hops: number): boolean {
    const offset = die.originOffset;
    if (origin !== file || offset < header.offset || offset >= header.end) {
      this.#unfinished.push({ target, file: origin, offset, known, hops });
      return false;
    }
    die.read(offset - header.offset);
    return true;
  }
}

/** The file with the DIE that the one last read by the unit's reader refers to; undefined when there is none. */
function originFile({ file, functionDies: { origin } }: Unit): DwarfFile | undefined {
  if (origin === ORIGIN_NONE) return undefined;
  return origin === ORIGIN_IN_SUPPLEMENTARY ? file.supplementary : file;
}

function takeText(texts: WantedTexts, target: DescribedFunction, field: keyof Named, { view, header, root }: Unit, form: number, at: number): void {
  const place = textPlace(form);
  if (place === TEXT_IN_UNIT) target[field] = textInUnit(view, at);
  else if (place === TEXT_BY_INDEX) texts.add(target, field, place, root.strOffsetsBase + at * header.offsetSize, header.offsetSize);
  else if (place !== TEXT_NONE) texts.add(target, field, place, at, header.offsetSize);
}
