import type { RecordingSource } from '../base/byte-source.ts';
import type { RecordingContext } from '../symbolizer/symbolizer-options.ts';

/** An input that is open, and what is known of it beside its bytes. */
export interface OpenInput extends RecordingContext {
  readonly source: RecordingSource;
}
