/** File names of readperf's tables, and of perfconv's own, which is written if branches were recorded. */
export const CSV_TABLE_NAMES = ['stat.csv', 'overview.csv', 'processes.csv', 'results.csv', 'branches.csv'] as const;

export type CsvTableName = (typeof CSV_TABLE_NAMES)[number];
