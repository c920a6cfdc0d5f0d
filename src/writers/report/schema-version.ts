/** Version of schema/report.schema.json. It grows when a field is removed or changes its meaning. */
export const REPORT_SCHEMA_VERSION = 1;
