import { PerfconvError } from '../../base/problems/errors.ts';
import type { DebugSections } from '../sections/debug-sections.ts';
import { DwarfFile, type Unit } from './dwarf-file.ts';

/** Where a type is described: a place in a unit of its own. */
export interface TypePlace {
  readonly unit: Unit;
  /** Where in the unit its DIE is. */
  readonly dieAt: number;
}

/** Called for units that cannot be read. */
type OnDamage = (error: unknown, file: DwarfFile, offset: number) => void;

/** The largest programs have some hundred thousand types. */
const MAX_TYPE_UNITS = 1 << 20;
/** So many damaged units are only in a hostile file. Each costs an error. */
const MAX_DAMAGED_UNITS = 1000;

/**
 * The type units of a file, by signature (DWARF 5, 3.1.4): a type that several units of a program need is in a unit of its own, so that the linker can keep it
 * once. Type units are among the other units in DWARF 5, in `.debug_types` in DWARF 4, and listed by `.debug_tu_index` in a package.
 */
export class TypeUnits {
  readonly #file: DwarfFile;
  readonly #onDamage: OnDamage;
  #lists: readonly TypeUnitList[] | undefined;

  /** Nothing is read yet. */
  constructor(file: DwarfFile, onDamage: OnDamage) {
    this.#file = file;
    this.#onDamage = onDamage;
  }

  /** Lets each unit be read a number of times again; those of the file itself share its budget. */
  renewBudget(): void {
    for (const { file } of this.#lists ?? []) if (file !== this.#file) file.renewBudget();
  }

  /** The type with a signature, undefined if no unit has it. @throws PerfconvError when its unit cannot be read */
  async find(signature: string): Promise<TypePlace | undefined> {
    for (const list of await this.#listsFor(signature)) {
      const place = await list.find(signature);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  /** The lists in which a type may be. */
  async #listsFor(signature: string): Promise<readonly TypeUnitList[]> {
    const { sections } = this.#file;
    if (sections.typeUnit !== undefined) {
      const packed = await sections.typeUnit(signature);
      return packed === undefined ? [] : [this.#list(packed, packed.section('types').sizeBytes > 0 ? 'types' : 'info')];
    }
    this.#lists ??= [
      // `.debug_types` comes first: if a file has it, `.debug_info` has hardly any type units, and would be searched for each in vain.
      ...(sections.section('types').sizeBytes > 0 ? [this.#list(sections, 'types')] : []),
      new TypeUnitList(this.#file, this.#onDamage),
    ];
    return this.#lists;
  }

  #list(sections: DebugSections, section: 'info' | 'types'): TypeUnitList {
    const { supplementary, loan } = this.#file;
    return new TypeUnitList(new DwarfFile(sections, supplementary, loan, { owner: this.#file, section }), this.#onDamage);
  }
}

/** The type units in one section. They are found one after the other, as far as they are asked for. */
class TypeUnitList {
  readonly file: DwarfFile;
  readonly #onDamage: OnDamage;
  /** By signature: where the unit starts. */
  readonly #starts = new Map<string, number>();
  /** Index, among all units of the section, of the next one to look at; −1 after the last one. */
  #next = 0;
  #damagedCount = 0;

  constructor(file: DwarfFile, onDamage: OnDamage) {
    this.file = file;
    this.#onDamage = onDamage;
  }

  async find(signature: string): Promise<TypePlace | undefined> {
    while (!this.#starts.has(signature)) if (!(await this.#step())) return undefined;
    const unit = await this.file.unitAt(this.#starts.get(signature)!);
    return { unit, dieAt: unit.header.describedType!.dieAt };
  }

  /** Looks at the next unit. @returns false when there is none */
  async #step(): Promise<boolean> {
    if (this.#next < 0) return false;
    const { units } = this.file;
    const start = await units.start(this.#next);
    this.#next = start < 0 ? -1 : this.#next + 1;
    if (start < 0) return false;
    try {
      const { describedType } = await units.headerAt(start);
      // If several units have the same signature, the first one is as good as the others.
      if (describedType === undefined || this.#starts.has(describedType.signature)) return true;
      if (this.#starts.size < MAX_TYPE_UNITS) this.#starts.set(describedType.signature, start);
      else this.#giveUp(start, new PerfconvError('limit', `more than ${MAX_TYPE_UNITS} type units`));
    } catch (error) {
      this.#onDamage(error, this.file, start);
      if (++this.#damagedCount === MAX_DAMAGED_UNITS) {
        this.#giveUp(start, new PerfconvError('damaged', `${MAX_DAMAGED_UNITS - 1} units before this one are damaged, too: type units after it are not found`));
      }
    }
    return true;
  }

  #giveUp(start: number, why: PerfconvError): void {
    this.#onDamage(why, this.file, start);
    this.#next = -1;
  }
}
