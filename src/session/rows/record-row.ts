import { SampleRow } from '../../profile/sample-table.ts';

/**
 * {@link RecordRow.chain} of a sample in user code whose callchain is its own address alone, and whose stack waits to be unwound: the address becomes a chain
 * only if it is not unwound after all. There are as many such chains as addresses, so most of them would be new.
 */
export const OWN_ADDRESS = -2;
/** {@link RecordRow.unwound} if the sample's chain says what its stack is. */
export const NOT_UNWOUND = -2;
/** {@link RecordRow.unwound} of a sample that is to be left out. */
export const DROPPED = -3;

/** Whether a sample's stack is known, or that the sample is to be left out. */
export function hasStack({ chain, unwound }: Pick<RecordRow, 'chain' | 'unwound'>): boolean {
  return chain >= 0 || unwound !== NOT_UNWOUND;
}

/**
 * One record on its way from the file to the profile. It is filled by the reader of its type, kept by {@link RecordQueue} until its turn in time, and replayed
 * by {@link Replay}, which finds the task and the stack. The same row is used for all records: whoever needs a value later copies it.
 */
export class RecordRow extends SampleRow {
  /** Position of the record in the file, from 0. */
  nr = -1;
  /** −1 if the record has none. */
  pid = -1;
  tid = -1;
  /** Index of the sample's callchain; −1 for none, or {@link OWN_ADDRESS}. */
  chain = -1;
  /** The sample's whole stack in the profile, if it was unwound; −1 for an empty one. Else {@link NOT_UNWOUND} or {@link DROPPED}. */
  unwound = NOT_UNWOUND;
  /** The exact period minus the double that stands for it; 0 up to 2^53. */
  periodRemainder = 0;
  /** Place in {@link StackDumps} of the sample's user registers and stack; −1 for none. */
  stackDump = -1;
  /** Place in {@link BranchStacks} of the sample's branches; −1 for none. */
  branches = -1;
  /**
   * Chain of what was recorded before a sample's user part, if that comes in a separate record: then {@link chain} is the sample's chain without it. −1 if the
   * callchain is whole, and for all other records.
   */
  kernelChain = -1;
  /** The cookie that such samples have in common with the record of their user part, low and high word. That record has its own chain in {@link chain}. */
  cookieLo = 0;
  cookieHi = 0;
  /** Place in {@link RecordExtras} of what does not fit into a row; −1 for a sample that is whole without it. */
  extra = -1;

  /** Makes this the row of a record that is not a sample. @param timeNs NaN if it has none */
  setRecord(nr: number, timeNs: number, pid: number, tid: number, extra: number): void {
    this.nr = nr;
    this.timeNs = timeNs;
    this.event = -1;
    this.pid = pid;
    this.tid = tid;
    this.cpu = -1;
    this.chain = -1;
    this.unwound = NOT_UNWOUND;
    this.stackDump = -1;
    this.branches = -1;
    this.kernelChain = -1;
    this.period = 0;
    this.periodRemainder = 0;
    this.ipLo = 0;
    this.ipHi = 0;
    this.detail = -1;
    this.extra = extra;
  }
}
