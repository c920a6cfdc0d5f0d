/** What readperf calls its tables, in the directory that holds them all. */
export const CSV_TABLE_NAMES = ['stat.csv', 'overview.csv', 'processes.csv', 'results.csv'] as const;

export type CsvTableName = (typeof CSV_TABLE_NAMES)[number];
