import { firstAbove } from '../../base/tables/first-above.ts';
import type { SourceFunction, SourceScope } from '../../symbol-table/code-symbols.ts';
import * as dw from '../encoding/dwarf-constants.ts';
import { TEXT_BY_INDEX, TEXT_IN_UNIT, TEXT_NONE, textInUnit, textPlace } from '../encoding/string-reader.ts';
import type { LineTable } from '../lines/line-table.ts';
import type { DwarfFile, Unit } from '../units/dwarf-file.ts';
import { ORIGIN_IN_SUPPLEMENTARY, ORIGIN_NONE } from '../units/function-die.ts';
import { TypeUnits } from '../units/type-units.ts';
import { readUnitId } from '../units/unit-header.ts';
import { DescribedFunction, DescribedScope } from './described-function.ts';
import { findDieScopes, hasScopes } from './die-scopes.ts';
import { type Named, WantedTexts } from './wanted-texts.ts';

/** How many references from one DIE to the next are followed; compilers make three. */
const MAX_HOPS = 16;

/** How many times one unit is walked to find scopes: a scope may be declared elsewhere than it is defined, inside further scopes. */
const MAX_WALKS = 8;

/** A function or scope whose own scope is still to be found. */
interface Unplaced {
  readonly target: DescribedFunction | DescribedScope;
  /** Where in the unit the DIE is whose surrounding scope is wanted. */
  readonly dieAt: number;
}

/** A type whose scope or name is only in its type unit. */
interface TypeElsewhere {
  readonly target: DescribedScope;
  /** The file that refers to the type. */
  readonly file: DwarfFile;
  readonly signature: string;
  readonly isNamed: boolean;
}

/** What has been found about a function on the way through its DIEs: for each thing, the first DIE that states it counts. */
const HAS_NAME = 1;
const HAS_LINKAGE_NAME = 2;
const HAS_DECL_FILE = 4;
const HAS_DECL_LINE = 8;
const HAS_ALL_BUT_LINKAGE_NAME: number = HAS_NAME | HAS_DECL_FILE | HAS_DECL_LINE;

/** A function whose description continues in another unit. */
interface Unfinished {
  readonly target: DescribedFunction;
  readonly file: DwarfFile;
  /** Offset in `.debug_info`. */
  readonly offset: number;
  /** HAS_… */
  readonly known: number;
  /** How many DIEs have been read so far. */
  readonly hops: number;
}

/** What is known about the functions of one file. */
class FileFunctions {
  /** By the offset of their DIEs in `.debug_info`. */
  readonly byDie = new Map<number, DescribedFunction>();
  readonly scopesByDie = new Map<number, DescribedScope>();
  /** By signature: types whose scopes or names are in type units. Each unit that uses such a type has a DIE for it. */
  readonly scopesBySignature = new Map<string, DescribedScope>();
  typeUnits: TypeUnits | undefined;
  /** Names that are still to be read. */
  texts = new WantedTexts();
}

/** Called when damage leaves a part out. */
export type OnDamage = (error: unknown, file: DwarfFile, offset: number) => void;

/** The functions that DIEs describe, one object for each description. */
export class SourceFunctions {
  readonly #files = new Map<DwarfFile, FileFunctions>();
  readonly #onDamage: OnDamage;
  #unfinished: Unfinished[] = [];
  #typesElsewhere: TypeElsewhere[] = [];
  /** In the current unit. */
  #unplaced: Unplaced[] = [];

  constructor(onDamage: OnDamage) {
    this.#onDamage = onDamage;
  }

  /**
   * The function that the DIE last read by the unit's reader describes; {@link finish} fills in its names. What cannot be read is missing.
   * @param dieAt where in the unit the DIE is
   * @param lines names the unit's files
   * @param wantsScope whether its scope is wanted if it has no linkage name: {@link findScopes} and {@link finish} fill it in
   */
  functionOf(unit: Unit, dieAt: number, lines: LineTable | undefined, wantsScope: boolean): SourceFunction {
    const { file, header, functionDies: die } = unit;
    // A subprogram may have a linkage name of its own besides an abstract origin: constructors do.
    const isItself = die.nameForm !== 0 || die.linkageNameForm !== 0 || die.declLine > 0;
    const origin = isItself ? undefined : originFile(unit);
    const { byDie } = this.#of(origin ?? file);
    const offset = origin === undefined ? header.offset + dieAt : die.originOffset;
    const known = byDie.get(offset);
    if (known !== undefined) {
      if (wantsScope && !known.wantsScope) this.#wantScope(known, unit);
      return known;
    }
    const target = new DescribedFunction(wantsScope);
    byDie.set(offset, target);
    try {
      if (origin === undefined || this.#readOrigin(target, unit, origin, 0, 0)) this.#describe(target, unit, lines, 0, 0);
    } catch (error) {
      this.#onDamage(error, file, header.offset);
    }
    return target;
  }

  /** Has the scope of a function found that was not wanted so far. */
  #wantScope(target: DescribedFunction, { file, header }: Unit): void {
    target.wantScope();
    const { lastDie } = target;
    if (lastDie === undefined) return;
    const { offset } = lastDie;
    if (lastDie.file === file && offset >= header.offset && offset < header.end) this.#unplaced.push({ target, dieAt: offset - header.offset });
    else this.#unfinished.push({ target, ...lastDie, known: HAS_ALL_BUT_LINKAGE_NAME, hops: 0 });
  }

  /**
   * Finds the scopes of functions whose descriptions end in a unit. To be called once all its functions have been asked for, and before those of another unit
   * are.
   * @param lines names the unit's files
   */
  findScopes(unit: Unit, lines: LineTable | undefined): void {
    try {
      for (let walks = 0; this.#unplaced.length > 0 && walks < MAX_WALKS; walks++) {
        const unplaced = this.#unplaced;
        this.#unplaced = [];
        const wanted = withoutRepetitions(Float64Array.from(unplaced, ({ dieAt }) => dieAt).sort());
        const { innermost, dies, parents } = findDieScopes(unit, wanted);
        const scopes: (SourceScope | null)[] = [];
        for (let i = 0; i < dies.length; i++) scopes.push(this.#scopeOf(unit, dies[i], parents[i] < 0 ? null : scopes[parents[i]], lines));
        for (const { target, dieAt } of unplaced) {
          const scope = innermost[firstAbove(wanted, dieAt, 0, wanted.length) - 1];
          target.scope = scope < 0 ? null : scopes[scope];
        }
      }
    } catch (error) {
      this.#onDamage(error, unit.file, unit.header.offset);
    }
    this.#unplaced = [];
  }

  /** The scope that a DIE is. @param around the scope around it, which is returned for a DIE that is no scope itself, such as a block */
  #scopeOf(unit: Unit, dieAt: number, around: SourceScope | null, lines: LineTable | undefined): SourceScope | null {
    const { file, header, functionDies: die } = unit;
    die.read(dieAt);
    const { tag } = die;
    if (tag === dw.DW_TAG_subprogram || tag === dw.DW_TAG_inlined_subroutine) return this.functionOf(unit, dieAt, lines, true);
    if (tag !== dw.DW_TAG_namespace && !isType(tag)) return around;
    const { scopesByDie, texts } = this.#of(file);
    const offset = header.offset + dieAt;
    const known = scopesByDie.get(offset);
    if (known !== undefined) return known;
    const isNamed = die.nameForm !== 0;
    // gcc only puts a type's namespaces into its type unit.
    const signature = die.signatureAt >= 0 && (around === null || !isNamed) ? readUnitId(unit.view, die.signatureAt) : '';
    const { scopesBySignature } = this.#of(file.owner);
    const same = scopesBySignature.get(signature);
    const scope = same ?? new DescribedScope(tag === dw.DW_TAG_namespace, around);
    scopesByDie.set(offset, scope);
    if (same !== undefined) return same;
    if (signature !== '') {
      scopesBySignature.set(signature, scope);
      this.#typesElsewhere.push({ target: scope, file, signature, isNamed });
    }
    if (isNamed) takeText(texts, scope, 'name', unit);
    this.#followDeclaration(scope, unit, isNamed);
    return scope;
  }

  /**
   * If the type whose DIE was last read is defined outside of what it is declared in, has the scope of its declaration found for it.
   * @param isNamed whether the type's name is known
   * @returns whether it is defined outside
   */
  #followDeclaration(target: DescribedScope, unit: Unit, isNamed: boolean): boolean {
    const { file, header, functionDies: die } = unit;
    const dieAt = die.originOffset - header.offset;
    if (originFile(unit) !== file || dieAt < 0 || dieAt >= header.end - header.offset) return false;
    die.read(dieAt);
    if (!isNamed && die.nameForm !== 0) takeText(this.#of(file).texts, target, 'name', unit);
    this.#unplaced.push({ target, dieAt });
    return true;
  }

  /** Reads what functions still lack: what is in other units, and their names. @param file the only one to do so for; its functions are then forgotten */
  async finish(file?: DwarfFile): Promise<void> {
    if (file === undefined) for (const { typeUnits } of this.#files.values()) typeUnits?.renewBudget();
    for (let round = 0; this.#unfinished.length + this.#typesElsewhere.length > 0 && round < MAX_HOPS; round++) {
      await this.#finishRound();
      await this.#findTypes();
    }
    for (const [of, functions] of this.#files) {
      if (file !== undefined && of.owner !== file) continue;
      const { texts } = functions;
      functions.texts = new WantedTexts();
      try {
        await texts.read(of.strings);
      } catch (error) {
        this.#onDamage(error, of, 0);
      }
    }
    if (file === undefined) return;
    for (const of of this.#files.keys()) if (of.owner === file) this.#files.delete(of);
  }

  /** Finds the scopes and names that types have in their type units. Types without such a unit stay as they are. */
  async #findTypes(): Promise<void> {
    const all = this.#typesElsewhere;
    this.#typesElsewhere = [];
    for (const { target, file, signature, isNamed } of all) {
      try {
        const functions = this.#of(file.owner);
        functions.typeUnits ??= new TypeUnits(file.owner, this.#onDamage);
        const place = await functions.typeUnits.find(signature);
        if (place === undefined) continue;
        const { unit, dieAt } = place;
        const { functionDies: die } = unit;
        die.read(dieAt);
        const isNamedHere = die.nameForm !== 0;
        if (!isNamed && isNamedHere) takeText(this.#of(unit.file).texts, target, 'name', unit);
        if (!this.#followDeclaration(target, unit, isNamed || isNamedHere)) this.#unplaced.push({ target, dieAt });
        this.findScopes(unit, undefined);
      } catch (error) {
        this.#onDamage(error, file, 0);
      }
    }
  }

  async #finishRound(): Promise<void> {
    const all = this.#unfinished;
    this.#unfinished = [];
    const files = [...new Set(all.map(({ file }) => file))];
    for (const file of files) {
      const inFile = all.filter((one) => one.file === file).sort((a, b) => a.offset - b.offset);
      await this.#finishIn(file, inFile);
    }
  }

  /** Reads the rest of functions whose DIEs are in one file. @param inFile by offset, so that each unit is read once */
  async #finishIn(file: DwarfFile, inFile: readonly Unfinished[]): Promise<void> {
    let unit: Unit | undefined;
    let lines: LineTable | undefined;
    let start = -1;
    for (const { target, offset, known, hops } of inFile) {
      try {
        const nextStart = await file.units.startOf(offset);
        if (nextStart !== start) {
          if (unit !== undefined) this.findScopes(unit, lines);
          start = nextStart;
          // Stays undefined if the unit cannot be read, so that this is only tried once.
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
    if (unit !== undefined) this.findScopes(unit, lines);
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
   * Takes what is not known yet from the DIE last read by the unit's reader, and from the DIEs of the unit that it refers to.
   * @param hasSoFar HAS_…
   * @param hopsSoFar how many DIEs were read before
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
        takeText(texts, target, 'name', unit);
      }
      if ((has & HAS_LINKAGE_NAME) === 0 && die.linkageNameForm !== 0) {
        has |= HAS_LINKAGE_NAME;
        takeText(texts, target, 'linkageName', unit);
      }
      if (hops > MAX_HOPS) return;
      const origin = originFile(unit);
      if (origin === undefined) {
        if ((has & HAS_LINKAGE_NAME) === 0 && hasScopes(unit)) this.#noteLast(target, unit);
        return;
      }
      if (!this.#readOrigin(target, unit, origin, has, hops)) return;
    }
  }

  /** Notes the DIE last read as the last one of a function's description. */
  #noteLast(target: DescribedFunction, { file, header, functionDies: { dieAt } }: Unit): void {
    target.endAt({ file, offset: header.offset + dieAt });
    if (target.wantsScope) this.#unplaced.push({ target, dieAt });
  }

  /** Has the unit's reader read the DIE that the last one refers to. @returns false if that is left for later, because it is in another unit */
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

/** @param sorted its beginning is overwritten with the result */
function withoutRepetitions(sorted: Float64Array): Float64Array {
  let count = 0;
  for (const value of sorted) if (count === 0 || sorted[count - 1] !== value) sorted[count++] = value;
  return sorted.subarray(0, count);
}

function isType(tag: number): boolean {
  switch (tag) {
    case dw.DW_TAG_class_type:
    case dw.DW_TAG_enumeration_type:
    case dw.DW_TAG_interface_type:
    case dw.DW_TAG_structure_type:
    case dw.DW_TAG_union_type:
      return true;
    default:
      return false;
  }
}

/** The file of the DIE that the one last read by the unit's reader refers to; undefined if there is none. */
function originFile({ file, functionDies: { origin } }: Unit): DwarfFile | undefined {
  if (origin === ORIGIN_NONE) return undefined;
  return origin === ORIGIN_IN_SUPPLEMENTARY ? file.supplementary : file;
}

/** Takes a name from the DIE last read by the unit's reader. @param texts gets it if it is not in the unit itself */
function takeText(texts: WantedTexts, target: Named, field: keyof Named, { view, header, root, functionDies: die }: Unit): void {
  const at = field === 'name' ? die.nameAt : die.linkageNameAt;
  const place = textPlace(field === 'name' ? die.nameForm : die.linkageNameForm);
  if (place === TEXT_IN_UNIT) target[field] = textInUnit(view, at);
  else if (place === TEXT_BY_INDEX) texts.add(target, field, place, root.strOffsetsBase + at * header.offsetSize, header.offsetSize);
  else if (place !== TEXT_NONE) texts.add(target, field, place, at, header.offsetSize);
}
