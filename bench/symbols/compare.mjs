#!/usr/bin/env node
// Compares perfconv's names, files and lines with those of other symbolizers, and measures the cost of each.
// Build first (npm run build). bench/symbols/build-programs.sh builds programs to measure with.
//
//   node bench/symbols/compare.mjs [--reference PROGRAM]… [--count 10000] [--seed 1] [--all] [--examples 2]
//                                  [--without-perfconv] [--time 100,10000,50000] [--rounds 3] [--like PLAIN] BINARY
//
// Asks perfconv and each reference (default: llvm-symbolizer and addr2line) for the same random addresses of BINARY's
// code, or with --all for every address from the first one on. Inlined functions are included, and names are not
// demangled. Each program finds separate debug files by itself. Prints
//   - at how many addresses the whole chain of frames is the same: function, file and line of each frame, and the
//     column if both have it; with and without those whose difference is a choice (see EXPLAINED in source-frames.mjs);
//   - the same for addresses at which all references agree, where there is the least doubt about what is right;
//   - the differences by class, with examples.
//
// --reference names other programs or versions, such as llvm-symbolizer-22. Programs named addr2line are called with that one's options, all others with
// llvm-symbolizer's. --like asks the references for the same addresses of PLAIN, a program with the same code and with debug information in a form that they
// can read. --without-perfconv compares each reference with the first one. --time runs each on this many addresses, in separate processes and in turn, and
// prints the best and the median of wall time, user CPU time and peak resident memory (from GNU time). Addresses are sorted for all of them.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { codeSections, readSymbols } from './elf-code.mjs';
import { difference, framesText, isExplained, PERFCONV, referencePeer, symbolize } from './source-frames.mjs';

const GNU_TIME = '/usr/bin/time';
const BUILT = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    reference: { type: 'string', multiple: true, default: ['llvm-symbolizer', 'addr2line'] },
    count: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
    examples: { type: 'string', default: '2' },
    'without-perfconv': { type: 'boolean', default: false },
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
  const references = options.reference.map(referencePeer);
  const hasOurs = !options['without-perfconv'];
  if (options.time === undefined) compare(references, hasOurs);
  else for (const count of options.time.split(',')) time([...references, ...(hasOurs ? [PERFCONV] : [])], Number(count));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}

/** Addresses of the binary's code, ascending and unique. */
function chooseAddresses(count) {
  const sections = codeSections(binary);
  const total = sections.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const addressAt = (position) => {
    let left = position;
    for (const { start, sizeBytes } of sections) {
      if (left < sizeBytes) return start + BigInt(left);
      left -= sizeBytes;
    }
    return undefined;
  };
  if (options.all || count >= total) return Array.from({ length: total }, (_, i) => addressAt(i)).sort(byValue);
  const random = randomNumbers(Number(options.seed));
  const positions = new Set();
  while (positions.size < count) positions.add(Math.floor(random() * total));
  return [...positions].map(addressAt).sort(byValue);
}

function byValue(a, b) {
  return a < b ? -1 : Number(a > b);
}

/** Random numbers in [0, 1), always the same for the same seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function compare(references, hasOurs) {
  const addresses = chooseAddresses(Number(options.count));
  const answers = new Map();
  for (const peer of [...references, ...(hasOurs ? [PERFCONV] : [])]) {
    const { stderr, frames } = symbolize(peer, { binary: peer === PERFCONV ? binary : plain, addresses, directory });
    if (stderr !== '') console.error(`${peer.name} says: ${stderr.trim().split('\n').slice(0, 3).join('\n')}`);
    answers.set(peer, frames());
  }
  const symbols = readSymbols(plain);
  const differences = (first, second) =>
    addresses.map((_, i) => difference(answers.get(first)[i], answers.get(second)[i], { columns: first.hasColumns && second.hasColumns, symbols }));
  const [first, ...further] = references;
  const all = [...addresses.keys()];
  console.log(`${basename(binary)}: ${addresses.length} addresses`);
  if (!hasOurs) {
    for (const peer of further) {
      const apart = differences(first, peer);
      console.log(`${first.name} and ${peer.name} agree: ${percent(apart)}`);
      printClasses(`(first: ${first.name}, second: ${peer.name})`, all, apart);
    }
    return;
  }
  const ours = new Map(references.map((peer) => [peer, differences(peer, PERFCONV)]));
  for (const [peer, found] of ours) console.log(`equal to ${peer.name}: ${percent(found)}`);
  const apart = further.map((peer) => differences(first, peer));
  const agreed = all.filter((i) => apart.every((found) => found[i] === ''));
  if (further.length > 0) {
    const mostTold = references.find(({ hasColumns }) => hasColumns) ?? first;
    for (const [nth, peer] of further.entries()) console.log(`${first.name} and ${peer.name} agree: ${percent(apart[nth])}`);
    console.log(`equal where all references agree: ${percent(agreed.map((i) => ours.get(mostTold)[i]))}`);
    printClasses(`where all references agree (first: ${mostTold.name}, second: perfconv)`, agreed, ours.get(mostTold));
  }
  const isAgreed = new Set(further.length > 0 ? agreed : []);
  const rest = all.filter((i) => !isAgreed.has(i));
  for (const [peer, found] of ours) printClasses(`${further.length > 0 ? 'where they do not ' : ''}(first: ${peer.name}, second: perfconv)`, rest, found);

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
        for (const [peer, frames] of answers) console.log(`           ${peer.name.padEnd(22)} ${framesText(frames[i].filter((_, at) => differs(chains, at)))}`);
      }
    }
  }
}

/** Whether chains differ in the frame at one position; in every one, if their lengths differ. */
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

/** How many are equal, including and excluding those whose difference is a choice. */
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
  console.log(`${''.padEnd(22)}${['wall s', 'user s', 'peak MB'].map((title) => title.padStart(22)).join('')}`);
  for (const [{ name }, rows] of figures) {
    const cells = [0, 1, 2].map((column) => {
      const sorted = rows.map((row) => row[column]).sort((a, b) => a - b);
      return `${sorted[0].toFixed(2)} (${sorted[sorted.length >> 1].toFixed(2)})`.padStart(22);
    });
    console.log(name.padEnd(22) + cells.join(''));
  }
}
