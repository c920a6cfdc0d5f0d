import type { Frame } from '../frames/frame.ts';
import type { UnwindInput } from '../frames/unwind-input.ts';
import type { UnwoundStack } from '../frames/unwound-stack.ts';
import { RegisterPlaces } from '../machines/register-places.ts';
import { MACHINE_REGISTERS } from '../machines/unwind-machine.ts';
import type { CodeSpace } from '../modules/code-space.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import { RULE_REGISTER_MASK, RULE_REGISTER_WORDS, RuleFlag, RuleWord } from '../rules/unwind-rules.ts';
import {
  INPUT_SIZE_BYTES,
  MAX_FRAMES,
  REGISTER_COUNT,
  RESULT_COUNT,
  RESULT_FILE,
  RESULT_FRAMES,
  RESULT_KNOWN,
  RESULT_MODULE,
  RESULT_WANTED,
  RETURN_ADDRESS,
  RULE_NOT_PLAIN,
  RULE_OUTERMOST,
  WALK_COMPLETE,
  WALK_WANTS_RANGE,
  WALK_WANTS_RULE,
} from '../wasm/contract.ts';
import { instantiate } from '../wasm/instantiate.ts';
import type { WasmExports } from '../wasm/module.ts';

/** Numbers of modules have 16 bits in WebAssembly, where 0 stands for none. */
const MAX_MODULES = 0xffff;
const LAYOUT = MACHINE_REGISTERS.x86_64;
const RARE = RuleFlag.outermost | RuleFlag.signalFrame | RuleFlag.endsHere | RuleFlag.leavesStack | RuleFlag.interrupts;

/** A numbered module, and those of its rules that WebAssembly has. */
interface KnownModule {
  readonly module: UnwindModule;
  /** By number of the rule: its place in memory. */
  readonly rules: Map<number, number>;
  /** That of the module's rules when {@link rules} was filled: rules that are read again have other numbers. */
  timesForgotten: number;
  /** Whether its tables are in memory. */
  hasTables: boolean;
}

/**
 * Walks from frame to frame in WebAssembly as long as steps are plain: on x86-64, by the rules that most code has. From the first stack on, this is as fast as
 * V8 makes the {@link Unwinder}'s own loop after some seconds. What is mapped where, and rules that it lacks, are added when a walk wants them.
 */
export class PlainWalk {
  /** {@link CodeSpace.file} of the last frame that was walked. */
  endFile = -1;
  readonly #wasm: WasmExports;
  /** Where the sample is copied to. */
  readonly #inputAt: number;
  readonly #places = new RegisterPlaces();
  /** The registers' places that were copied to memory, and how many bytes of a sample they span. */
  #givenPlaces: Int32Array | undefined;
  #placedBytes = 0;
  /** By number. */
  readonly #modules: KnownModule[] = [];
  /** By module, then by file: a module that several files share has a number for each, since their labels differ. */
  readonly #numbers = new Map<UnwindModule, Map<number, number>>();
  /** Whether this stack has an address for which WebAssembly cannot remember what is mapped there. */
  #isRefused = false;
  #results = new Float64Array();
  #bytes = new Uint8Array();
  #registers = new Uint32Array();
  #addresses = new Float64Array();
  #labels = new Int32Array();

  private constructor(wasm: WasmExports) {
    this.#wasm = wasm;
    this.#inputAt = wasm.input.value;
    this.#renewViews();
  }

  /** Whether a sample's stack can be walked here: it is of x86-64, and what is mapped in the space may be remembered. */
  static isFor({ machine, view }: UnwindInput, { generation, keptRules }: CodeSpace): boolean {
    return machine === 'x86_64' && view.littleEndian && generation !== undefined && keptRules === undefined;
  }

  /** @returns undefined where there is no WebAssembly */
  static create(followsLibunwind: boolean): PlainWalk | undefined {
    const wasm = instantiate(followsLibunwind);
    return wasm && new PlainWalk(wasm);
  }

  /** Begins at the leaf of a sample for which {@link isFor} holds. @returns false if its stack cannot be walked here after all */
  begin({ view, regsOffset, regsMaskLo, regsMaskHi, stackOffset, stackSizeBytes }: UnwindInput, { generation = 0 }: CodeSpace): boolean {
    const places = this.#places.of(LAYOUT, regsMaskLo, regsMaskHi);
    if (places !== this.#givenPlaces) this.#givePlaces(places);
    // Usually, the stack dump follows right after the registers.
    const end = stackOffset + stackSizeBytes;
    const regsBytes = stackOffset - regsOffset;
    if (!(stackSizeBytes >= 0) || regsBytes < this.#placedBytes || end > view.length || end - regsOffset > INPUT_SIZE_BYTES) return false;
    this.#isRefused = false;
    const wasm = this.#wasm;
    this.#bytes.set(view.bytes.subarray(regsOffset, end), this.#inputAt);
    // In WebAssembly, 0 stands for no space.
    wasm.enterSpace(generation + 1);
    return wasm.beginWalk(regsBytes, stackSizeBytes) !== 0;
  }

  #givePlaces(places: Int32Array): void {
    const given = places.subarray(0, REGISTER_COUNT);
    new Int32Array(this.#wasm.memory.buffer, this.#wasm.places.value, REGISTER_COUNT).set(given);
    this.#givenPlaces = places;
    this.#placedBytes = Math.max(...given) + 8;
  }

  /** Continues from a caller that a step has found, in the stack that was begun. @returns whether it can be walked from there */
  resume(frame: Frame, frameCount: number): boolean {
    if (this.#isRefused) return false;
    const { registers } = frame;
    const words = this.#registers;
    let known = 0;
    for (let register = 0; register < REGISTER_COUNT; register++) {
      words[2 * register] = registers.lo[register];
      words[2 * register + 1] = registers.hi[register];
      known |= registers.known[register] << register;
    }
    // The address that the step went to. The register need not hold it.
    words[2 * RETURN_ADDRESS] = frame.pc >>> 0;
    words[2 * RETURN_ADDRESS + 1] = frame.pc / 0x1_0000_0000;
    return this.#wasm.resumeWalk(frameCount, known) !== 0;
  }

  /**
   * Walks on and adds frames.
   * @returns whether the stack is complete; if not, the next step is not plain: {@link give} hands over the frame
   */
  walk(space: CodeSpace, frames: UnwoundStack, maxFrames: number): boolean {
    // The last frame that may be added ends the stack, which is not plain.
    const limit = Math.max(0, Math.min(maxFrames, MAX_FRAMES) - 1);
    // hot
    let end = this.#walkOn(limit);
    while ((end === WALK_WANTS_RULE && this.#addRule()) || (end === WALK_WANTS_RANGE && this.#addRange(space))) end = this.#walkOn(limit);
    const from = frames.count;
    const count = this.#results[RESULT_FRAMES];
    frames.addCalls(this.#addresses, this.#labels, from, count);
    this.endFile = this.#results[RESULT_FILE];
    return end === WALK_COMPLETE;
  }

  /** Walks on in WebAssembly, whose memory may grow. @returns how it ended */
  #walkOn(limit: number): number {
    const end = this.#wasm.walk(limit);
    this.#renewViews();
    return end;
  }

  /** As {@link Unwinder.label}, for a frame of the last walk. */
  label(frame: number, label: number): void {
    this.#wasm.labelFrame(frame, label);
  }

  /** Adds what is mapped at the address that the walk wants. @returns whether it was added */
  #addRange(space: CodeSpace): boolean {
    const address = this.#results[RESULT_WANTED];
    const isKnown = space.find(address) === 'found';
    const { module, bias, file } = space;
    const extent = isKnown && module?.registers === LAYOUT ? space.extent?.(address) : undefined;
    const number = module === undefined || extent === undefined ? undefined : this.#numberOf(module, file);
    this.#isRefused = extent === undefined || number === undefined || this.#wasm.addRange(extent.start, extent.end, bias, number, file) === 0;
    return !this.#isRefused;
  }

  #numberOf(module: UnwindModule, file: number): number | undefined {
    const numbers = this.#numbers.get(module) ?? new Map<number, number>();
    const known = numbers.get(file);
    if (known !== undefined || this.#modules.length === MAX_MODULES) return known;
    const number = this.#modules.length;
    this.#numbers.set(module, numbers.set(file, number));
    this.#modules.push({ module, rules: new Map(), timesForgotten: module.rules.timesForgotten, hasTables: this.#placeTables(module, number) });
    return number;
  }

  /** Adds the rule that the walk wants. @returns whether it was added */
  #addRule(): boolean {
    const wasm = this.#wasm;
    const svma = this.#results[RESULT_WANTED];
    const number = this.#results[RESULT_MODULE];
    const rule = this.#ruleAt(svma, number);
    const isKept = rule !== 0 && wasm.keepRuleOf(number, svma, rule) !== 0;
    this.#renewViews();
    if (isKept) return true;
    // There is no room, so all rules are forgotten. No recording has that many.
    wasm.forgetRules();
    for (const { rules } of this.#modules) rules.clear();
    return false;
  }

  /** Copies the tables, if WebAssembly can read them by itself. @returns whether it can */
  #placeTables(module: UnwindModule, number: number): boolean {
    const { section, table } = module.firstFrames ?? {};
    const entries = table?.words;
    if (section === undefined || table === undefined || entries === undefined) return false;
    const { view, addr, addressSize, isDebugFrame } = section.bytes;
    if (isDebugFrame || addressSize !== LAYOUT.addressSize || !view.littleEndian || !isUserAddress(addr) || !isUserAddress(table.wordsAddr)) return false;
    const place = this.#wasm.placeTables(number, view.length, addr, table.count, table.wordsAddr);
    if (place === 0) return false;
    this.#renewViews();
    this.#bytes.set(entries, place);
    this.#bytes.set(view.bytes, place + entries.length);
    return true;
  }

  /** The rule of an address in WebAssembly's form; 0 if there is no room for it. */
  #ruleAt(svma: number, number: number): number {
    const known = this.#modules[number];
    const { module } = known;
    const rule = module.ruleAt(svma);
    if (known.hasTables && module.firstFrames?.table === undefined) {
      // The table has turned out to be wrong.
      this.#wasm.dropTables(number);
      known.hasTables = false;
    }
    const { timesForgotten } = module.rules;
    if (known.timesForgotten !== timesForgotten) {
      known.rules.clear();
      known.timesForgotten = timesForgotten;
    }
    let place = known.rules.get(rule);
    if (place === undefined) {
      place = rule < 0 ? RULE_NOT_PLAIN : this.#place(module.rules.data, rule);
      known.rules.set(rule, place);
    }
    return place;
  }

  /** Copies a rule. @returns its place; 0 if there is no room for it */
  #place(data: Int32Array, rule: number): number {
    const wasm = this.#wasm;
    const flags = data[rule + RuleWord.flags];
    if ((flags & RARE) === RuleFlag.outermost) return RULE_OUTERMOST;
    if ((flags & RARE) !== 0 || (flags & RuleFlag.plain) === 0 || data[rule + RuleWord.returnAddressRegister] !== RETURN_ADDRESS) return RULE_NOT_PLAIN;
    if (wasm.beginRule(data[rule + RuleWord.cfaRegister], data[rule + RuleWord.cfaOffset], data[rule + RuleWord.returnOffset]) === 0) return 0;
    const end = rule + RuleWord.registers + data[rule + RuleWord.registerCount] * RULE_REGISTER_WORDS;
    for (let at = rule + RuleWord.registers; at < end; at += RULE_REGISTER_WORDS) wasm.saveRegister(data[at] & RULE_REGISTER_MASK, data[at + 1]);
    return wasm.endRule();
  }

  /** Hands over the registers and the address of the frame that the walk has reached. */
  give(frame: Frame): void {
    const { registers } = frame;
    const known = this.#results[RESULT_KNOWN];
    const words = this.#registers;
    for (let register = 0; register < REGISTER_COUNT; register++) {
      registers.lo[register] = words[2 * register];
      registers.hi[register] = words[2 * register + 1];
      registers.known[register] = (known >>> register) & 1;
    }
    frame.setReturnAddress(registers.lo[RETURN_ADDRESS], registers.hi[RETURN_ADDRESS], 0);
  }

  #renewViews(): void {
    // Views of memory that has grown since are empty. To ask for the buffer takes longer.
    if (this.#results.length !== 0) return;
    const wasm = this.#wasm;
    const { buffer } = wasm.memory;
    this.#results = new Float64Array(buffer, wasm.results.value, RESULT_COUNT);
    this.#bytes = new Uint8Array(buffer);
    this.#registers = new Uint32Array(buffer, wasm.registers.value, 2 * REGISTER_COUNT);
    this.#addresses = new Float64Array(buffer, wasm.addresses.value, MAX_FRAMES);
    this.#labels = new Int32Array(buffer, wasm.labels.value, MAX_FRAMES);
  }
}

/** Whether WebAssembly can take an address as it is. */
function isUserAddress(address: number): boolean {
  return address >= 0 && address < 2 ** 48;
}
