import { PerfconvError } from '../../base/errors.ts';
import { CODE, type WasmExports, type WasmImports } from './module.ts';

/** What is used of WebAssembly, which Node and browsers have: TypeScript describes it in the DOM's library alone. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: { readonly host: WasmImports }) => { readonly exports: unknown };
};

/** Compiled code. */
type WasmModule = { readonly [BRAND]: true };
declare const BRAND: unique symbol;

/** Compiled once, for any number of instances. */
let compiled: WasmModule | undefined;

/**
 * Why an instance got no memory once. None is asked for again: the engine has collected all garbage by then, in vain, which would take
 * it some 50 ms for each of thousands of files.
 */
let noMemory: PerfconvError | undefined;

/**
 * A new instance of the module, with memory of its own.
 * @throws PerfconvError `unsupported` where the engine runs no WebAssembly (see `webAssemblyRefusal`), or has no memory for it: address
 * space is limited, such as by `ulimit -v`
 */
export function instantiate(imports: Omit<WasmImports, 'full'>): WasmExports {
  if (noMemory !== undefined) throw noMemory;
  compiled ??= compile();
  try {
    return new WebAssembly.Instance(compiled, { host: { full, ...imports } }).exports as WasmExports;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Engines set aside ten gigabytes of addresses for each, so that they need not check each place.
    noMemory = new PerfconvError(
      'unsupported',
      `no memory for WebAssembly, without which debug information is not read: ${error.message}`,
      {},
      { cause: error },
    );
    throw noMemory;
  }
}

function full(): never {
  throw new PerfconvError('damaged', 'debug information takes more memory than there can be');
}

function compile(): WasmModule {
  const text = atob(CODE);
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
