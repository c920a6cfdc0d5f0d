import { compileWasm, instantiateWasm, type WasmModule } from '../../base/bytes/web-assembly.ts';
import { messageOf, PerfconvError } from '../../base/problems/errors.ts';
import { CODE, type WasmExports, type WasmImports } from './module.ts';

/** Compiled once, for any number of instances. */
let compiled: WasmModule | undefined;

/**
 * Why an instance once got no memory. No other is tried after that: each time, the engine would first collect all garbage in vain, which
 * takes some 50 ms for each of thousands of files.
 */
let noMemory: PerfconvError | undefined;

/**
 * A new instance of the module, with memory of its own.
 * @throws PerfconvError `unsupported` if the engine runs no WebAssembly (see `webAssemblyRefusal`), or has no memory for it: address space
 * can be limited, as by `ulimit -v`
 */
export function instantiate(imports: Omit<WasmImports, 'full'>): WasmExports {
  if (noMemory !== undefined) throw noMemory;
  compiled ??= compile();
  try {
    return instantiateWasm(compiled, { full, ...imports }) as WasmExports;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    noMemory = new PerfconvError(
      'unsupported',
      `not enough memory for WebAssembly, which is needed to read debug information: ${error.message}`,
      {},
      { cause: error },
    );
    throw noMemory;
  }
}

function full(): never {
  throw new PerfconvError('damaged', 'debug information needs more memory than WebAssembly can have');
}

function compile(): WasmModule {
  try {
    return compileWasm(CODE);
  } catch (error) {
    const why = messageOf(error);
    throw new PerfconvError('unsupported', `no WebAssembly, which is needed to read debug information: ${why}`, {}, { cause: error });
  }
}
