import type { RecordingSource } from '../bytes/byte-source.ts';
import type { RecordingContext } from '../symbols/symbolizer-options.ts';

/** An input that is open, and what is known of it beside its bytes. */
export interface OpenInput extends RecordingContext {
  readonly source: RecordingSource;
}
