import { grown } from '../../base/tables/growable.ts';
import type { CarriedTrace } from '../../perfdata/stream/record-visitor.ts';

/** A part of a buffer's contents. */
export interface AuxPiece {
  /** Its bytes, or where they are. */
  readonly trace: CarriedTrace;
  /** Where they were in the buffer, which counts on as it is written again from its start. */
  readonly offset: number;
  /** Position in the file of the record that they follow. */
  readonly nr: number;
}

/** What an AUX record says about the part of a buffer that it adds. */
export interface AuxRange {
  readonly start: number;
  readonly end: number;
  /** When the part was complete; NaN if that is not known. */
  readonly timeNs: number;
  /** The thread that wrote all of it; −1 if that is not known. */
  readonly pid: number;
  readonly tid: number;
}

/** A buffer that the processor writes a trace to. */
export class AuxBuffer {
  /** −1 for that of a thread. */
  readonly cpu: number;
  /** −1 for that of a CPU. */
  readonly tid: number;
  readonly pieces: AuxPiece[] = [];
  readonly ranges = new AuxRanges();

  constructor(cpu: number, tid: number) {
    this.cpu = cpu;
    this.tid = tid;
  }
}

/** The parts of a buffer by the records that announced them, in order. */
export class AuxRanges {
  #size = 0;
  /** The first part that does not end before the byte that was asked for last. */
  #next = 0;
  #start = new Float64Array(4);
  #end = new Float64Array(4);
  #timeNs = new Float64Array(4);
  #pid = new Int32Array(4);
  #tid = new Int32Array(4);

  add({ start, end, timeNs, pid, tid }: AuxRange): void {
    const at = this.#size++;
    this.#start = grown(this.#start, this.#size);
    this.#end = grown(this.#end, this.#size);
    this.#timeNs = grown(this.#timeNs, this.#size);
    this.#pid = grown(this.#pid, this.#size);
    this.#tid = grown(this.#tid, this.#size);
    this.#start[at] = start;
    this.#end[at] = end;
    this.#timeNs[at] = timeNs;
    this.#pid[at] = pid;
    this.#tid[at] = tid;
  }

  /** Place of the part that a byte of the buffer is in; −1 if none is known. To be asked for one byte after another. */
  find(offset: number): number {
    while (this.#next < this.#size && offset >= this.#end[this.#next]) this.#next++;
    return this.#next < this.#size && offset >= this.#start[this.#next] ? this.#next : -1;
  }

  timeNs(place: number): number {
    return this.#timeNs[place];
  }

  pid(place: number): number {
    return this.#pid[place];
  }

  tid(place: number): number {
    return this.#tid[place];
  }
}
