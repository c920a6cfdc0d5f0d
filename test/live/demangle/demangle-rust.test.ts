import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { demangleRustLegacy } from '../../../src/demangle/schemes/rust/rust-legacy.ts';
import { demangleRustV0 } from '../../../src/demangle/schemes/rust/rust-v0.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

/** Unlike c++filt, nm does not ask libiberty for hashes and types of constants, and nor does perf. */
function names(library: string, ...options: string[]): string[] | undefined {
  const nm = spawnSync('nm', ['--dynamic', '--no-sort', '--format=just-symbols', ...options, library], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return nm.status === 0 ? nm.stdout.split('\n').map((name) => name.replace(/@.*/, '')) : undefined;
}

function compilerLibrary(): string | undefined {
  const sysroot = spawnSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' });
  if (sysroot.status !== 0) return undefined;
  const directory = join(sysroot.stdout.trim(), 'lib');
  const name = readdirSync(directory).find((file) => /^librustc_driver-.*\.so$/.test(file));
  return name === undefined ? undefined : join(directory, name);
}

const library = compilerLibrary();
const mangled = library === undefined ? undefined : names(library);
const demangled = library === undefined ? undefined : names(library, '--demangle');
if (!mangled || !demangled) announceSkipped('Rust names compared with nm', library ? 'nm fails' : 'there is no rustc');

describe.skipIf(!mangled || !demangled)("the compiler's own names", () => {
  it('are shown as libiberty shows them', () => {
    const differing: string[] = [];
    let count = 0;
    mangled?.forEach((name, i) => {
      const shown = demangleRustLegacy(name, 'full') ?? demangleRustV0(name, 'full');
      if (shown === undefined && !name.startsWith('_R')) return;
      count++;
      if (shown !== demangled?.[i]) differing.push(name);
    });
    expect(count).toBeGreaterThan(10_000);
    expect(differing.length, differing.slice(0, 10).join('\n')).toBeLessThanOrEqual(count / 1000);
  });
});
