/** Text that came with a recording: each layout writes it so that it stays one name. */
export interface RecordedName {
  readonly name: string;
}

/** A line of text, in which names are marked. */
export type TextLine = readonly (string | RecordedName)[];

/** A column of numbers, which are right-aligned. */
export interface NumberColumn<Row> {
  readonly name: string;
  /** The least width in plain text. */
  readonly width: number;
  /** Whether it is left out where names need the room. */
  readonly isOptional?: boolean;
  readonly text: (row: Row) => string;
  /** Colors the padded text for a terminal. Default: none. */
  readonly paint?: (text: string, row: Row) => string;
}

/** A column of names. */
export interface NameColumn<Row> {
  readonly name: string;
  readonly text: (row: Row) => string;
  /** A lower bound of the text's length, if that is cheaper than the text. */
  readonly length?: (row: Row) => number;
  /** Whether the end of a long name says more than its beginning, as in a path. */
  readonly isPath?: boolean;
}

/** A table for people, in whatever layout. */
export interface Table<Row> {
  readonly headlines: readonly TextLine[];
  readonly numbers: readonly NumberColumn<Row>[];
  readonly names: readonly NameColumn<Row>[];
  readonly rows: readonly Row[];
  readonly notes: readonly TextLine[];
}
