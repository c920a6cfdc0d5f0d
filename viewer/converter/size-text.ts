const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'];

/** `513 bytes`, `1.5 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes === 1) return '1 byte';
  let [size, unit] = [bytes, 0];
  while (size >= 1024 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}
