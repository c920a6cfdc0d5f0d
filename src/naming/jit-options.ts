import { withoutDeleted } from '../symbolizer/search/candidates.ts';

/** Options with which runtimes' JITs leave the names of their functions, and the names of binaries that identify the runtime. */
const RUNTIMES: readonly { readonly binary: RegExp; readonly option: string; readonly isCommon: boolean }[] = [
  { binary: /^(?:node|nodejs|libnode\.so.*)$/, option: 'node --perf-basic-prof', isCommon: true },
  { binary: /^deno$/, option: 'deno run --v8-flags=--perf-basic-prof', isCommon: false },
  // npm calls Bun's program `bun.exe`. It writes no perf map.
  { binary: /^bun(?:\.exe)?$/, option: 'BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=DIR bun (perf record -k mono)', isCommon: false },
  // In its sandbox, a process that runs scripts cannot write the file.
  { binary: /^(?:chrom(?:e|ium)|(?:chrome-)?headless[_-]shell)$/, option: 'chromium --no-sandbox --js-flags=--perf-basic-prof', isCommon: false },
  { binary: /^libjvm\.so$/, option: 'java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit', isCommon: true },
  { binary: /^(?:python3?(?:\.\d+)?|libpython3.*)$/, option: 'python -X perf', isCommon: true },
  { binary: /^(?:dotnet|libcoreclr\.so)$/, option: 'DOTNET_PerfMapEnabled=1', isCommon: true },
  { binary: /^beam(?:\.\w+)*$/, option: 'erl +JPperf true', isCommon: true },
  { binary: /^(?:mono(?:-sgen)?|libmono.*)$/, option: 'mono --jitmap', isCommon: true },
  { binary: /^(?:php(?:-fpm)?[\d.]*|libphp.*|opcache\.so)$/, option: 'php -d opcache.jit_debug=16', isCommon: false },
  { binary: /^(?:wasmtime|libwasmtime.*)$/, option: 'wasmtime --profile=perfmap', isCommon: false },
  { binary: /^llvmjit\.so$/, option: 'postgres -c jit_profiling_support=on (perf record -k mono)', isCommon: false },
  // Source: the message with which QEMU added its options -perfmap and -jitdump, for 8.0.
  { binary: /^qemu-/, option: 'qemu -perfmap (QEMU 8)', isCommon: false },
];

/**
 * The options with which the JITs of a recording leave names for profilers.
 * @param binaries paths of binaries whose code ran, in whatever process
 * @returns options of the runtimes among them; those of the common runtimes if there are none
 */
export function jitOptions(binaries: readonly string[]): string {
  const names = binaries.map((path) => withoutDeleted(path).replace(/^.*\//s, ''));
  const found = RUNTIMES.filter(({ binary }) => names.some((name) => binary.test(name)));
  if (found.length > 0) return `${listed(found)}, or the equivalent for another runtime`;
  return listed(RUNTIMES.filter(({ isCommon }) => isCommon));
}

function listed(runtimes: typeof RUNTIMES): string {
  return runtimes.map(({ option }) => option).join(', ');
}
