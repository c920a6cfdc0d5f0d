import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests that are not hermetic, or take long: each kind has a folder below test/, and runs when `--project` names it. All others are hermetic. */
const KINDS = ['slow', 'live', 'viewers'] as const;
/** `vitest run` alone runs the hermetic tests. A file of another kind runs without `--project`, too, when its path is given. */
const namesKind = process.argv.slice(2).some((argument) => /^--project\b/.test(argument));
const choosesOthers = namesKind || process.argv.slice(2).some((argument) => /^(?:\.\/)?test\//.test(argument));
/** Hermetic tests that `--project slow` runs again, at every place where the others try one of many (test/support/thoroughness.ts). */
const THOROUGH = [
  ...['demangle/itanium', 'dwarf/line-table', 'elf/elf-file', 'host/hostile-input', 'host/packed-input', 'invariants'],
  ...['naming/jit-code', 'naming/scoped-name', 'perfdata/records', 'profile/merge', 'session/address-space', 'session/range-tree', 'session/record-queue'],
  ...[
    'session/stack-dumps',
    'symbol-table/symbol-table',
    'symbolizer/search/object-files',
    'unwind/plain-walk',
    'untimed-samples',
    'writers/folded/folded',
    'writers/pprof/pprof',
  ],
  ...['writers/report/report', 'zstd/zstd'],
].map((name) => `test/${name}.test.ts`);

// Nothing takes so long unless it hangs, however busy the machine is.
const timeouts = { testTimeout: 300_000, hookTimeout: 300_000 };
// Node reads certificates that are named here at each start: longer than the rest of it takes, in each of a thousand processes.
const env = { NODE_EXTRA_CA_CERTS: '' };

export default defineConfig({
  test: {
    globalSetup: './test/support/private-home.ts',
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    // A process that has run a browser ends late on a busy machine, after all of its tests have passed.
    teardownTimeout: 120_000,
    projects: [
      {
        test: {
          name: 'hermetic',
          // One process for many files: most of them take less time than loading what they test.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: KINDS.map((kind) => `test/${kind}/**`),
          ...timeouts,
          // Programs are not found by their names on any machine, so that a test that needs one fails on all of them.
          env: { ...env, PATH: '/nonexistent', PERFCONV_CORPUS: '' },
          maxWorkers: availableParallelism(),
        },
      },
      // One kind after the other.
      ...(choosesOthers ? KINDS : []).map((kind, index) => ({
        test: {
          name: kind,
          include: [`test/${kind}/**/*.test.ts`, ...(kind === 'slow' && namesKind ? THOROUGH : [])],
          ...timeouts,
          env: kind === 'slow' ? { ...env, PERFCONV_THOROUGH: '1' } : env,
          setupFiles: kind === 'slow' ? [] : ['./test/support/live-setup.ts'],
          sequence: { groupOrder: index + 1 },
        },
      })),
    ],
  },
});
