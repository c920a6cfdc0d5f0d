import type { CallTree } from '../call-tree.ts';
import { type JsonWriter, utf8 } from '../json-text.ts';
import { FrameBytes } from './frame-bytes.ts';
import type { StackSpans } from './stack-spans.ts';
import { eventName } from './text.ts';

const CLOSE_BRACE = 0x7d;
const DUR = utf8(',"dur":');

/**
 * Writes the bars of a flame chart as nested `X` events, callers first. They have no `args`, which speedscope would
 * show in the names.
 */
export class SpanEventWriter {
  readonly #tree: CallTree;
  /** The start of an event, up to its category. */
  readonly #frames: FrameBytes;

  /** @param tree a complete tree, with all nodes that bars refer to */
  constructor(tree: CallTree) {
    this.#tree = tree;
    this.#frames = new FrameBytes(tree.frames, {
      before: ',\n{"ph":"X","name":',
      nameOf: eventName,
      after: ({ isKernel }) => `,"cat":"${isKernel ? 'kernel' : 'user'}"`,
    });
  }

  /** Writes the bars of a track. A comma and a line end come before each event. */
  async write(out: JsonWriter, spans: StackSpans, pid: number, tid: number): Promise<void> {
    const track = trackText(pid, tid);
    for (let bar = 0; bar < spans.size; bar++) {
      // hot
      const start = spans.startUs[bar];
      this.#frames.write(out, this.#tree.frame(spans.node[bar]));
      out.bytes(track);
      out.number(start);
      out.bytes(DUR);
      out.number(spans.endUs[bar] - start);
      out.char(CLOSE_BRACE);
      if (out.isFull) await out.flush();
    }
  }
}

function trackText(pid: number, tid: number): Uint8Array {
  return utf8(`,"pid":${pid},"tid":${tid},"ts":`);
}
