import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decompress } from '../../../src/host/compression/decompress.ts';
import { runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';
import { compareFrameRows, parseFrameRows, readFrameRows } from '../../support/readers/frame-rows.ts';

const MIPS = ['mips64el-linux-gnuabi64', 'mips64-linux-gnuabi64', 'mipsel-linux-gnu', 'mips-linux-gnu'];
/** Libraries of each machine, from Debian's packages; those that are not installed are skipped. `PERFCONV_FRAME_FILES` names others, separated by spaces. */
const LIBRARIES = [
  ...['libc.so.6', 'libgcc_s.so.1', 'libstdc++.so.6'].map((name) => `/usr/lib/x86_64-linux-gnu/${name}`),
  ...['aarch64-linux-gnu', 'riscv64-linux-gnu', 's390x-linux-gnu', 'powerpc64le-linux-gnu', 'powerpc-linux-gnu', 'i686-linux-gnu', ...MIPS].flatMap((triplet) =>
    ['libc.so.6', 'libgcc_s.so.1'].map((name) => `/usr/${triplet}/lib/${name}`),
  ),
  ...(process.env.PERFCONV_FRAME_FILES?.split(' ') ?? []),
];

const SOURCE = `
#include <alloca.h>
#include <stdarg.h>
#include <string.h>
volatile long sink;
void (*volatile callback)(int);
__attribute__((noinline)) void dynamic(int n) { char *p = alloca(n); memset(p, n, n); callback(n); sink += p[2]; }
__attribute__((noinline)) void aligned(int n) { _Alignas(64) char big[256]; memset(big, n, 256); callback(n); sink += big[n]; }
__attribute__((noinline)) long many(long a, long b, long c, long d, long e, long f, long g, long h) { callback(a); return a * b + c * d + e * f + g * h; }
__attribute__((noinline)) int sum(int n, ...) { va_list v; va_start(v, n); int r = 0; for (int i = 0; i < n; i++) { r += va_arg(v, int); callback(r); } va_end(v); return r; }
__attribute__((noinline)) void early(int n) { if (n > 3) { char big[5000]; memset(big, n, n); callback(n); sink += big[n]; return; } sink++; }
int main(int argc, char **argv) { dynamic(argc); aligned(argc); early(argc); return many(1, 2, 3, 4, 5, 6, 7, argc) + sum(argc, 1, 2, 3); }
`;

/** Programs by compiler and options; with `.debug_frame` if exceptions need no tables. */
const PROGRAMS: readonly (readonly [string, string])[] = [
  ['gcc', '-O2'],
  ['gcc', '-O2 -g -fno-asynchronous-unwind-tables -fno-exceptions'],
  ['gcc', '-O2 -g -gz -gdwarf64 -fno-asynchronous-unwind-tables'],
  ['clang', '-O2 -g'],
  ['clang', '-O2 -g -fno-asynchronous-unwind-tables'],
  ['aarch64-linux-gnu-gcc', '-O2 -mbranch-protection=standard'],
  ['aarch64-linux-gnu-gcc', '-O2 -g -fno-asynchronous-unwind-tables'],
  ['arm-linux-gnueabihf-gcc', '-O2 -g'],
  ['arm-linux-gnueabihf-gcc', '-O0 -g -marm -static'],
  ['riscv64-linux-gnu-gcc', '-O2 -msave-restore'],
  ['s390x-linux-gnu-gcc', '-O2 -g -fno-asynchronous-unwind-tables'],
  ['powerpc64le-linux-gnu-gcc', '-O2 -g'],
  ['i686-linux-gnu-gcc', '-O2 -g'],
  ['powerpc-linux-gnu-gcc', '-O2 -g'],
  ['mips64el-linux-gnuabi64-gcc', '-O2 -g'],
  ['mips64-linux-gnuabi64-gcc', '-O2 -fasynchronous-unwind-tables'],
  ['mipsel-linux-gnu-gcc', '-O2 -g'],
  ['mips-linux-gnu-gcc', '-O2 -fasynchronous-unwind-tables'],
];

const hasReadelf = runs('readelf', ['--version']);
const present = LIBRARIES.filter((path) => hasReadelf && existsSync(path));
if (present.length < LIBRARIES.length) announceSkipped('rules of some libraries', 'no readelf, or none of libc6-*-cross and libgcc-s1-*-cross');
const compilers = new Set(PROGRAMS.map(([compiler]) => compiler).filter((compiler) => hasReadelf && runs(compiler, ['--version'])));
for (const [compiler] of PROGRAMS) if (!compilers.has(compiler)) announceSkipped('rules of programs', `no readelf, or no ${compiler}`);

async function compare(path: string): Promise<ReturnType<typeof compareFrameRows>> {
  const options = ['--debug-dump=frames-interp', '--debug-dump=no-follow-links', path];
  const { stdout } = spawnSync('readelf', options, { encoding: 'latin1', maxBuffer: 2 ** 29 });
  return compareFrameRows(await readFrameRows(path, { decompress }), parseFrameRows(stdout));
}

describe('every row of every FDE is read as readelf reads it', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-frames-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.for(LIBRARIES)('in %s', async (path, { skip }) => {
    skip(!present.includes(path));
    const { entries, rows, differences } = await compare(path);
    expect(differences).toEqual([]);
    expect([entries > 50, rows > 100]).toEqual([true, true]);
  });

  it.for(PROGRAMS)('in a program of %s %s', async ([compiler, options], { skip }) => {
    skip(!compilers.has(compiler));
    const path = join(dir, 'program');
    writeFileSync(join(dir, 'source.c'), SOURCE);
    execFileSync(compiler, ['-w', ...options.split(' '), '-o', path, join(dir, 'source.c')], { stdio: 'ignore' });
    const { entries, differences } = await compare(path);
    expect(differences).toEqual([]);
    expect(entries).toBeGreaterThan(3);
  });
});
