#!/usr/bin/env node
// How perfconv's names, files and lines compare with those of llvm-symbolizer and GNU addr2line, and what each costs.
// Build first (npm run build); programs to measure on come from bench/symbols/build-programs.sh.
//
//   node bench/symbols/compare.mjs [--count 10000] [--seed 1] [--all] [--examples 2] [--without PEER]
//                                  [--time 100,10000,50000] [--rounds 3] [--like PLAIN] BINARY
//
// Asks all three, each of which finds separate debug files by itself, for the same random addresses of BINARY's code (--all: for each one, beginning at the first), with inlined
// functions and without demangling, and prints
//   - on how many the whole chain of frames is the same: function, file and line of each, with llvm-symbolizer the column, too; with and
//     without those whose difference is a choice (see EXPLAINED in source-frames.mjs);
//   - the same for those addresses on which llvm-symbolizer and addr2line agree: there is the least doubt of what is right;
//   - the differences by class, each with examples.
// --like asks the others for the same addresses of PLAIN, a program of the same code with its debug information in a form that they know.
// With --time it runs each on so many addresses, in processes of their own and in turn, and prints wall time, processor time in user
// mode and the peak of resident memory (GNU time's), the best and the median of the rounds. Addresses are sorted for all of them.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { codeSections, readSymbols } from './elf-code.mjs';
import { difference, framesText, isExplained, PEERS, symbolize } from './source-frames.mjs';

const GNU_TIME = '/usr/bin/time';
const BUILT = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
const { 'llvm-symbolizer': LLVM, addr2line: ADDR2LINE, perfconv: OURS } = PEERS;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
    examples: { type: 'string', default: '2' },
    without: { type: 'string', multiple: true, default: [] },
    time: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    like: { type: 'string' },
  },
});
const [binary] = positionals;
const plain = options.like ?? binary;
const directory = mkdtempSync(join(tmpdir(), 'perfconv-symbols-'));
try {
  if (positionals.length !== 1) throw new Error('usage: node bench/symbols/compare.mjs [options] BINARY');
  if (!existsSync(BUILT)) throw new Error('perfconv is not built: npm run build');
  const peers = [LLVM, ADDR2LINE, OURS].filter(({ name }) => !options.without.includes(name));
  if (options.time === undefined) compare(peers);
  else for (const count of options.time.split(',')) time(peers, Number(count));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}

/** Addresses of the binary's code: ascending, no two the same. */
function chooseAddresses(count) {
  const sections = codeSections(binary);
  const total = sections.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const addressAt = (position) => {
    let left = position;
    for (const { start, sizeBytes } of sections) {
      if (left < sizeBytes) return start + left;
      left -= sizeBytes;
    }
    return undefined;
  };
  if (options.all || count >= total) return Array.from({ length: total }, (_, i) => addressAt(i)).sort((a, b) => a - b);
  const random = randomNumbers(Number(options.seed));
  const positions = new Set();
  while (positions.size < count) positions.add(Math.floor(random() * total));
  return [...positions].map(addressAt).sort((a, b) => a - b);
}

/** Numbers in [0, 1), the same ones for the same seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function compare(peers) {
  const addresses = chooseAddresses(Number(options.count));
  const answers = new Map();
  for (const peer of peers) {
    const { stderr, frames } = symbolize(peer, { binary: peer === OURS ? binary : plain, addresses, directory });
    if (stderr !== '') console.error(`${peer.name} says: ${stderr.trim().split('\n').slice(0, 3).join('\n')}`);
    answers.set(peer, frames());
  }
  const symbols = readSymbols(plain);
  const differences = (first, second, columns) => addresses.map((_, i) => difference(answers.get(first)[i], answers.get(second)[i], { columns, symbols }));
  console.log(`${basename(binary)}: ${addresses.length} addresses`);
  const ours = answers.get(OURS);
  const other = [LLVM, ADDR2LINE].filter((peer) => answers.has(peer));
  if (ours !== undefined) {
    for (const peer of other) console.log(`equal to ${peer.name}: ${percent(differences(peer, OURS, peer === LLVM))}`);
  }
  if (other.length === 2) {
    const apart = differences(LLVM, ADDR2LINE, false);
    console.log(`llvm-symbolizer and addr2line agree: ${percent(apart)}`);
    if (ours !== undefined) {
      console.log(`equal where these two agree: ${percent(differences(LLVM, OURS, true).filter((_, i) => apart[i] === ''))}`);
      const places = addresses.map((_, i) => i).filter((i) => apart[i] === '');
      printClasses('where both agree (first: llvm-symbolizer, second: perfconv)', places, differences(LLVM, OURS, true));
      for (const peer of other) {
        const rest = addresses.map((_, i) => i).filter((i) => apart[i] !== '');
        printClasses(`where they do not (first: ${peer.name}, second: perfconv)`, rest, differences(peer, OURS, peer === LLVM));
      }
    } else {
      printClasses('between them (first: llvm-symbolizer, second: addr2line)', [...addresses.keys()], apart);
    }
  } else if (ours !== undefined && other.length === 1) {
    printClasses(`(first: ${other[0].name}, second: perfconv)`, [...addresses.keys()], differences(other[0], OURS, other[0] === LLVM));
  }

  function printClasses(title, places, found) {
    const classes = groupBy(places, (i) => found[i]);
    classes.delete('');
    if (classes.size === 0) return;
    console.log(`\ndifferences ${title}`);
    for (const [name, members] of [...classes].sort(([, a], [, b]) => b.length - a.length)) {
      console.log(`${String(members.length).padStart(7)}  ${name}`);
      const step = Math.max(1, Math.floor(members.length / Number(options.examples)));
      for (const i of members.filter((_, at) => at % step === 0).slice(0, Number(options.examples))) {
        console.log(`         0x${addresses[i].toString(16)}`);
        const chains = [...answers.values()].map((frames) => frames[i]);
        for (const [peer, frames] of answers) console.log(`           ${peer.name.padEnd(15)} ${framesText(frames[i].filter((_, at) => differs(chains, at)))}`);
      }
    }
  }
}

/** Whether the frames at one place of several chains are not all the same; all are, of chains of several lengths. */
function differs(chains, at) {
  const [first, ...rest] = chains;
  if (rest.some((chain) => chain.length !== first.length)) return true;
  return rest.some((chain) => difference([first[at]], [chain[at]], { columns: false }) !== '');
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

/** How many are the same; and with those whose difference is a choice. */
function percent(found) {
  const share = (count) => `${((100 * count) / Math.max(1, found.length)).toFixed(2)} %`;
  const equal = found.filter((kind) => kind === '').length;
  const explained = found.filter((kind) => kind !== '' && isExplained(kind)).length;
  return `${share(equal + explained)} of ${found.length}${explained === 0 ? '' : ` (${share(equal)} without what is a choice)`}`;
}

function time(peers, count) {
  if (!spawnSync(GNU_TIME, ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU')) throw new Error(`no GNU time at ${GNU_TIME}`);
  const addresses = chooseAddresses(count);
  const figures = new Map(peers.map((peer) => [peer, []]));
  const rounds = Number(options.rounds);
  for (let round = 1; round <= rounds; round++) {
    for (const peer of peers) {
      const file = join(directory, 'time');
      const { wallSeconds } = symbolize(peer, { binary, addresses, directory, wrapper: [GNU_TIME, '-o', file, '-f', '%U %M'] });
      const [userSeconds, peakKilobytes] = readFileSync(file, 'utf8').trim().split('\n').at(-1).split(' ').map(Number);
      figures.get(peer).push([wallSeconds, userSeconds, peakKilobytes / 1024]);
      console.error(`round ${round} of ${rounds}: ${peer.name} ${wallSeconds.toFixed(2)} s`);
    }
  }
  console.log(`${basename(binary)}: ${addresses.length} addresses, best (median) of ${rounds} rounds`);
  console.log(`${''.padEnd(16)}${['wall s', 'user s', 'peak MB'].map((title) => title.padStart(22)).join('')}`);
  for (const [{ name }, rows] of figures) {
    const cells = [0, 1, 2].map((column) => {
      const sorted = rows.map((row) => row[column]).sort((a, b) => a - b);
      return `${sorted[0].toFixed(2)} (${sorted[sorted.length >> 1].toFixed(2)})`.padStart(22);
    });
    console.log(name.padEnd(16) + cells.join(''));
  }
}
