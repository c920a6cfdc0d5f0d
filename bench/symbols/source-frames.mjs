// Runs llvm-symbolizer, addr2line and perfconv-symbolize.mjs, reads their answers in one form, and classifies
// differences.

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {import('./source-frames.d.mts').Frame} Frame
 * @typedef {import('./source-frames.d.mts').Peer} Peer
 */

const OURS = fileURLToPath(new URL('./perfconv-symbolize.mjs', import.meta.url));

/** The built perfconv. @type {Peer} */
export const PERFCONV = {
  name: 'perfconv',
  hasColumns: true,
  command: (binary) => [process.execPath, OURS, binary],
  parse: parseLlvm,
};

/**
 * A program to compare with. Programs named addr2line (of GNU, LLVM or gimli) are called with that one's options, all
 * others with llvm-symbolizer's.
 * @param {string} program its name or path
 * @returns {Peer} named after the program and its version
 * @throws Error if it cannot be run
 */
export function referencePeer(program) {
  const { error, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (error) throw error;
  const own = posix.basename(program);
  const name = `${own} ${/\b\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? ''}`.trim();
  return own.includes('addr2line')
    ? { name, hasColumns: false, command: (binary) => [program, '-a', '-f', '-i', '-e', binary], parse: parseAddr2line }
    : { name, hasColumns: true, command: (binary) => [program, `--obj=${binary}`, '--inlines', '--no-demangle'], parse: parseLlvm };
}

/** Runs a program on addresses. Input and output are files, so that nobody waits for the reader of a pipe. */
export function symbolize(peer, { binary, addresses, directory, wrapper = [] }) {
  const [program, ...args] = [...wrapper, ...peer.command(binary)];
  const [input, output] = [`${directory}/addresses`, `${directory}/frames`];
  writeFileSync(input, addresses.map((address) => `0x${address.toString(16)}\n`).join(''));
  const stdin = openSync(input, 'r');
  const stdout = openSync(output, 'w');
  // No network. Node would read certificates named in its environment at each start, which takes longer than the rest
  // of it.
  const env = { ...process.env, DEBUGINFOD_URLS: '', NODE_EXTRA_CA_CERTS: '' };
  const start = process.hrtime.bigint();
  const { status, signal, error, stderr } = spawnSync(program, args, { env, stdio: [stdin, stdout, 'pipe'], encoding: 'utf8' });
  const wallSeconds = Number(process.hrtime.bigint() - start) / 1e9;
  closeSync(stdin);
  closeSync(stdout);
  if (error) throw error;
  if (status !== 0) throw new Error(`${peer.name} ended with ${signal ?? `status ${status}`}\n${stderr}`);
  return {
    wallSeconds,
    /** Its messages, for example about damage. */
    stderr,
    /** @returns {Frame[][]} frames by address, innermost first */
    frames() {
      const frames = peer.parse(readFileSync(output, 'utf8'));
      if (frames.length !== addresses.length) throw new Error(`asked ${peer.name} for ${addresses.length} addresses, got ${frames.length}`);
      return frames;
    },
  };
}

/**
 * Parses, for each address, a function and `file:line:column` per frame, then an empty line; `??` and 0 where unknown.
 */
function parseLlvm(text) {
  const blocks = text.split('\n\n');
  if (blocks.at(-1) === '') blocks.pop();
  return blocks.map((block) => {
    const lines = block.split('\n');
    const frames = [];
    for (let i = 0; i + 1 < lines.length; i += 2) {
      const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(lines[i + 1]) ?? [undefined, lines[i + 1], '0', '0'];
      frames.push(frame(lines[i], file, Number(line), Number(column)));
    }
    return frames;
  });
}

/**
 * Parses, for each address, the address (`-a`), then a function and `file:line` per frame; `??` and `?` where unknown.
 */
function parseAddr2line(text) {
  const all = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    if (/^0x[0-9a-f]{16}$/.test(lines[i]) || /^0x[0-9a-f]{8}$/.test(lines[i])) {
      all.push([]);
    } else if (i + 1 < lines.length) {
      const [, file, line] = /^(.*):(\d+|\?)(?: \(discriminator \d+\))?$/.exec(lines[i + 1]) ?? [undefined, lines[i + 1], '0'];
      all.at(-1).push(frame(lines[i], file, line === '?' ? 0 : Number(line), 0));
      i++;
    }
  }
  return all;
}

function frame(name, file, line, column) {
  return { name: name === '??' ? '' : name, file: file === '??' || file === '' ? '' : posix.normalize(file), line, column };
}

/** Differences that are choices, not errors. */
export const EXPLAINED = {
  /** An address has several symbols, as with C++ constructors. perfconv uses the one that perf uses. */
  alias: 'another name of the same symbol',
  /** A label in the middle of a function or after it does not name code in perfconv. */
  label: 'no name from a label',
  /**
   * Without debug information, the others print the file of a symbol from the symbol table, with line 0. perf does not.
   */
  symbolFile: 'no file from the ELF symbol table',
};

/**
 * How two answers for an address differ: a class of difference; empty if they are equal.
 * @param {readonly Frame[]} expected
 * @param {readonly Frame[]} actual
 * @param {{ columns: boolean, symbols?: ReadonlyMap<string, import('./elf-code.d.mts').NamedSymbol> }} options
 *   symbols: used to recognize aliases
 */
export function difference(expected, actual, { columns, symbols }) {
  const isUnknown = (frames) => frames.every(({ name, file, line }) => name === '' && file === '' && line === 0);
  if (isUnknown(expected) && isUnknown(actual)) return '';
  if (isUnknown(expected)) return 'known only to the second';
  if (isUnknown(actual)) return isLabelAlone(expected, symbols) ? EXPLAINED.label : 'known only to the first';
  if (expected.length !== actual.length) return actual.length < expected.length ? 'fewer frames' : 'more frames';
  const aspects = new Set();
  expected.forEach((one, i) => {
    const other = actual[i];
    const where = i === expected.length - 1 ? 'outermost' : 'inlined';
    if (one.name !== other.name) {
      const choice = where === 'outermost' ? choiceOfSymbol(symbols?.get(one.name), symbols?.get(other.name)) : undefined;
      aspects.add(choice ?? `${where} name${other.name === '' ? ' missing' : one.name === '' ? ' only in the second' : ''}`);
    }
    if (where === 'outermost' && one.line === 0 && one.column === 0 && other.line === 0 && one.file !== '' && other.file === '') {
      aspects.add(EXPLAINED.symbolFile);
    } else if (one.file !== other.file) {
      aspects.add(`${where} file${other.file === '' ? ' missing' : one.file === '' ? ' only in the second' : ''}`);
    }
    if (one.line !== other.line) aspects.add(`${where} line${other.line === 0 ? ' missing' : one.line === 0 ? ' only in the second' : ''}`);
    if (columns && one.column !== other.column) aspects.add(`${where} column`);
  });
  return [...aspects].sort().join(', ');
}

/** Whether nothing is known about an address but the label before it. */
function isLabelAlone(frames, symbols) {
  const [{ name, line }] = frames;
  return frames.length === 1 && line === 0 && choiceOfSymbol(symbols?.get(name), undefined) === EXPLAINED.label;
}

function choiceOfSymbol(one, other) {
  if (one === undefined) return undefined;
  if (one.address === other?.address) return EXPLAINED.alias;
  return one.isLabel && !other?.isLabel ? EXPLAINED.label : undefined;
}

/** Whether a class of {@link difference} consists only of differences in {@link EXPLAINED}. */
export function isExplained(kind) {
  return kind.split(', ').every((aspect) => Object.values(EXPLAINED).some((text) => text === aspect));
}

/** Frames on one line, innermost first. */
export function framesText(frames) {
  return frames.map(({ name, file, line, column }) => `${name || '??'} ${file || '??'}:${line}${column ? `:${column}` : ''}`).join(' < ');
}
