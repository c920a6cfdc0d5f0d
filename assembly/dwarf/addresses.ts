import { addressOf } from './host';

/** From here to −1 as signed numbers, and below 2^53, addresses are doubles as they are: see `addressOf` of src/base/addresses.ts. */
const LEAST_PLAIN: i64 = -(1 << 52);

/** A 64-bit address as the signed double that stands for it everywhere. */
export function toAddress(word: u64): f64 {
  return <i64>word >= LEAST_PLAIN ? <f64>(<i64>word) : addressOf(<u32>(word >>> 32), <u32>word);
}
