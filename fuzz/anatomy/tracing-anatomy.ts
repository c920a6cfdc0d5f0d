import type { Field } from './anatomy.ts';
import type { BoundedView } from './bounded-view.ts';

const MAGIC_BYTES = 10;

/**
 * Sizes and counts in tracing data: magic, version text, byte order, size of a long, page size, two named headers,
 * ftrace formats, systems of event formats, kallsyms, printk formats, command lines. Source: files that perf 6.1 wrote,
 * and trace-cmd.dat's description in its manual page.
 */
export function tracingDataFields(view: BoundedView, start: number, end: number): Field[] {
  const limit = Math.min(end, view.length);
  const fields: Field[] = [];
  let at = start + MAGIC_BYTES;
  const skipText = (): void => {
    const nul = at >= 0 && at < limit ? view.bytes.subarray(at, limit).indexOf(0) : -1;
    at = nul < 0 ? limit : at + nul + 1;
  };
  const number = (sizeBytes: number): number => {
    if (!(at >= 0 && at + sizeBytes <= limit)) {
      at = limit;
      return 0;
    }
    fields.push({ offset: at, sizeBytes });
    at += sizeBytes;
    return Number(view.get(at - sizeBytes, sizeBytes));
  };
  /** A block's size, and the block. */
  const block = (sizeBytes: number): void => {
    const size = number(sizeBytes);
    at += size;
  };
  const blocks = (count: number): void => {
    for (let i = 0; i < count && at < limit; i++) block(8);
  };

  skipText();
  number(1);
  number(1);
  number(4);
  for (let header = 0; header < 2; header++) {
    skipText();
    block(8);
  }
  blocks(number(4));
  for (let systems = number(4); systems > 0 && at < limit; systems--) {
    skipText();
    blocks(number(4));
  }
  block(4);
  block(4);
  block(8);
  return fields;
}
