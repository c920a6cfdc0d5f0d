import type { Features } from '../../perfdata/features/features.ts';
import {
  CLASS_MEMORY,
  EVENT_L1D_ACCESS,
  EVENT_L1D_REFILL,
  EVENT_LLC_ACCESS,
  EVENT_LLC_MISS,
  EVENT_REMOTE_ACCESS,
  EVENT_TLB_ACCESS,
  EVENT_TLB_WALK,
  OPERATION_STORE,
  type SpeOperation,
} from '../../spe/operation.ts';

// Fields of `data_src`. Source: perf_event.h, union perf_mem_data_src.
const OP_LOAD = 1 << 1;
const OP_STORE = 1 << 2;
const LVL = 5;
const LVL_NA = 1 << LVL;
const LVL_HIT = 2 << LVL;
const LVL_MISS = 4 << LVL;
const LVL_L1 = 8 << LVL;
const LVL_L2 = 0x20 << LVL;
const LVL_L3 = 0x40 << LVL;
const LVL_LOCAL_RAM = 0x80 << LVL;
const SNOOP_NA = 1 << 19;
const SNOOP_NONE = 2 << 19;
const SNOOP_HIT = 4 << 19;
const TLB_HIT = 2 << 26;
const TLB_MISS = 4 << 26;
const TLB_WALKER = 0x20 << 26;
/** In the high word: the number of the level in bits 33 to 36, the far end of the machine, and a snoop of a peer. */
const LEVEL_1 = 1 << 1;
const LEVEL_2 = 2 << 1;
const LEVEL_3 = 3 << 1;
const LEVEL_RAM = 0xd << 1;
const LEVEL_NA = 0xf << 1;
const REMOTE = 1 << 5;
const SNOOP_PEER = 2 << 6;

/** The high word of what a data source stands for, and the low one. */
interface Source {
  readonly hi: number;
  readonly lo: number;
}

/** Stores have no data source. */
const STORE_SOURCE: Source = { hi: LEVEL_NA, lo: LVL_NA | SNOOP_NA };
const PEER_IN_CLUSTER: Source = { hi: LEVEL_3 | SNOOP_PEER, lo: LVL_L3 | LVL_HIT };

/**
 * Where loads of Neoverse cores were served from, by the number in the data source packet. Source: Arm's technical reference manuals of these cores; what perf
 * makes of them was observed: perf 6.1.
 */
const NEOVERSE_SOURCES: ReadonlyMap<number, Source> = new Map([
  [0x0, { hi: LEVEL_1, lo: LVL_L1 | LVL_HIT | SNOOP_NONE }],
  [0x8, { hi: LEVEL_2, lo: LVL_L2 | LVL_HIT | SNOOP_NONE }],
  // Another core, the cluster, another cluster.
  [0x9, { hi: LEVEL_2 | SNOOP_PEER, lo: LVL_L2 | LVL_HIT }],
  [0xa, PEER_IN_CLUSTER],
  [0xc, PEER_IN_CLUSTER],
  [0xb, { hi: LEVEL_3, lo: LVL_L3 | LVL_HIT | SNOOP_HIT }],
  [0xd, { hi: LEVEL_NA | REMOTE | SNOOP_PEER, lo: LVL_NA }],
  [0xe, { hi: LEVEL_RAM, lo: LVL_LOCAL_RAM | LVL_HIT | SNOOP_NONE }],
]);

/** Part numbers in MIDR_EL1 of Arm's cores whose data sources are those: N1, V1 and N2, then V2, which perf 6.1 does not know. */
const NEOVERSE_OF_PERF: ReadonlySet<number> = new Set([0xd0c, 0xd40, 0xd49]);
const NEOVERSE: ReadonlySet<number> = new Set([...NEOVERSE_OF_PERF, 0xd4f]);
const ARM_LIMITED = 0x41;

/** Whether the processor is one whose data sources are known. @param likePerf whether perf 6.1 knows them */
export function hasNeoverseSources({ cpuid }: Features, likePerf: boolean): boolean {
  const midr = /^0x([0-9a-f]{1,16})\b/i.exec(cpuid ?? '');
  if (midr === null) return false;
  const value = Number.parseInt(midr[1].slice(-8), 16);
  return value >>> 24 === ARM_LIMITED && (likePerf ? NEOVERSE_OF_PERF : NEOVERSE).has((value >>> 4) & 0xfff);
}

/** Makes `data_src` of a sample out of what the operation says about its memory access. */
export class SpeDataSource {
  /** The result of {@link read}. */
  lo = 0;
  hi = 0;
  readonly #isNeoverse: boolean;
  /** The number for loads that have none; −1 if the events decide. */
  readonly #absent: number;

  /**
   * @param isNeoverse whether numbers of data sources are those of Neoverse cores; else they mean nothing here
   * @param likePerf whether a load whose source the processor did not note has the number 0, a hit in the first level, as in perf 6.1 (observed)
   */
  constructor(isNeoverse: boolean, likePerf = false) {
    this.#isNeoverse = isNeoverse;
    this.#absent = likePerf ? 0 : -1;
  }

  /** Sets {@link lo} and {@link hi}; 0 for operations that access no memory. */
  read({ operationClass, operation, events, dataSource }: SpeOperation): void {
    // hot
    this.lo = 0;
    this.hi = 0;
    if (operationClass !== CLASS_MEMORY) return;
    const isStore = (operation & OPERATION_STORE) !== 0;
    this.lo = isStore ? OP_STORE : OP_LOAD;
    const source = dataSource < 0 ? this.#absent : dataSource;
    if (!this.#isNeoverse) this.#readLevel(events);
    else if (isStore) this.#add(STORE_SOURCE);
    else if (source < 0) this.#readLevel(events);
    else this.#add(NEOVERSE_SOURCES.get(source));
    if ((events & (EVENT_TLB_ACCESS | EVENT_TLB_WALK)) !== 0) this.lo |= TLB_WALKER | ((events & EVENT_TLB_WALK) !== 0 ? TLB_MISS : TLB_HIT);
    this.lo >>>= 0;
  }

  #add(source: Source | undefined): void {
    // hot
    if (source === undefined) return;
    this.lo |= source.lo;
    this.hi |= source.hi;
  }

  /** The level from the events alone: the last one that was asked. */
  #readLevel(events: number): void {
    // hot
    if ((events & (EVENT_LLC_ACCESS | EVENT_LLC_MISS)) !== 0) this.lo |= LVL_L3 | ((events & EVENT_LLC_MISS) !== 0 ? LVL_MISS : LVL_HIT);
    else if ((events & (EVENT_L1D_ACCESS | EVENT_L1D_REFILL)) !== 0) this.lo |= LVL_L1 | ((events & EVENT_L1D_REFILL) !== 0 ? LVL_MISS : LVL_HIT);
    if ((events & EVENT_REMOTE_ACCESS) !== 0) this.hi |= REMOTE;
  }
}
