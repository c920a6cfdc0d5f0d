/** Bytes of zstd streams that are made here, without a compressor. Source: RFC 8878. */
export const zstdParts = {
  /** A frame header with a window descriptor, without content size. `windowLog` from 10 on. */
  header(windowLog: number, options: { readonly reserved?: boolean; readonly dictionary?: number } = {}): Uint8Array {
    const { reserved = false, dictionary = 0 } = options;
    const descriptor = (reserved ? 0x08 : 0) | (dictionary > 0 ? 1 : 0);
    return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, descriptor, (windowLog - 10) << 3, ...(dictionary > 0 ? [dictionary] : []));
  },
  raw(bytes: readonly number[], isLast = false): Uint8Array {
    return block(0, bytes.length, bytes, isLast);
  },
  rle(byte: number, count: number, isLast = false): Uint8Array {
    return block(1, count, [byte], isLast);
  },
  compressed(bytes: readonly number[], isLast = false): Uint8Array {
    return block(2, bytes.length, bytes, isLast);
  },
  reserved(): Uint8Array {
    return block(3, 1, [0], false);
  },
  skippable(bytes: readonly number[], variant = 3): Uint8Array {
    return Uint8Array.of(0x50 + variant, 0x2a, 0x4d, 0x18, bytes.length, 0, 0, 0, ...bytes);
  },
};

function block(type: number, size: number, bytes: readonly number[], isLast: boolean): Uint8Array {
  const header = (size << 3) | (type << 1) | (isLast ? 1 : 0);
  return Uint8Array.of(header & 0xff, (header >> 8) & 0xff, header >> 16, ...bytes);
}

/** Text of words that repeat without a pattern; always the same for a seed. */
export function wordyText(sizeBytes: number, seed = 1): Uint8Array {
  const words = ['event', 'attr', 'comm', 'dso', 'callchain', 'cpumode', 'period', 'sample', 'weight', 'branch', 'thread', 'mmap2', '\n', '0x', '::', 'é'];
  const out = new Uint8Array(sizeBytes);
  const encoder = new TextEncoder();
  let state = seed;
  for (let at = 0; at < sizeBytes; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const word = encoder.encode(`${words[state >>> 28]}${state % 7 === 0 ? state % 100_000 : ' '}`);
    out.set(word.subarray(0, sizeBytes - at), at);
    at += word.length;
  }
  return out;
}

/** Bytes of a few values only, without repetitions that are worth a match: all of them become literals. */
export function skewedBytes(sizeBytes: number): Uint8Array {
  let state = 7;
  return Uint8Array.from({ length: sizeBytes }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 32 - Math.clz32(state >>> 8);
  });
}
