import { expect, test } from 'vitest';
import { jitOptions } from '../../src/naming/jit-options.ts';

test.each([
  ['/usr/bin/node', 'node --perf-basic-prof'],
  ['/usr/lib/x86_64-linux-gnu/libnode.so.115', 'node --perf-basic-prof'],
  ['/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so', 'java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'],
  ['/usr/bin/python3.12', 'python -X perf'],
  ['/usr/lib/x86_64-linux-gnu/libpython3.12.so.1.0', 'python -X perf'],
  ['/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.0/libcoreclr.so', 'DOTNET_PerfMapEnabled=1'],
  ['/usr/lib/erlang/erts-13.1.5/bin/beam.smp', 'erl +JPperf true'],
  ['/usr/bin/mono-sgen', 'mono --jitmap'],
  ['/usr/bin/node (deleted)', 'node --perf-basic-prof'],
  ['/usr/bin/php8.2', 'php -d opcache.jit_debug=16'],
  ['/usr/sbin/php-fpm8.2', 'php -d opcache.jit_debug=16'],
  ['/usr/bin/deno', 'deno run --v8-flags=--perf-basic-prof'],
  ['/root/.bun/bin/bun', 'BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=DIR bun (perf record -k mono)'],
  ['/srv/app/node_modules/bun/bin/bun.exe', 'BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=DIR bun (perf record -k mono)'],
  ['/usr/lib/chromium/chromium', 'chromium --no-sandbox --js-flags=--perf-basic-prof'],
  ['/opt/google/chrome/chrome', 'chromium --no-sandbox --js-flags=--perf-basic-prof'],
  ['/opt/chromium/headless_shell', 'chromium --no-sandbox --js-flags=--perf-basic-prof'],
  ['/opt/chromium/chrome-headless-shell', 'chromium --no-sandbox --js-flags=--perf-basic-prof'],
  ['/usr/lib/postgresql/15/lib/llvmjit.so', 'postgres -c jit_profiling_support=on (perf record -k mono)'],
  ['/usr/bin/wasmtime', 'wasmtime --profile=perfmap'],
  ['/usr/bin/qemu-x86_64', 'qemu -perfmap (QEMU 8)'],
  ['/usr/bin/qemu-system-aarch64', 'qemu -perfmap (QEMU 8)'],
])('the JIT of %s leaves names with %s', (path, option) => {
  expect(jitOptions([path, '/usr/lib/x86_64-linux-gnu/libc.so.6'])).toBe(`${option}, or the equivalent for another runtime`);
});

test('the advice for several runtimes is in a fixed order', () => {
  expect(jitOptions(['/usr/bin/python3.12', '/usr/bin/node'])).toBe('node --perf-basic-prof, python -X perf, or the equivalent for another runtime');
});

test('the advice for unknown runtimes has the options of common ones', () => {
  const common =
    'node --perf-basic-prof, java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, python -X perf, DOTNET_PerfMapEnabled=1, erl +JPperf true, mono --jitmap';
  expect(jitOptions(['/usr/bin/luajit', '/usr/bin/bundle', '/usr/bin/nodemon', '/opt/monolith'])).toBe(common);
});
