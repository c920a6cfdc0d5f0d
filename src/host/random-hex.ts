/**
 * Random bytes as hexadecimal digits, for names of files that nobody else uses. Made by the global `crypto`, which Node loads at its
 * first use: `node:crypto` would cost every start, also those of programs that never make a file.
 */
export function randomHex(sizeBytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(sizeBytes))).toString('hex');
}
