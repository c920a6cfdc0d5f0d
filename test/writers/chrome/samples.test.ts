import { expect, it } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { CallTree } from '../../../src/writers/call-tree.ts';
import { SampledProfileWriter } from '../../../src/writers/chrome/samples.ts';
import { JsonWriter } from '../../../src/writers/json-text.ts';

/** Two functions that nothing calls: node 0 is `a`, node 1 is `b`. */
class TwoFunctions extends CallTree {
  constructor() {
    super(['a', 'b'].map((name) => ({ name, file: '', line: 0, isKernel: false })));
    for (const frame of [0, 1]) this.add(-1, frame);
  }
}

it('chrome: a stack that stays the same is written only once per stride, unless there is a gap', async () => {
  const sink = new BufferSink();
  const out = new JsonWriter(sink);
  const startUs = Float64Array.of(1, 11, 21, 31, 34, 44);
  const endUs = Float64Array.of(11, 21, 31, 33, 44, 50);
  await new SampledProfileWriter(out, new TwoFunctions(), 'perfetto').write(1, 1, { startUs, endUs, node: Uint32Array.of(0, 0, 0, 0, 0, 1), clippedNs: 0 }, 15);
  await out.flush();
  const [, chunk] = JSON.parse(`[${sink.text().slice(1)}]`);
  const { cpuProfile, timeDeltas } = chunk.args.data;
  const names = cpuProfile.samples.map((id: number) => cpuProfile.nodes.find((node: { id: number }) => node.id === id).callFrame.functionName);
  expect(names.map((name: string, i: number) => `${timeDeltas[i]} ${name}`)).toEqual(['0 a', '20 a', '13 a', '10 b']);
});
