import type { ByteSink } from '../../base/streams/byte-sink.ts';

const TAB = 9;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const APOSTROPHE = 39;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const SEMICOLON = 59;
const EQUALS = 61;
const AT = 64;
/**
 * First UTF-8 byte of U+F000 to U+FFFF. These include the full-width forms of the signs above, which spreadsheets treat
 * as the signs themselves.
 */
const FULL_WIDTH = 0xef;

/**
 * A table in which no text is a formula: each text that a spreadsheet would run gets an apostrophe in front. Source: OWASP, "CSV Injection".
 * @param table where it is written to
 */
export function withoutFormulas(table: ByteSink): ByteSink {
  return new FormulaGuard(table);
}

/**
 * Passes CSV (RFC 4180) on to a sink, with an apostrophe before each text that begins with `=`, `+`, `-`, `@`, a tab or
 * a line break. It works on bytes, and so covers every column of every table.
 *
 * - The only signed number, pid −1 for what belongs to no process, is the first cell of its row. Texts from a recording
 *   are never there without quotes, so an unquoted `-` at the start of a row is left alone.
 * - A semicolon, tab or line break inside a text starts a cell, too: if the decimal separator is a comma, spreadsheets split lines at semicolons and do not
 *   honor quotes in the middle of a cell.
 */
class FormulaGuard implements ByteSink {
  readonly #target: ByteSink;
  #buffer = new Uint8Array(0);
  #isQuoted = false;
  /** Whether the next byte may be the first of a cell. */
  #isStart = true;
  /** Whether the next byte is the first of a row. */
  #isRowStart = true;

  constructor(target: ByteSink) {
    this.#target = target;
  }

  write(chunk: Uint8Array): Promise<void> {
    if (this.#buffer.length < chunk.length * 2) this.#buffer = new Uint8Array(chunk.length * 2);
    const buffer = this.#buffer;
    let length = 0;
    for (const byte of chunk) {
      if (byte === QUOTE) {
        // A quote inside a quoted text is doubled: the first one ends the text, the second one resumes it.
        this.#isStart &&= !this.#isQuoted;
        this.#isQuoted = !this.#isQuoted;
      } else {
        const isBreak = byte === TAB || byte === LINE_FEED || byte === CARRIAGE_RETURN;
        const isNumber = this.#isRowStart && byte === MINUS;
        if (this.#isStart && !isNumber && (isFormula(byte) || (isBreak && this.#isQuoted))) buffer[length++] = APOSTROPHE;
        this.#isStart = isBreak || byte === SEMICOLON || (byte === COMMA && !this.#isQuoted) || (byte === SPACE && this.#isStart);
      }
      this.#isRowStart = byte === LINE_FEED && !this.#isQuoted;
      buffer[length++] = byte;
    }
    return this.#target.write(buffer.subarray(0, length));
  }
}

function isFormula(byte: number): boolean {
  return byte === EQUALS || byte === PLUS || byte === MINUS || byte === AT || byte === FULL_WIDTH;
}
