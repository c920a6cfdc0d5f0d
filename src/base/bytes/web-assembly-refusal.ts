import { messageOf } from '../problems/errors.ts';

/** TypeScript only declares it in its DOM library. */
declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => unknown };

/** The smallest module there is: its magic and version. */
const EMPTY_MODULE = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);

/**
 * Why this engine runs no WebAssembly, in its own words; undefined if it runs it. Web pages may forbid it (Content-Security-Policy), servers that run code at
 * the edge forbid what is not deployed as WebAssembly (workerd), and engines that generate no machine code lack it (`node --jitless`).
 */
export function webAssemblyRefusal(): string | undefined {
  try {
    new WebAssembly.Module(EMPTY_MODULE);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
