import type { ByteSink } from '../base/streams/byte-sink.ts';
import { WebCompressor } from '../base/streams/web-compressor.ts';
import type { Compressor } from './platform.ts';

/** Compresses with gzip, by the engine's CompressionStream. */
export class WebGzipSink extends WebCompressor implements Compressor {
  /** @throws PerfconvError `unsupported` if the engine has none */
  constructor(target: ByteSink) {
    super(target, 'gzip', ': give gzip: false');
  }
}
