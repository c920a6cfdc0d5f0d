import type { SourceFunction } from '../code-symbols.ts';
import type { DwarfFile, Unit } from './dwarf-file.ts';
import { ORIGIN_IN_INFO, ORIGIN_IN_UNIT, ORIGIN_NONE } from './function-die.ts';
import type { LineTable } from './line-table.ts';
import type { TextPlace } from './string-reader.ts';
import { WantedTexts } from './wanted-texts.ts';

/** References from one DIE to the next that are followed; compilers make three. */
const MAX_HOPS = 16;

/** A function whose names are filled in when all functions are known: they are read in the order of the file. */
class DescribedFunction implements SourceFunction {
  name = '';
  linkageName = '';
  file = '';
  startLine = 0;
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
class Known {
  name = false;
  linkageName = false;
  declFile = false;
  declLine = false;
  hops = 0;
}

/** Told of damage that leaves a part out. */
export type OnDamage = (error: unknown, file: DwarfFile, offset: number) => void;

/** The functions that DIEs describe, one object for each description. */
export class SourceFunctions {
  readonly #byDie = new Map<DwarfFile, Map<number, DescribedFunction>>();
  readonly #texts = new Map<DwarfFile, WantedTexts>();
  readonly #onDamage: OnDamage;
  #unfinished: Unfinished[] = [];

  constructor(onDamage: OnDamage) {
    this.#onDamage = onDamage;
  }

  /**
   * The function that the DIE last read by the unit's reader is about; its names come with {@link finish}. It lacks what cannot be read.
   * @param dieAt where in the unit the DIE stands
   * @param lines names the unit's files
   */
  functionOf(unit: Unit, dieAt: number, lines: LineTable | undefined): SourceFunction {
    const { file, header, functionDies: die } = unit;
    // A subprogram may have a linkage name of its own beside its abstract origin: constructors do.
    const isItself = die.origin === ORIGIN_NONE || die.hasName || die.hasLinkageName || die.declLine > 0;
    const place = isItself ? undefined : originOf(unit);
    const functions = this.#functionsOf(place?.file ?? file);
    const offset = place?.offset ?? header.offset + dieAt;
    const known = functions.get(offset);
    if (known !== undefined) return known;
    const target = new DescribedFunction();
    functions.set(offset, target);
    try {
      if (place === undefined) this.#describe(target, unit, lines, new Known());
      else this.#goOn(target, unit, place, lines, new Known());
    } catch (error) {
      this.#onDamage(error, file, header.offset);
    }
    return target;
  }

  /** Reads what functions lack: what stands in other units, and their names. @param file the only one to do so for; its functions are forgotten */
  async finish(file?: DwarfFile): Promise<void> {
    for (let round = 0; this.#unfinished.length > 0 && round < MAX_HOPS; round++) await this.#finishRound();
    for (const [of, texts] of this.#texts) {
      if (file !== undefined && of !== file) continue;
      this.#texts.delete(of);
      try {
        await texts.read(of.strings);
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
          if (unit === undefined) continue;
          unit.functionDies.read(offset - start);
          this.#describe(target, unit, lines, known);
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

  /** The functions of a file by where their DIEs stand in `.debug_info`. */
  #functionsOf(file: DwarfFile): Map<number, DescribedFunction> {
    let functions = this.#byDie.get(file);
    if (functions === undefined) {
      functions = new Map();
      this.#byDie.set(file, functions);
    }
    return functions;
  }

  /** Takes what is not known yet from the DIE last read by the unit's reader, and from those that it refers to. */
  #describe(target: DescribedFunction, unit: Unit, lines: LineTable | undefined, known: Known): void {
    const { functionDies: die } = unit;
    // The names are read last: that moves the reader, but the fields stay.
    if (!known.declFile && die.declFile >= 0) {
      known.declFile = true;
      target.file = lines?.file(die.declFile) ?? '';
    }
    if (!known.declLine && die.declLine > 0) {
      known.declLine = true;
      target.startLine = die.declLine;
    }
    if (!known.name && die.hasName) {
      known.name = true;
      this.#takeText(target, 'name', unit, die.namePlace());
    }
    if (!known.linkageName && die.hasLinkageName) {
      known.linkageName = true;
      this.#takeText(target, 'linkageName', unit, die.linkageNamePlace());
    }
    if (++known.hops > MAX_HOPS) return;
    const place = originOf(unit);
    if (place !== undefined) this.#goOn(target, unit, place, lines, known);
  }

  #goOn(target: DescribedFunction, unit: Unit, place: DiePlace, lines: LineTable | undefined, known: Known): void {
    const { offset, end } = unit.header;
    if (place.file !== unit.file || place.offset < offset || place.offset >= end) this.#unfinished.push({ target, known, ...place });
    else {
      unit.functionDies.read(place.offset - offset);
      this.#describe(target, unit, lines, known);
    }
  }

  #takeText(target: DescribedFunction, field: 'name' | 'linkageName', { file, root, header }: Unit, place: TextPlace | undefined): void {
    if (place === undefined) return;
    let texts = this.#texts.get(file);
    if (texts === undefined) {
      texts = new WantedTexts();
      this.#texts.set(file, texts);
    }
    texts.add(target, field, place, root.strOffsetsBase, header.offsetSize);
  }
}

interface DiePlace {
  readonly file: DwarfFile;
  readonly offset: number;
}

/** The DIE that the one last read by the unit's reader refers to. */
function originOf({ file, header, functionDies: { origin, originOffset } }: Unit): DiePlace | undefined {
  if (origin === ORIGIN_NONE) return undefined;
  if (origin === ORIGIN_IN_UNIT) return { file, offset: header.offset + originOffset };
  if (origin === ORIGIN_IN_INFO) return { file, offset: originOffset };
  return file.supplementary && { file: file.supplementary, offset: originOffset };
}
