/**
 * The values that options take, for whoever reads them from text: a command line, a form. Each list stands where it is
 * used, in its writer; nothing here decodes a recording or looks up symbols.
 */
export { PPROF_LABELS, type PprofLabel } from './writers/pprof-labels.ts';
export { REPORT_KEYS, type ReportKey } from './writers/report-keys.ts';
export { SCRIPT_FIELDS, type ScriptField } from './writers/script.ts';

export const WEIGHTS = ['period', 'samples'] as const;
export const GROUPS = ['thread', 'process', 'cpu', 'all'] as const;
export const CHROME_STYLES = ['auto', 'events', 'profile'] as const;
