/** Standard input or standard output, where a path is asked for. */
export const STANDARD_STREAM = '-';

/** What perf calls a recording unless it is told otherwise. */
export const DEFAULT_RECORDING = 'perf.data';
