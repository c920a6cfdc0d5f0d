/** One frame of a printed chain, or the address of a sample without chain. */
export interface ScriptFrame {
  /** Hex digits as printed. */
  readonly ip: string;
  /** `name+0x1f`, `[unknown]`, or just a name if offsets are not printed. */
  readonly symbol: string;
  readonly dso: string;
}

/** One sample as `perf script` prints it. A column that is not printed is undefined. */
export interface ScriptSample {
  /** Number of its first line, from 1. */
  readonly line: number;
  readonly comm: string;
  readonly pid: string | undefined;
  readonly tid: string;
  readonly cpu: string | undefined;
  readonly time: string | undefined;
  readonly period: string | undefined;
  readonly event: string;
  /** What follows the event's name on its line and is not an address: a tracepoint's text. */
  readonly trace: string;
  /** Leaf first. */
  readonly frames: readonly ScriptFrame[];
}

// The comm may contain blanks, digits and brackets, so it is what comes before the first place where the rest fits.
// The event's name may contain colons but no blank: it ends at the last colon before a blank or the line's end.
const headerLine = /^\s*(.*?) +(-?\d+)(?:\/(-?\d+))? +(?:\[(-?\d+)\] +)?(?:(\d+\.\d{6}(?:\d{3})?): +)?(?:(\d+) +)?(\S+):(?: (.*))?$/;
// Symbols may contain blanks and brackets (Go, undemangled Rust closures): the last `+0x… (` before the DSO ends them.
const frameLine = /^\s*([0-9a-f]+) (\[unknown\]|.*?\+0x[0-9a-f]+|.*?) \((.*)\)\s*$/;

/**
 * Parses what `perf script` prints by default, or with `-F comm,pid,tid,cpu,time,event,period,ip,sym,symoff,dso`, with or
 * without `--ns`. Every line must be understood.
 * @throws Error naming the line that is neither header, frame nor blank
 */
export function parsePerfScript(text: string): ScriptSample[] {
  const samples: (ScriptSample & { frames: ScriptFrame[] })[] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    if (line.startsWith('\t')) {
      const frame = parseFrame(line);
      const sample = samples.at(-1);
      if (!frame || !sample) throw new Error(`line ${index + 1}: not a frame: ${JSON.stringify(line)}`);
      sample.frames.push(frame);
      continue;
    }
    const match = headerLine.exec(line);
    if (!match) throw new Error(`line ${index + 1}: not a sample: ${JSON.stringify(line)}`);
    const [, comm = '', first = '', second, cpu, time, period, event = '', rest = ''] = match;
    const flat = parseFrame(rest);
    samples.push({
      line: index + 1,
      comm,
      pid: second === undefined ? undefined : first,
      tid: second ?? first,
      cpu,
      time,
      period,
      event,
      trace: flat ? '' : rest.trim(),
      frames: flat ? [flat] : [],
    });
  }
  return samples;
}

function parseFrame(text: string): ScriptFrame | undefined {
  const match = frameLine.exec(text);
  return match ? { ip: match[1] ?? '', symbol: match[2] ?? '', dso: match[3] ?? '' } : undefined;
}
