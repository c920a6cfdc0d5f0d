import { IS_LITTLE_ENDIAN_MACHINE } from './little-endian.ts';

/** What is used of WebAssembly, which Node and browsers have: TypeScript describes it in the DOM's library alone. */
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
 * @throws ReferenceError where the engine runs no WebAssembly, CompileError where a page forbids it
 */
export function compileWasm(code: string): WasmModule {
  const text = atob(code);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return new WebAssembly.Module(bytes);
}

/**
 * An instance of a module, with memory of its own: its exports.
 * @param imports functions by name
 * @throws RangeError where there are no addresses for its memory, of which engines set ten gigabytes aside, so that they need not check each place
 */
export function instantiateWasm(module: WasmModule, imports: object): unknown {
  return new WebAssembly.Instance(module, { host: imports }).exports;
}

/** Memory of an instance. After it has grown, its `buffer` is another one, and views of the one before have no bytes any more. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** A variable that an instance exports. */
export interface WasmGlobal {
  value: number;
}

/**
 * Instances of a module that saves nothing but time: where the engine runs no WebAssembly, or had no memory for it once, there are none, and it is not asked
 * again. It has collected all garbage by then, in vain, which would take it some 50 ms for each of thousands of files.
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
   * A new instance, with memory of its own; undefined where there can be none.
   * @param initialize calls what prepares it, which gives 0 where there is no memory
   */
  instantiate(initialize: (wasm: Exports) => number): Exports | undefined {
    // What uses these instances has views of their memory, which is little-endian.
    if (this.#isRefused || !IS_LITTLE_ENDIAN_MACHINE) return undefined;
    try {
      this.#compiled ??= compileWasm(this.#code);
      const wasm = instantiateWasm(this.#compiled, {}) as Exports;
      if (initialize(wasm) !== 0) return wasm;
    } catch {
      // Nothing depends on it but time.
    }
    this.#isRefused = true;
    return undefined;
  }
}
