import { Duplex } from 'node:stream';

/** The two ends of a connection inside this process: each reads what the other writes. */
export function streamPair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  /** What each end has written, and tells when the other one wants more. */
  const takers: (() => void)[] = [() => {}, () => {}];
  for (const [own, other] of [
    [0, 1],
    [1, 0],
  ]) {
    ends[own] = new Duplex({
      read() {
        takers[other]();
        takers[other] = () => {};
      },
      write(chunk, _encoding, done) {
        if (ends[other].push(chunk)) done();
        else takers[own] = done;
      },
      final(done) {
        ends[other].push(null);
        done();
      },
    });
  }
  return [ends[0], ends[1]];
}
