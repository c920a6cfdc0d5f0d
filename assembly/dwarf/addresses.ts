import { LEAST_PLAIN } from '../plain-addresses';
import { addressOf } from './host';

/** A 64-bit address as the signed double that is used for it everywhere. */
export function toAddress(word: u64): f64 {
  return <i64>word >= LEAST_PLAIN ? <f64>(<i64>word) : addressOf(<u32>(word >>> 32), <u32>word);
}
