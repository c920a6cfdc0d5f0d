/**
 * Random bytes as hexadecimal digits, for names of files that nobody else uses. Nobody need be kept from guessing them: such files are made
 * where there is none yet (`wx`). `crypto` would take some 8 ms to load, of each run that writes a file.
 */
export function randomHex(sizeBytes: number): string {
  return Array.from({ length: sizeBytes }, () =>
    Math.floor(Math.random() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('');
}
