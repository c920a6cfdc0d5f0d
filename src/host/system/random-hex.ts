/**
 * Random bytes as hexadecimal digits, for file names that nobody else uses. They may be guessed: such files are only made if there is none yet (`wx`). Loading
 * `crypto` would cost each run that writes a file some 8 ms.
 */
export function randomHex(sizeBytes: number): string {
  return Array.from({ length: sizeBytes }, () =>
    Math.floor(Math.random() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('');
}
