import { ByteView } from '../base/bytes/byte-view.ts';
import type { TraceField, TraceFormat } from './format.ts';
import { TracePayload } from './payload.ts';
import { compileTracePrinter, type TracePrinter } from './printer.ts';
import type { TracingData } from './tracing-data.ts';
import type { Word } from './word.ts';

/**
 * In which state a thread left its CPU (proc(5), `/proc/PID/stat`, and the kernel's include/linux/sched.h):
 *
 * - `sleeping`: it waits, but signals can wake it (TASK_INTERRUPTIBLE: S); also idle kernel threads (I), and stopped, traced and parked threads (T, t, P)
 * - `blocked`: it waits, as for a disk, and signals cannot wake it (TASK_UNINTERRUPTIBLE: D)
 * - `preempted`: it could have gone on (R, and R+ if it did not give up the CPU by itself)
 * - `ended`: it does not come back (X, Z)
 * - `unknown`: none of these
 */
export type SwitchState = 'sleeping' | 'blocked' | 'preempted' | 'ended' | 'unknown';

/** More states than kernels have; only a hostile recording has more. */
const MAX_STATES = 4096;

/** Reads the payloads of `sched:sched_switch` by the format that came with the recording, since the meaning of a state's bits differs between kernels. */
export class SchedSwitchPayloads {
  /**
   * From the last payload read: the thread that left the CPU, and the one that runs there next, by the machine's numbers (in a container, they may have
   * others).
   */
  prevTid = -1;
  nextTid = -1;
  state: SwitchState = 'unknown';
  readonly #payload = new TracePayload();
  readonly #prevPid: TraceField;
  readonly #nextPid: TraceField;
  readonly #prevState: TraceField;
  readonly #texts: readonly TraceField[];
  readonly #show: TracePrinter;
  readonly #states = new Map<Word, SwitchState>();

  private constructor(prevPid: TraceField, nextPid: TraceField, prevState: TraceField, format: TraceFormat, data: TracingData) {
    this.#prevPid = prevPid;
    this.#nextPid = nextPid;
    this.#prevState = prevState;
    this.#texts = format.fields.filter(({ isArray }) => isArray);
    this.#show = compileTracePrinter(format, data);
  }

  /** @returns undefined if the format is not that of a switch */
  static of(format: TraceFormat, data: TracingData): SchedSwitchPayloads | undefined {
    const [prevPid, nextPid, prevState] = ['prev_pid', 'next_pid', 'prev_state'].map((wanted) =>
      format.fields.find(({ name, isArray, size }) => name === wanted && !isArray && (size === 4 || size === 8)),
    );
    if (prevPid === undefined || nextPid === undefined || prevState === undefined) return undefined;
    return new SchedSwitchPayloads(prevPid, nextPid, prevState, format, data);
  }

  /** Reads a payload of `size` bytes. @returns false if it is too short, and nothing was read */
  read(view: ByteView, at: number, size: number): boolean {
    const payload = this.#payload;
    payload.set(view, at, size);
    for (const { offset, size: bytes } of [this.#prevPid, this.#nextPid, this.#prevState]) if (offset + bytes > payload.size) return false;
    this.prevTid = this.#tid(this.#prevPid);
    this.nextTid = this.#tid(this.#nextPid);
    const word = payload.word(this.#prevState.offset, this.#prevState.size);
    let state = this.#states.get(word);
    if (state === undefined) {
      state = switchStateOf(word, this.#stateText(view, at, payload.size));
      if (this.#states.size === MAX_STATES) this.#states.clear();
      this.#states.set(word, state);
    }
    this.state = state;
    return true;
  }

  #tid({ offset, size }: TraceField): number {
    return Number(BigInt.asIntN(32, BigInt(this.#payload.word(offset, size))));
  }

  /** What the kernel's own format shows for a state, such as `R+`. It is given no texts, which might look like a state. */
  #stateText(view: ByteView, at: number, size: number): string | undefined {
    const bytes = view.bytes.slice(at, at + size);
    for (const { offset, size: length } of this.#texts) bytes.fill(0, offset, offset + length);
    return /prev_state=(\S*)/.exec(this.#show(new ByteView(bytes, view.littleEndian), 0, size))?.[1];
  }
}

/** These low bits mean the same in all kernels. Source: the kernel's include/linux/sched.h. */
const TASK_INTERRUPTIBLE = 1n;
const TASK_UNINTERRUPTIBLE = 2n;
const STOPPED_OR_TRACED = 0x4n | 0x8n;
/** Dead, zombie, and what both were before Linux 4.14. */
const ENDED = 0x10n | 0x20n;
/** Parked, or idle. Linux 4.14 to 7. */
const RESTING = 0x40n | 0x80n;

/**
 * What a state means.
 * @param text what the format shows for it: letters, separated by `|` if there are several; undefined or anything else if the format cannot be parsed
 */
function switchStateOf(word: Word, text: string | undefined): SwitchState {
  if (text === undefined || !/^[A-Za-z](?:\|[A-Za-z])*\+?$/.test(text)) return stateOfBits(BigInt(word));
  if (/[XxZ]/.test(text)) return 'ended';
  // A thread that was preempted on its way to sleep could still go on.
  if (text.startsWith('R') || text.endsWith('+')) return 'preempted';
  // Until Linux 4.14, idle threads were those that were uninterruptible and did not count as load.
  if (/[SIP]/i.test(text) || (text.includes('D') && text.includes('N'))) return 'sleeping';
  if (text.includes('D')) return 'blocked';
  return /[Tt]/.test(text) ? 'sleeping' : 'unknown';
}

function stateOfBits(bits: bigint): SwitchState {
  if (bits === 0n) return 'preempted';
  if ((bits & ENDED) !== 0n) return 'ended';
  if ((bits & TASK_INTERRUPTIBLE) !== 0n) return 'sleeping';
  if ((bits & TASK_UNINTERRUPTIBLE) !== 0n) return 'blocked';
  if ((bits & (STOPPED_OR_TRACED | RESTING)) !== 0n) return 'sleeping';
  // R+: what is left is TASK_REPORT_MAX, a single bit above those that are shown.
  return (bits & (bits - 1n)) === 0n ? 'preempted' : 'unknown';
}
