import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests that are not hermetic, or take long. Each kind has a folder below test/, and runs if `--project` names it. All others are hermetic. */
const KINDS = ['slow', 'live', 'viewers'] as const;
/** `vitest run` alone runs the hermetic tests. A file of another kind also runs without `--project` if its path is given. */
const namesKind = process.argv.slice(2).some((argument) => /^--project\b/.test(argument));
const choosesOthers = namesKind || process.argv.slice(2).some((argument) => /^(?:\.\/)?test\//.test(argument));
/**
 * Hermetic tests that `--project slow` runs again, trying all of the places of which they otherwise try some: those that import
 * test/support/thoroughness.ts.
 */
function thoroughTests(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((path) => `test/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.test.ts') && !KINDS.some((kind) => path.startsWith(`test/${kind}/`)))
    .filter((path) => /from '[./]*support\/thoroughness\.ts'/.test(readFileSync(path, 'utf8')));
}

// Nothing takes this long unless it hangs, however busy the machine is.
const timeouts = { testTimeout: 300_000, hookTimeout: 300_000 };
// At each start, Node reads the certificates that this names, which takes longer than the rest of its start, in each of a thousand processes.
const env = { NODE_EXTRA_CA_CERTS: '' };

export default defineConfig({
  test: {
    globalSetup: './test/support/private-home.ts',
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    // On a busy machine, a process that has run a browser ends long after all of its tests have passed.
    teardownTimeout: 120_000,
    projects: [
      {
        test: {
          name: 'hermetic',
          // One process for many files, since most of them take less time than loading what they test.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: KINDS.map((kind) => `test/${kind}/**`),
          ...timeouts,
          // No machine finds programs by their names, so that a test that needs one fails on all machines.
          env: { ...env, PATH: '/nonexistent', PERFCONV_CORPUS: '' },
          maxWorkers: availableParallelism(),
        },
      },
      // One kind after the other.
      ...(choosesOthers ? KINDS : []).map((kind, index) => ({
        test: {
          name: kind,
          include: [`test/${kind}/**/*.test.ts`, ...(kind === 'slow' && namesKind ? thoroughTests() : [])],
          ...timeouts,
          env: kind === 'slow' ? { ...env, PERFCONV_THOROUGH: '1' } : env,
          setupFiles: kind === 'slow' ? [] : ['./test/support/perf/live-setup.ts'],
          sequence: { groupOrder: index + 1 },
        },
      })),
    ],
  },
});
