import { IS_LITTLE_ENDIAN_MACHINE } from './little-endian.ts';

/** What is used of WebAssembly, which Node and browsers have: TypeScript declares it only in the DOM's library. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: unknown };
};

/** Compiled code. */
export type WasmModule = { readonly [BRAND]: true };
declare const BRAND: unique symbol;

/**
 * Compiles a module.
 * @param code in base64
 * @throws ReferenceError if the engine does not run WebAssembly, CompileError if a page forbids it
 */
export function compileWasm(code: string): WasmModule {
  const text = atob(code);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return new WebAssembly.Module(bytes);
}

/**
 * The exports of a new instance of a module, which has its own memory.
 * @param imports functions by name
 * @throws RangeError if there are no addresses for its memory: engines reserve ten gigabytes of them, so that they need not check each access
 */
export function instantiateWasm(module: WasmModule, imports: object): unknown {
  return new WebAssembly.Instance(module, { host: imports }).exports;
}

/** Memory of an instance. When it grows, it gets a new `buffer`, and views of the old one become empty. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** A variable that an instance exports. */
export interface WasmGlobal {
  value: number;
}

/**
 * Instances of a module that only saves time: if the engine does not run WebAssembly, or once had no memory for it, there are none, and it is not asked again.
 * Before it refuses memory, it collects all garbage in vain, which would take about 50 ms for each of thousands of files.
 */
export class OptionalWasm<Exports> {
  readonly #code: string;
  /** Compiled once, for any number of instances. */
  #compiled: WasmModule | undefined;
  #isRefused = false;

  /** @param code in base64 */
  constructor(code: string) {
    this.#code = code;
  }

  /**
   * A new instance, with its own memory; undefined if there can be none.
   * @param initialize prepares it; returns 0 if there is no memory
   */
  instantiate(initialize: (wasm: Exports) => number): Exports | undefined {
    // Users of these instances view their memory, which is little-endian, as numbers of the machine.
    if (this.#isRefused || !IS_LITTLE_ENDIAN_MACHINE) return undefined;
    try {
      this.#compiled ??= compileWasm(this.#code);
      const wasm = instantiateWasm(this.#compiled, {}) as Exports;
      if (initialize(wasm) !== 0) return wasm;
    } catch {
      // Only time depends on it.
    }
    this.#isRefused = true;
    return undefined;
  }
}
