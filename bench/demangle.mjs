#!/usr/bin/env node
// Compares how every mangled name of some binaries is demangled with other demanglers, and measures the time.
// Build first (npm run build).
//
//   node bench/demangle.mjs [--examples N] [--rounds N] BINARY...      default: 3 examples per class, 10 rounds
//
// Names are those printed by nm and nm -D that begin like mangled names of C++ or Rust, without versions. Expected:
//   full         c++filt (GNU); also llvm-cxxfilt, whose spelling differs in many ways
//   no-params    c++filt -p -i
// Differences are classified by which demangler knows the name. Speed is measured over the whole list in this process.
// As other processes share the core, two figures are printed: the best whole round, and the sum of the best times of
// every 200 names, which is closer to an idle machine. The longest time of a name is the best of its rounds, after the
// list was demangled once.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const BUILT = fileURLToPath(new URL('../dist/demangle.js', import.meta.url));
const MANGLED = /^(_Z|_R|___Z|_GLOBAL_[._$][DI]_)/;
const CHUNK = 200;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { examples: { type: 'string', default: '3' }, rounds: { type: 'string', default: '10' } },
});
if (positionals.length === 0) fail('usage: node bench/demangle.mjs [--examples N] [--rounds N] BINARY...');
if (!existsSync(BUILT)) fail('dist is missing: npm run build');
const { demangle } = await import(BUILT);
for (const binary of positionals) benchBinary(binary);

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Standard output of a command; undefined if it is not installed. */
function run(command, args, input) {
  const { error, stdout } = spawnSync(command, args, { input, encoding: 'latin1', maxBuffer: 1 << 30 });
  return error?.code === 'ENOENT' ? undefined : stdout;
}

function readNames(binary) {
  const names = new Set();
  for (const args of [['-a'], ['-D']]) {
    for (const line of (run('nm', [...args, binary]) ?? fail('nm is not installed')).split('\n')) {
      const name = line.slice(line.lastIndexOf(' ') + 1).replace(/@.*/, '');
      if (MANGLED.test(name)) names.add(name);
    }
  }
  return [...names];
}

function benchBinary(binary) {
  const names = readNames(binary);
  console.log(`${binary}: ${names.length} names`);
  if (names.length === 0) return;
  compare(names, 'full', 'c++filt', []);
  compare(names, 'no-params', 'c++filt', ['-p', '-i']);
  compare(names, 'full', 'llvm-cxxfilt', []);
  for (const style of ['full', 'no-params', 'simple']) measure(names, style);
}

function compare(names, style, command, args) {
  const output = run(command, args, `${names.join('\n')}\n`);
  const label = `  ${style} against ${[command, ...args].join(' ')}`;
  if (output === undefined) {
    console.log(`${label}: not installed`);
    return;
  }
  const expected = output.split('\n');
  const classes = new Map();
  names.forEach((name, i) => {
    const own = demangle(name, style);
    if ((own ?? name) === expected[i]) return;
    const kind = own === undefined ? 'only it demangles' : expected[i] === name ? 'only we demangle' : 'spelled differently';
    if (!classes.has(kind)) classes.set(kind, []);
    classes.get(kind).push([name, expected[i], own]);
  });
  const different = [...classes.values()].reduce((sum, { length }) => sum + length, 0);
  console.log(`${label}: ${names.length - different} equal, ${different} different (${(100 - (100 * different) / names.length).toFixed(3)} % equal)`);
  for (const [kind, differences] of classes) {
    console.log(`    ${kind}: ${differences.length}`);
    for (const [name, theirs, ours] of differences.slice(0, Number(values.examples))) {
      console.log(`      ${name}\n        theirs ${theirs}\n        ours   ${ours}`);
    }
  }
}

function measure(names, style) {
  const least = new Float64Array(Math.ceil(names.length / CHUNK)).fill(Number.POSITIVE_INFINITY);
  const texts = new Set();
  let bestRound = Number.POSITIVE_INFINITY;
  for (let round = 0; round < Number(values.rounds); round++) {
    const roundStart = performance.now();
    for (let chunk = 0; chunk < least.length; chunk++) {
      const start = performance.now();
      const end = Math.min(names.length, (chunk + 1) * CHUNK);
      // Looking a text up in a Set makes the engine flatten it, as writing it would.
      for (let i = chunk * CHUNK; i < end; i++) texts.has(demangle(names[i], style));
      least[chunk] = Math.min(least[chunk], performance.now() - start);
    }
    bestRound = Math.min(bestRound, performance.now() - roundStart);
  }
  const { name, milliseconds } = findSlowest(names, style);
  const perSecond = (time) => Math.round((names.length / time) * 1000).toLocaleString('en');
  const total = least.reduce((sum, time) => sum + time, 0);
  console.log(`  ${style}: ${perSecond(bestRound)} names/s in the best round, ${perSecond(total)} names/s of least times`);
  console.log(`    longest: ${milliseconds.toFixed(3)} ms, of ${name.length} characters: ${name.slice(0, 100)}`);
}

function findSlowest(names, style) {
  const least = new Float64Array(names.length).fill(Number.POSITIVE_INFINITY);
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < names.length; i++) {
      const start = performance.now();
      demangle(names[i], style);
      least[i] = Math.min(least[i], performance.now() - start);
    }
  }
  const slowest = least.indexOf(Math.max(...chunkMaxima(least)));
  return { name: names[slowest], milliseconds: least[slowest] };
}

/** The maximum, slice by slice: all values at once would be too many arguments for a call. */
function chunkMaxima(numbers) {
  return Array.from({ length: Math.ceil(numbers.length / CHUNK) }, (_, i) => Math.max(...numbers.subarray(i * CHUNK, (i + 1) * CHUNK)));
}
