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
