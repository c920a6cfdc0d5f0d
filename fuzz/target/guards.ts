// Checks from outside, while a recording is read, for anything that no recording may cause.

/** The largest array that a recording of some kilobytes may cause. The reader's own buffers have at most 16 MiB. */
const MAX_ARRAY_BYTES = 40 << 20;
/** The same for all arrays of one input together, whether they are kept or not. */
const MAX_SUM_BYTES = 512 << 20;

const ARRAY_TYPES = [
  'ArrayBuffer',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
] as const;

/** The error for an array larger than any input needs: its size was read from the recording and not checked. */
export class UncheckedAllocation extends Error {
  override readonly name = 'UncheckedAllocation';
}

let sumBytes = 0;
let extraBytes = 0;
let firstUnchecked: UncheckedAllocation | undefined;
let isWatching = false;

/**
 * Watches all arrays made from now on until the process ends. One that is too large throws {@link UncheckedAllocation},
 * whose stack shows where it was made.
 */
export function watchAllocations(): void {
  if (isWatching) return;
  isWatching = true;
  const global = globalThis as unknown as Record<string, new (...args: unknown[]) => unknown>;
  for (const name of ARRAY_TYPES) {
    const Original = global[name] as (new (...args: unknown[]) => unknown) & { readonly BYTES_PER_ELEMENT?: number };
    const elementBytes = Original.BYTES_PER_ELEMENT ?? 1;
    global[name] = new Proxy(Original, {
      construct(target, args, newTarget) {
        if (typeof args[0] === 'number') count(args[0] * elementBytes);
        return Reflect.construct(target, args, newTarget) as object;
      },
    });
  }
}

/**
 * Starts counting for a new input.
 * @param unpackedBytes unpacked size, if that is large: this many more bytes are allowed
 */
export function resetAllocations(unpackedBytes = 0): void {
  sumBytes = 0;
  extraBytes = unpackedBytes;
  firstUnchecked = undefined;
}

/** The first array of this input that was too large. It is kept because the library may have caught the error. */
export function uncheckedAllocation(): UncheckedAllocation | undefined {
  return firstUnchecked;
}

function count(bytes: number): void {
  sumBytes += bytes;
  if (bytes <= MAX_ARRAY_BYTES + extraBytes && sumBytes <= MAX_SUM_BYTES + 16 * extraBytes) return;
  // Sizes are not part of the message, so that findings of the same place count as one.
  firstUnchecked ??= new UncheckedAllocation(bytes > MAX_ARRAY_BYTES ? 'an array of more than 40 MiB' : 'arrays of more than 512 MiB in all');
  throw firstUnchecked;
}

/** The types from whose prototypes all objects inherit. */
const PROTOTYPES = { Object, Array, Function, String, Number, Map, Set, Promise, Error, Uint8Array };
const keysOf = (): string =>
  Object.entries(PROTOTYPES)
    .map(([name, type]) => `${name}: ${Reflect.ownKeys(type.prototype).map(String).join()}`)
    .join('\n');
const soundKeys = keysOf();
const soundCount = Reflect.ownKeys(Object.prototype).length;

/** What changed in Object.prototype; undefined if nothing did. Added keys are removed again. */
export function pollution(): string | undefined {
  for (const key in {}) {
    delete (Object.prototype as Record<string, unknown>)[key];
    return `Object.prototype has a property ${key}`;
  }
  if (Reflect.ownKeys(Object.prototype).length !== soundCount) return 'Object.prototype has other keys than before';
  return undefined;
}

/** Like {@link pollution}, for all prototypes. Too slow to be called for every input. */
export function anyPollution(): string | undefined {
  return pollution() ?? (keysOf() === soundKeys ? undefined : 'a prototype has other keys than before');
}
