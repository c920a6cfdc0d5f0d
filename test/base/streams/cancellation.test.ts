import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { type Cancellation, cancellable } from '../../../src/base/streams/cancellation.ts';

const reason = new Error('no longer wanted');
const aborted = AbortSignal.abort(reason);

describe('a call with a signal', () => {
  test('is not begun if the signal is aborted', async () => {
    let isBegun = false;
    const call = cancellable(aborted, async () => {
      isBegun = true;
    });
    await expect(call).rejects.toBe(reason);
    expect(isBegun).toBe(false);
  });

  test('is given up between its steps, even if these only compute', async () => {
    const controller = new AbortController();
    const call = cancellable(controller.signal, async (cancellation) => {
      // Without a turn of the event loop, this would never end.
      setImmediate(() => controller.abort(reason));
      for (;;) await cancellation.checkpoint();
    });
    await expect(call).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('throws the reason in place of an error that the signal has caused', async () => {
    const controller = new AbortController();
    const call = cancellable(controller.signal, async () => {
      controller.abort(reason);
      throw new Error('the connection was closed');
    });
    await expect(call).rejects.toBe(reason);
  });

  test('is over at its end: what is still read from its sources is not given up', async () => {
    const controller = new AbortController();
    let call: Cancellation | undefined;
    const source = await cancellable(controller.signal, async (cancellation) => {
      call = cancellation;
      expect(cancellation.signal).toBe(controller.signal);
      return cancellation.source(new BufferSource(Uint8Array.of(1, 2, 3)));
    });
    controller.abort(reason);
    expect(call?.signal).toBeUndefined();
    expect(await source.readAt(0, new Uint8Array(8))).toBe(3);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('does not wait for what may never come, and listens only once', async () => {
    const controller = new AbortController();
    const call = cancellable(controller.signal, async (cancellation) => {
      const stream = cancellation.streamSink({ write: () => new Promise(() => {}) });
      const writes = Promise.allSettled([stream.write(new Uint8Array(1)), stream.write(new Uint8Array(1))]);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
      controller.abort(reason);
      return await writes;
    });
    const given = { status: 'rejected', reason };
    expect(await call).toEqual([given, given]);
  });
});

test('without a signal, sources and sinks are what they were', async () => {
  const source = new BufferSource(new Uint8Array(1));
  const sink = { write: async () => {} };
  await cancellable(undefined, async (cancellation) => {
    expect([cancellation.source(source), cancellation.sink(sink), cancellation.streamSink(sink)]).toEqual([source, sink, sink]);
    expect(cancellation.source(source)).toBe(source);
    await cancellation.checkpoint();
  });
});
