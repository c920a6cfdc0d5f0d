import { PerfconvError } from '../../base/errors.ts';

/** What is used of WebAssembly, which Node and browsers have: TypeScript describes it in the DOM's library alone. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>) => { readonly exports: unknown };
};

/** Compiled code. */
type WasmModule = { readonly [BRAND]: true };
declare const BRAND: unique symbol;

/** Memory of an instance. Its `buffer` is another one after it has grown, and views of the one before have no bytes any more. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** A variable that an instance exports. */
export interface WasmGlobal {
  value: number;
}

/** By code in base64: compiled once, for any number of instances. */
const compiled = new Map<string, WasmModule>();

/**
 * Why there was no room for an instance once. None is asked for again: the engine has collected all garbage by then, in vain, which would take it
 * some 50 ms for each of thousands of units.
 */
let noRoom: PerfconvError | undefined;

/**
 * A new instance, with memory of its own.
 * @param code a CODE of this folder
 * @param imports the functions of assembly/host.ts that it needs beside `full`
 * @throws PerfconvError `unsupported` where the engine runs no WebAssembly (see `webAssemblyRefusal`), or has no room for it: address space is
 * limited, such as by `ulimit -v`
 */
export function instantiate<Exports>(code: string, imports: Readonly<Record<string, (...values: number[]) => number | undefined>>): Exports {
  if (noRoom !== undefined) throw noRoom;
  let module = compiled.get(code);
  if (module === undefined) {
    module = compile(code);
    compiled.set(code, module);
  }
  try {
    return new WebAssembly.Instance(module, { host: { full, ...imports } }).exports as Exports;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Engines set aside ten gigabytes of addresses for each, so that they need not check each place.
    noRoom = new PerfconvError('unsupported', `no room for WebAssembly, without which debug information is not read: ${error.message}`, {}, { cause: error });
    throw noRoom;
  }
}

function full(): never {
  throw new PerfconvError('damaged', 'debug information takes more memory than there can be');
}

function compile(code: string): WasmModule {
  const text = atob(code);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    // A ReferenceError where there is none, a CompileError where a page forbids it.
    const why = error instanceof Error ? error.message : String(error);
    throw new PerfconvError('unsupported', `no WebAssembly, without which debug information is not read: ${why}`, {}, { cause: error });
  }
}
