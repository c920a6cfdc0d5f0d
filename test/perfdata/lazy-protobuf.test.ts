import { expect, it, vi } from 'vitest';
import { encodeFile, type ForeignFeature, hiperfFeatures, simpleperfFeatures } from '../support/builders/recordings/perf-encoder.ts';
import { CLOCK } from '../support/builders/recordings/recorded-app.ts';

it('the package that reads protobuf is loaded for recordings of simpleperf, and not for those of hiperf', async () => {
  // Other tests may have loaded it.
  vi.resetModules();
  const { ProtobufReader } = await import('../../src/simpleperf/protobuf-reader.ts');
  const { decode } = await import('../support/readers/decode.ts');
  const read = (feature: ForeignFeature) => decode(encodeFile({ attrs: [CLOCK], records: [], foreignFeatures: [feature] }));
  await read(hiperfFeatures.symbols([]));
  expect(() => new ProtobufReader(new Uint8Array(0), 0)).toThrow('protobuf');
  await read(simpleperfFeatures.metaInfo({}));
  expect(new ProtobufReader(new Uint8Array(0), 0).at).toBe(0);
});
