import { BufferSink } from '../../../src/base/streams/byte-sink.ts';

/** Keeps the CSV tables that are written, by file name. */
export class CollectedTables {
  readonly sinks = new Map<string, BufferSink>();

  /** Opens a table: what outputs as CSV are given. */
  readonly openTable = async (fileName: string): Promise<BufferSink> => {
    const sink = new BufferSink();
    this.sinks.set(fileName, sink);
    return sink;
  };
}
