import type { ByteSink } from '../../base/byte-sink.ts';

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
/** First byte of U+F000 to U+FFFF in UTF-8, among which are full-width forms of the above, which spreadsheets take for them. */
const FULL_WIDTH = 0xef;

/**
 * Makes tables in which no name is a formula: what opens the tables by `openTable` puts an apostrophe before whatever a spreadsheet would compute.
 * Source: OWASP, "CSV Injection".
 */
export function withoutFormulas(openTable: (fileName: string) => Promise<ByteSink>): (fileName: string) => Promise<ByteSink> {
  return async (fileName) => new FormulaGuard(await openTable(fileName));
}

/**
 * CSV (RFC 4180) on its way to a sink, with an apostrophe before each text that begins with `=`, `+`, `-`, `@`, a tab or a line break. It
 * looks at bytes, so that it holds for every column of every table. The one number with a sign, the pid −1 of what is of no process, begins its row, and
 * no text of a recording does without quotes. A semicolon, a tab or a line break in a text begins a cell,
 * too: where decimals have a comma, spreadsheets split lines at semicolons and know no quotes in the middle.
 */
class FormulaGuard implements ByteSink {
  readonly #target: ByteSink;
  #buffer = new Uint8Array(0);
  #isQuoted = false;
  /** Whether the next byte may be a cell's first. */
  #isStart = true;
  /** Whether it may be a row's first, without quotes. */
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
        // A quote within a text is two, which end and begin it.
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
