import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: './test/support/private-home.ts',
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Node reads certificates that are named here at each start: longer than the rest of it takes, in each of a thousand processes.
    env: { NODE_EXTRA_CA_CERTS: '' },
  },
});
