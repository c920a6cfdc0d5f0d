import type { CodeSpace } from './code-space.ts';
import { RegisterPlaces } from './register-places.ts';
import type { UnwindInput } from './unwind-input.ts';
import { MACHINE_REGISTERS } from './unwind-machine.ts';
import type { UnwindModule } from './unwind-module.ts';
import { RULE_REGISTER_MASK, RULE_REGISTER_WORDS, RuleFlag, RuleWord } from './unwind-rules.ts';
import type { UnwindState } from './unwind-state.ts';
import type { UnwoundStack } from './unwound-stack.ts';
import {
  INPUT_SIZE_BYTES,
  MAX_FRAMES,
  REGISTER_COUNT,
  RESULT_COUNT,
  RESULT_FILE,
  RESULT_FRAMES,
  RESULT_KNOWN,
  RESULT_WANTED,
  RETURN_ADDRESS,
  RULE_NOT_PLAIN,
  RULE_OUTERMOST,
  WALK_COMPLETE,
  WALK_WANTS_RANGE,
  WALK_WANTS_RULE,
} from './wasm/contract.ts';
import { instantiate } from './wasm/instantiate.ts';
import type { WasmExports } from './wasm/module.ts';

/** Modules have numbers of 16 bits, and 0 is none. */
const MAX_MODULES = 0xffff;
const LAYOUT = MACHINE_REGISTERS.x86_64;
const RARE = RuleFlag.outermost | RuleFlag.signalFrame | RuleFlag.endsHere;

/** A module's number, and the rules of it that WebAssembly has. */
interface KnownModule {
  readonly number: number;
  /** By the number of the rule: where it is in memory. */
  readonly rules: Map<number, number>;
  /** Of the module's rules, which have other numbers after they were forgotten. */
  timesForgotten: number;
}

/**
 * Walks from frame to frame in WebAssembly, as long as that is plain: on x86-64, by rules that most code has. It is as fast from the first stack as V8 makes
 * the {@link Unwinder}'s own loop after some seconds. What is mapped where, and the rules, come from there: it adds what a walk wants, once.
 */
export class PlainWalk {
  /** {@link CodeSpace.file} of the last frame that was walked. */
  endFile = -1;
  readonly #wasm: WasmExports;
  /** Where the sample is put. */
  readonly #inputAt: number;
  readonly #places = new RegisterPlaces();
  /** The places that are in memory. */
  #givenPlaces: Int32Array | undefined;
  readonly #modules = new Map<UnwindModule, KnownModule>();
  #buffer: ArrayBuffer | undefined;
  #results = new Float64Array();
  #bytes = new Uint8Array();
  #registers = new Uint32Array();
  #addresses = new Float64Array();

  private constructor(wasm: WasmExports) {
    this.#wasm = wasm;
    this.#inputAt = wasm.input.value;
  }

  /** @returns undefined where there is no WebAssembly */
  static create(followsLibunwind: boolean): PlainWalk | undefined {
    const wasm = instantiate(followsLibunwind);
    return wasm && new PlainWalk(wasm);
  }

  /** Goes to the leaf of a sample. @returns false where it is nothing to be walked here */
  begin(input: UnwindInput, { generation }: CodeSpace): boolean {
    const { machine, view, regsOffset, regsMaskLo, regsMaskHi, stackOffset, stackSizeBytes } = input;
    if (machine !== 'x86_64' || generation === undefined || !view.littleEndian) return false;
    const end = stackOffset + stackSizeBytes;
    // Most often the stack lies right behind the registers.
    if (stackOffset < regsOffset || end > view.length || end - regsOffset > INPUT_SIZE_BYTES) return false;
    this.#renewViews();
    const places = this.#places.of(LAYOUT, regsMaskLo, regsMaskHi);
    if (places !== this.#givenPlaces && !this.#givePlaces(places, stackOffset - regsOffset)) return false;
    const wasm = this.#wasm;
    this.#bytes.set(view.bytes.subarray(regsOffset, end), this.#inputAt);
    // 0 is none.
    wasm.enterSpace(generation + 1);
    return wasm.beginWalk(stackOffset - regsOffset, stackSizeBytes) !== 0;
  }

  /** @returns false where registers lie elsewhere than before the stack */
  #givePlaces(places: Int32Array, sizeBytes: number): boolean {
    for (let register = 0; register < REGISTER_COUNT; register++) if (places[register] + 8 > sizeBytes) return false;
    new Int32Array(this.#wasm.memory.buffer, this.#wasm.places.value, REGISTER_COUNT).set(places.subarray(0, REGISTER_COUNT));
    this.#givenPlaces = places;
    return true;
  }

  /** Goes on from a caller that was found otherwise, in the stack that was begun. @returns whether it can be walked from there */
  resume(state: UnwindState, frameCount: number): boolean {
    const { registers } = state;
    this.#renewViews();
    const words = this.#registers;
    let known = 0;
    for (let register = 0; register < REGISTER_COUNT; register++) {
      words[2 * register] = registers.lo[register];
      words[2 * register + 1] = registers.hi[register];
      known |= registers.known[register] << register;
    }
    // Signals leave the address elsewhere.
    words[2 * RETURN_ADDRESS] = state.pc >>> 0;
    words[2 * RETURN_ADDRESS + 1] = state.pc / 0x1_0000_0000;
    return this.#wasm.resumeWalk(frameCount, known) !== 0;
  }

  /**
   * Walks on, and adds the frames to those that there are.
   * @returns whether the stack is complete; if not, what comes next is not plain: {@link give} gives the state
   */
  walk(space: CodeSpace, frames: UnwoundStack, maxFrames: number): boolean {
    const wasm = this.#wasm;
    // The last one that was asked for ends a stack, which is not plain.
    const limit = Math.max(0, Math.min(maxFrames, MAX_FRAMES) - 1);
    // hot
    let end = wasm.walk(limit);
    while ((end === WALK_WANTS_RANGE || end === WALK_WANTS_RULE) && this.#add(end, space)) end = wasm.walk(limit);
    this.#renewViews();
    const from = frames.count;
    const count = this.#results[RESULT_FRAMES];
    frames.addCalls(this.#addresses, from, count);
    this.endFile = this.#results[RESULT_FILE];
    return end === WALK_COMPLETE;
  }

  /** Adds what the walk wants. @returns whether it was added */
  #add(end: number, space: CodeSpace): boolean {
    const wasm = this.#wasm;
    const address = this.#results[RESULT_WANTED];
    if (space.find(address) !== 'found') return false;
    const { module, bias, file } = space;
    if (module === undefined || module.registers !== LAYOUT) return false;
    const known = this.#modules.get(module) ?? this.#addModule(module);
    if (known === undefined) return false;
    if (end === WALK_WANTS_RANGE) {
      const extent = space.extent?.(address);
      return extent !== undefined && wasm.addRange(extent.start, extent.end, bias, known.number, file) !== 0;
    }
    const rule = this.#ruleAt(address - bias, module, known);
    if (rule !== 0 && wasm.keepRuleOf(known.number, address - bias, rule) !== 0) return true;
    // All are forgotten: no recording has so many.
    wasm.forgetRules();
    for (const { rules } of this.#modules.values()) rules.clear();
    return false;
  }

  #addModule(module: UnwindModule): KnownModule | undefined {
    if (this.#modules.size === MAX_MODULES) return undefined;
    const known = { number: this.#modules.size, rules: new Map(), timesForgotten: module.rules.timesForgotten };
    this.#modules.set(module, known);
    this.#placeTables(module, known.number);
    return known;
  }

  /** Copies the tables that WebAssembly can read by itself. */
  #placeTables(module: UnwindModule, number: number): void {
    const { section, table } = module.firstFrames ?? {};
    const entries = table?.words;
    if (section === undefined || table === undefined || entries === undefined) return;
    const { view, addr, addressSize, isDebugFrame } = section.bytes;
    if (isDebugFrame || addressSize !== LAYOUT.addressSize || !view.littleEndian) return;
    const wasm = this.#wasm;
    const place = wasm.placeTables(number, view.length, addr, table.count, table.wordsAddr);
    if (place === 0) return;
    this.#renewViews();
    this.#bytes.set(view.bytes, place);
    this.#bytes.set(entries, place + Math.ceil(view.length / 8) * 8);
  }

  /** The rule of an address as WebAssembly has it; 0 where there is no room for it. */
  #ruleAt(svma: number, module: UnwindModule, known: KnownModule): number {
    const rule = module.ruleAt(svma);
    const { timesForgotten } = module.rules;
    if (known.timesForgotten !== timesForgotten) {
      known.rules.clear();
      known.timesForgotten = timesForgotten;
    }
    let place = known.rules.get(rule);
    if (place === undefined) {
      place = rule < 0 ? RULE_NOT_PLAIN : this.#addRule(module.rules.data, rule);
      known.rules.set(rule, place);
    }
    return place;
  }

  #addRule(data: Int32Array, rule: number): number {
    const wasm = this.#wasm;
    const flags = data[rule + RuleWord.flags];
    if ((flags & RARE) === RuleFlag.outermost) return RULE_OUTERMOST;
    if ((flags & RARE) !== 0 || (flags & RuleFlag.plain) === 0) return RULE_NOT_PLAIN;
    if (wasm.beginRule(data[rule + RuleWord.cfaRegister], data[rule + RuleWord.cfaOffset], data[rule + RuleWord.returnOffset]) === 0) return 0;
    const end = rule + RuleWord.registers + data[rule + RuleWord.registerCount] * RULE_REGISTER_WORDS;
    for (let at = rule + RuleWord.registers; at < end; at += RULE_REGISTER_WORDS) wasm.saveRegister(data[at] & RULE_REGISTER_MASK, data[at + 1]);
    return wasm.endRule();
  }

  /** Gives the registers and the address of the frame that the walk has come to. */
  give(state: UnwindState): void {
    const { registers } = state;
    const known = this.#results[RESULT_KNOWN];
    const words = this.#registers;
    for (let register = 0; register < REGISTER_COUNT; register++) {
      registers.lo[register] = words[2 * register];
      registers.hi[register] = words[2 * register + 1];
      registers.known[register] = (known >>> register) & 1;
    }
    state.pcLo = registers.lo[RETURN_ADDRESS];
    state.pcHi = registers.hi[RETURN_ADDRESS];
    state.pc = registers.value(RETURN_ADDRESS);
    state.pcMode = 0;
  }

  #renewViews(): void {
    const wasm = this.#wasm;
    const { buffer } = wasm.memory;
    if (buffer === this.#buffer) return;
    this.#buffer = buffer;
    this.#results = new Float64Array(buffer, wasm.results.value, RESULT_COUNT);
    this.#bytes = new Uint8Array(buffer);
    this.#registers = new Uint32Array(buffer, wasm.registers.value, 2 * REGISTER_COUNT);
    this.#addresses = new Float64Array(buffer, wasm.addresses.value, MAX_FRAMES);
  }
}
