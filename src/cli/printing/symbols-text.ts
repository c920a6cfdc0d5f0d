import { COMMAND_LINE_OPTIONS } from '../../base/problems/option-words.ts';
import { printable } from '../../base/text/printable.ts';
import { wordList } from '../../base/text/word-list.ts';
import type { DsoSymbols } from '../../naming/dso-symbols.ts';
import { symbolHelp } from '../../naming/symbol-help.ts';
import { wordWrap } from './word-wrap.ts';

type Place = DsoSymbols['places'][number];

const LABELS: Readonly<Record<Exclude<Place['outcome'], 'fits'>, string>> = {
  absent: 'not there',
  forbidden: 'no permission',
  damaged: 'not readable',
  'other-build-id': 'different file',
  'other-crc': 'different file',
  refused: 'not trusted',
  failed: 'no answer',
  skipped: 'not asked',
};
const USES: Readonly<Record<Place['uses'][number], readonly string[]>> = { addresses: ['addresses'], symbols: ['functions'], lines: ['files', 'lines'] };
const LABEL_COLUMNS = 14;
/** Where texts are wrapped. Paths never are. */
const LINE_COLUMNS = 100;
const TEXT_COLUMNS = LINE_COLUMNS - LABEL_COLUMNS - 3;

/**
 * What `--explain-symbols` prints for each binary: how many of its addresses have names, which places were searched in which order and with what outcome, and,
 * if something is missing, what would help.
 */
export function symbolsText(dsos: readonly DsoSymbols[]): string {
  const parts = dsos.map((dso) => dsoLines(dso, dsos).map(printable).join('\n'));
  const head = `symbols of ${dsos.length} ${dsos.length === 1 ? 'binary' : 'binaries'}, the most sampled first`;
  return `${[head, ...parts].join('\n\n')}\n`;
}

function dsoLines(dso: DsoSymbols, dsos: readonly DsoSymbols[]): string[] {
  const { name, buildId, samples, allSamples, locations, namedLocations, lineLocations, places } = dso;
  const percent = allSamples === 0 ? 0 : (100 * samples) / allSamples;
  const share = samples === 0 ? 'no samples of its own, callers only' : `${percent.toFixed(1)} % of the samples (${samples})`;
  const lines = [
    name,
    `  ${share}; ${locations} ${locations === 1 ? 'address' : 'addresses'}: ${namedText(namedLocations, locations)}${lineText(lineLocations, locations)}`,
  ];
  if (buildId !== '') lines.push(`  build id ${buildId}`);
  if (places.length === 0) lines.push(`  ${namedLocations > 0 ? 'the recording itself has the names' : 'nothing to look for: this is not a file'}`);
  let before = '';
  for (const found of places) {
    const place = { ...found, uses: usesOf(found, dso) };
    const label = labelOf(place);
    lines.push(entry(label === before ? '' : label, place.place));
    before = label;
    const detail = detailOf(place, found.uses);
    if (detail !== '') lines.push(...wordWrap(detail, TEXT_COLUMNS).map((line) => entry('', line)));
  }
  const help = symbolHelp(dso, dsos, COMMAND_LINE_OPTIONS);
  if (help !== '') lines.push(...wordWrap(help, TEXT_COLUMNS).map((line, i) => entry(i === 0 ? 'what helps' : '', line)));
  return lines;
}

function entry(label: string, text: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS)} ${text}`;
}

function namedText(named: number, all: number): string {
  return named === all ? 'all named' : `${named === 0 ? 'none' : named} named`;
}

/** Empty if lines were not searched for. */
function lineText(withLine: number | undefined, all: number): string {
  if (withLine === undefined) return '';
  return `, ${withLine === 0 ? 'none' : withLine === all ? 'all' : withLine} with a line`;
}

function labelOf({ outcome, uses }: Place): string {
  if (outcome !== 'fits') return LABELS[outcome];
  return uses.length > 0 ? 'used' : 'not useful';
}

/** The uses of a place that named something: symbols of other addresses name nothing. */
function usesOf({ uses }: Place, { namedLocations, lineLocations }: DsoSymbols): Place['uses'] {
  if (namedLocations === 0) return [];
  return lineLocations === 0 ? uses.filter((use) => use !== 'lines') : uses;
}

/** What a file lacks, by the best of its symbol tables. */
const LACKED_SYMBOLS: Readonly<Record<NonNullable<Place['holds']['symbols']>, readonly string[]>> = {
  symtab: [],
  gopclntab: ['no symbols but those of Go’s runtime (.gopclntab)'],
  dynsym: ['no symbols but those of dynamic linking (.dynsym)'],
  none: ['no symbols'],
};

/** @param taken what the place was used for; {@link Place.uses} are those that named something */
function detailOf({ outcome, detail, uses, holds }: Place, taken: Place['uses']): string {
  if (outcome !== 'fits') return detail;
  const isByGoTable = holds.symbols === 'gopclntab' && uses.includes('symbols');
  const used =
    uses.length === 0 ? [] : [`for ${wordList(uses.flatMap((use) => USES[use]))}${isByGoTable ? ', from the table of Go’s runtime (.gopclntab)' : ''}`];
  const unused = [
    ...(taken.includes('symbols') && !uses.includes('symbols') ? ['it names none of the addresses'] : []),
    ...(taken.includes('lines') && !uses.includes('lines') ? ['it has no lines for them'] : []),
  ];
  const lacks = [
    ...(holds.symbols === undefined || isByGoTable ? [] : LACKED_SYMBOLS[holds.symbols]),
    ...(holds.debugInfo === false && !uses.includes('lines') ? ['no debug information'] : []),
  ];
  const unusedText = unused.length > 0 ? [unused.join(', and ')] : [];
  return [...used, ...unusedText, ...(lacks.length > 0 ? [`it has ${wordList(lacks)}`] : []), ...(detail === '' ? [] : [detail])].join('; ');
}
