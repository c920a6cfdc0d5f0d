/** The version of this package. `test/slow/packed-library.test.ts` compares it with package.json, which programs in a browser do not have. */
export const VERSION = '0.1.0';
