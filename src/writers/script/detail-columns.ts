import { hexAddress } from '../../profile/names.ts';
import type { RegisterNames, RegisterSet, SampleDetails } from '../../profile/sample-details.ts';
import { dataSourceText } from './data-source.ts';
import type { ScriptField } from './field-requests.ts';

const REGISTER_WIDTH = 5;
const UNKNOWN_REGISTER = 'unknown';

/** Width of addresses and numbers. */
const NUMBER_WIDTH = 16;

/**
 * Prints the columns that show details of samples, as perf script prints them. Source of the formats: observed, perf 6.1. Details that a sample does not have
 * are not printed.
 */
export class DetailColumns {
  readonly #details: SampleDetails;
  readonly #likePerf: boolean;
  readonly #placeText: (location: number, fields: ReadonlySet<ScriptField>) => string;
  /** perf pads the text of a data source to the longest one so far. */
  #longestSource = 0;

  /** @param placeText what follows an address whose location is known: symbol and DSO, as far as the fields ask for them */
  constructor(details: SampleDetails, likePerf: boolean, placeText: (location: number, fields: ReadonlySet<ScriptField>) => string) {
    this.#placeText = placeText;
    this.#details = details;
    this.#likePerf = likePerf;
  }

  /** The cpumode of the record: K, U or H for the host's kernel, user code and hypervisor; G or g for a guest's. */
  misc(row: number): string {
    const mode = this.#details.misc(row) & 7;
    const letters = `${mode & 1 ? 'K' : ''}${mode & 2 ? 'U' : ''}${(mode & 3) === 3 ? 'H' : ''}${mode & 4 ? 'G' : ''}${(mode & 5) === 5 ? 'g' : ''}`;
    return `${letters.padEnd(5)} `;
  }

  /**
   * The columns between the event and the address.
   * @param hasWeightStruct whether the weight is split into three (PERF_SAMPLE_WEIGHT_STRUCT)
   */
  beforeIp(row: number, fields: ReadonlySet<ScriptField>, hasWeightStruct: boolean): string {
    const details = this.#details;
    let text = '';
    if (fields.has('addr') && details.has(row, 'addr')) text += this.#address(row, fields);
    if (fields.has('data_src') && details.has(row, 'dataSrc')) text += this.#dataSource(row);
    if (details.has(row, 'weight')) {
      const lo = details.lo(row, 'weight');
      const hi = details.hi(row, 'weight');
      const weight = hasWeightStruct ? String(lo) : String((BigInt(hi) << 32n) | BigInt(lo));
      if (fields.has('weight')) text += weight.padStart(NUMBER_WIDTH);
      if (fields.has('ins_lat') && hasWeightStruct) text += String(hi & 0xffff).padStart(NUMBER_WIDTH);
    }
    return text;
  }

  /**
   * The registers, after the address or the callchain.
   * @param names of each set's registers
   */
  registers(row: number, fields: ReadonlySet<ScriptField>, names: RegisterNames | undefined): string {
    let text = '';
    if (fields.has('iregs')) text += this.#registerSet(row, 'regsIntr', names);
    if (fields.has('uregs')) text += this.#registerSet(row, 'regsUser', names);
    return text;
  }

  /** The columns after registers and branches. */
  afterIp(row: number, fields: ReadonlySet<ScriptField>, isBpfOutput: boolean): string {
    const details = this.#details;
    let text = '';
    if (fields.has('bpf-output') && isBpfOutput) text += bpfOutputText(details.raw(row));
    if (fields.has('phys_addr') && details.has(row, 'physAddr')) {
      text += hexAddress(details.lo(row, 'physAddr'), details.hi(row, 'physAddr')).padStart(NUMBER_WIDTH);
    }
    for (const [field, value] of [
      ['data_page_size', 'dataPageSize'],
      ['code_page_size', 'codePageSize'],
    ] as const) {
      if (fields.has(field) && details.has(row, value)) text += ` ${pageSizeText(details.hi(row, value) * 2 ** 32 + details.lo(row, value))}`;
    }
    return text;
  }

  /** The address; that of a page fault with what is there. */
  #address(row: number, fields: ReadonlySet<ScriptField>): string {
    const details = this.#details;
    const text = hexAddress(details.lo(row, 'addr'), details.hi(row, 'addr')).padStart(NUMBER_WIDTH);
    const place = details.place(row);
    return place < 0 ? text : text + this.#placeText(place, fields);
  }

  #registerSet(row: number, set: RegisterSet, names: RegisterNames | undefined): string {
    const registers = this.#details.registers(row, set);
    if (registers === undefined) return '';
    const { abi, words } = registers;
    let text = ` ABI:${abi} `;
    for (let i = 0; i < words.length / 2; i++) {
      const name = names?.[set][i] ?? UNKNOWN_REGISTER;
      text += `${name.padStart(REGISTER_WIDTH)}:0x${hexAddress(words[i * 2], words[i * 2 + 1])} `;
    }
    return text;
  }

  #dataSource(row: number): string {
    const lo = this.#details.lo(row, 'dataSrc');
    const hi = this.#details.hi(row, 'dataSrc');
    const text = dataSourceText(lo, hi, this.#likePerf);
    this.#longestSource = Math.max(this.#longestSource, text.length);
    return `${hexAddress(lo, hi).padStart(NUMBER_WIDTH)} ${text.padEnd(this.#longestSource)}`;
  }
}

const PAGE_UNITS = ['B', 'K', 'M', 'G', 'T', 'P'];

function pageSizeText(bytes: number): string {
  if (bytes === 0) return 'N/A';
  let size = bytes;
  let unit = 0;
  for (; size > 1024 && unit < PAGE_UNITS.length - 1; unit++) size = Math.floor(size / 1024);
  return `${size}${PAGE_UNITS[unit]}`;
}

const BPF_BYTES_PER_LINE = 8;

/** The output of a BPF program as a hex dump, and also as text if it is printable and ends in NUL. */
function bpfOutputText(bytes: Uint8Array): string {
  if (bytes.length === 0) return '';
  let text = '\n';
  for (let at = 0; at < bytes.length; at += BPF_BYTES_PER_LINE) {
    const line = Array.from(bytes.subarray(at, at + BPF_BYTES_PER_LINE));
    const hex = line.map((byte) => ` ${byte.toString(16).padStart(2, '0')}`).join('');
    const characters = line.map((byte) => (isPrintable(byte) ? String.fromCharCode(byte) : '.')).join('');
    const label = at === 0 ? 'BPF output:' : '';
    text += `${label.padStart(17)} ${at.toString(16).padStart(4, '0')}:${hex.padEnd(BPF_BYTES_PER_LINE * 3)}  ${characters.padEnd(BPF_BYTES_PER_LINE)}\n`;
  }
  const nul = bytes.indexOf(0);
  const isText = nul >= 0 && bytes.subarray(0, nul).every(isPrintable) && bytes.subarray(nul).every((byte) => byte === 0);
  return isText ? `${text}${'BPF string:'.padStart(17)} "${new TextDecoder().decode(bytes.subarray(0, nul))}"\n` : text;
}

function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f;
}
