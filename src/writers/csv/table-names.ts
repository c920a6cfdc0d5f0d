/** File names of readperf's tables. */
export const CSV_TABLE_NAMES = ['stat.csv', 'overview.csv', 'processes.csv', 'results.csv'] as const;

export type CsvTableName = (typeof CSV_TABLE_NAMES)[number];
