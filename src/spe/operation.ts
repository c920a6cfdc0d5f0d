/** Bits of {@link SpeOperation.events}. Source: DDI 0487, events packet. */
export const EVENT_L1D_ACCESS = 1 << 2;
export const EVENT_L1D_REFILL = 1 << 3;
export const EVENT_TLB_ACCESS = 1 << 4;
export const EVENT_TLB_WALK = 1 << 5;
export const EVENT_MISPREDICTED = 1 << 7;
export const EVENT_LLC_ACCESS = 1 << 8;
export const EVENT_LLC_MISS = 1 << 9;
export const EVENT_REMOTE_ACCESS = 1 << 10;

/** {@link SpeOperation.operationClass} of loads, stores and atomic operations. */
export const CLASS_MEMORY = 1;
/** In {@link SpeOperation.operation} of that class. */
export const OPERATION_STORE = 1;

/**
 * A sampled operation: an instruction, or a part of one if the processor samples those. Absent numbers are −1; the words of absent addresses and times are 0.
 * The same object is filled again for each operation.
 */
export class SpeOperation {
  /** Whether it has the address of its instruction. One without is not whole. */
  hasPc = false;
  pcLo = 0;
  pcHi = 0;
  /** The exception level that it ran at: 0 for user code. */
  level = 0;
  /** Where a branch goes. */
  targetLo = 0;
  targetHi = 0;
  /** What a load or store is about: its virtual and its physical address. */
  addressLo = 0;
  addressHi = 0;
  physicalLo = 0;
  physicalHi = 0;
  /** What happened, as bits EVENT_*; the low 32. */
  events = 0;
  /** CLASS_*. */
  operationClass = -1;
  /** What the class says further: a byte. */
  operation = 0;
  /** Where the data of a load came from: a number that each processor gives its own meaning. */
  dataSource = -1;
  /** CONTEXTIDR: Linux puts the thread's number there. */
  context = -1;
  /** Cycles from dispatch to completion. */
  totalLatency = -1;
  /** Cycles until it was issued. */
  issueLatency = -1;
  /** Cycles that the address took to be translated. */
  translationLatency = -1;
  hasTime = false;
  /** Ticks of the generic timer. */
  timeLo = 0;
  timeHi = 0;

  /** Makes everything absent. */
  clear(): void {
    this.hasPc = false;
    this.pcLo = 0;
    this.pcHi = 0;
    this.level = 0;
    this.targetLo = 0;
    this.targetHi = 0;
    this.addressLo = 0;
    this.addressHi = 0;
    this.physicalLo = 0;
    this.physicalHi = 0;
    this.events = 0;
    this.operationClass = -1;
    this.operation = 0;
    this.dataSource = -1;
    this.context = -1;
    this.totalLatency = -1;
    this.issueLatency = -1;
    this.translationLatency = -1;
    this.hasTime = false;
    this.timeLo = 0;
    this.timeHi = 0;
  }
}
