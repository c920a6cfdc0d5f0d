import type { Diagnostics } from '../../base/problems/diagnostics.ts';

/** Bytes of the magic number with which a recording begins. */
export const MAGIC_BYTES = 8;
/** Bytes of the header of a recording in pipe form: the magic number and this size. */
export const PIPE_HEADER_BYTES = 16;

export interface RecordingMagic {
  readonly littleEndian: boolean;
  /** 1: PERFFILE, of perf before Linux 3.2; 2: PERFILE2. */
  readonly version: 1 | 2;
}

/** The magic shows the version and, by its direction, the byte order. */
const MAGICS: Readonly<Record<string, RecordingMagic>> = {
  PERFILE2: { littleEndian: true, version: 2 },
  '2ELIFREP': { littleEndian: false, version: 2 },
  PERFFILE: { littleEndian: true, version: 1 },
  ELIFFREP: { littleEndian: false, version: 1 },
};

const FIRST_BYTES: ReadonlySet<number> = new Set(Object.keys(MAGICS).map((magic) => magic.charCodeAt(0)));

/** Whether a magic number can begin with a byte: a test that is fast enough for each byte of a search. */
export function mayBeMagic(firstByte: number): boolean {
  return FIRST_BYTES.has(firstByte);
}

/** @param start the first bytes of what may be a recording @returns undefined if it is something else, or too short */
export function readMagic(start: Uint8Array): RecordingMagic | undefined {
  const magic = magicOf(start);
  return Object.hasOwn(MAGICS, magic) ? MAGICS[magic] : undefined;
}

/** The first bytes as a text, a character for each. */
export function magicOf(start: Uint8Array): string {
  // Not with a latin1 decoder: browsers and newer versions of Node treat that as windows-1252, where gzip's 0x8b is another character.
  return String.fromCharCode(...start.subarray(0, MAGIC_BYTES));
}

/** Reports another recording right after the one that is read, as `cat a.data b.data` leaves it: nothing in the first one leads there. */
export function reportSecondRecording(diagnostics: Diagnostics, offset: number | undefined): void {
  diagnostics.add('second-recording', 'warning', 'the recording is followed by another one, which is not read: give each recording a file of its own', offset);
}
