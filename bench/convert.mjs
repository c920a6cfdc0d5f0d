#!/usr/bin/env node
// Measures a conversion as a ratio to reading the same recording with perf, because absolute figures depend on the
// machine and its load. Build first (npm run build).
//
//   node bench/convert.mjs INPUT [ROUNDS]        default: 5 rounds. bench/record.sh makes a recording of about 300 MB.
//
// In each round it runs, one after the other:
//   perf script --no-inline > /dev/null          the minimum for tools that read perf's text
//   perfconv INPUT -o out.pb.gz                  in a temporary directory
// and prints the median (least–most) of the wall time, of the user CPU time (of all threads) and of the peak resident
// memory. Wall time is measured by Node around the process; the others come from GNU time, and are missing without it.
// The recording is read once at the start, so that both read it from the page cache.

import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GNU_TIME = '/usr/bin/time';
const PERFCONV = fileURLToPath(new URL('../bin/perfconv.js', import.meta.url));
const BUILT = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const COLUMNS = ['wall s', 'user s', 'peak MB'];

const [input, roundsText = '5'] = process.argv.slice(2);
const rounds = Number(roundsText);
const directory = mkdtempSync(join(tmpdir(), 'perfconv-bench-'));
try {
  checkArguments();
  await bench(join(directory, 'out.pb.gz'));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}

function checkArguments() {
  if (input === undefined || !Number.isInteger(rounds) || rounds < 1) throw new Error('usage: node bench/convert.mjs INPUT [ROUNDS]');
  if (!existsSync(input)) throw new Error(`${input} does not exist`);
  if (!existsSync(BUILT)) throw new Error('perfconv is not built: npm run build');
}

async function bench(output) {
  const hasGnuTime = spawnSync(GNU_TIME, ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU') ?? false;
  if (!hasGnuTime) console.error(`no GNU time at ${GNU_TIME}: wall time only`);
  const runs = [{ name: 'perf script', command: ['perf', 'script', '-f', '--no-inline', '-i', input], figures: [] }];
  if (spawnSync('perf', ['--version']).status !== 0) {
    console.error('no perf here: nothing to compare with');
    runs.pop();
  }
  runs.push({ name: 'perfconv', command: [process.execPath, PERFCONV, '--quiet', input, '-o', output], figures: [] });

  await readThrough(input);
  for (let round = 1; round <= rounds; round++) {
    for (const { name, command, figures } of runs) {
      const figure = measure(command, hasGnuTime);
      figures.push(figure);
      console.error(`round ${round} of ${rounds}: ${name.padEnd(11)} ${figure.map((value, i) => `${COLUMNS[i]} ${value.toFixed(2)}`).join(', ')}`);
    }
  }
  console.log(`${megabytes(input)} MB of recording, ${megabytes(output)} MB of pprof; ${rounds} rounds: median (least–most)`);
  console.log(table(runs));
}

/** Runs a command. Returns wall seconds and, where GNU time is installed, user seconds and peak resident megabytes. */
function measure(command, hasGnuTime) {
  const figuresFile = join(directory, 'time');
  const [program, ...args] = hasGnuTime ? [GNU_TIME, '-o', figuresFile, '-f', '%U %M', ...command] : command;
  const start = process.hrtime.bigint();
  const { status, signal, stderr, error } = spawnSync(program, args, {
    // No settings, no network, and names in any locale. Node would read certificates named in its environment at each
    // start.
    env: { ...process.env, PERF_CONFIG: '/dev/null', DEBUGINFOD_URLS: '', NODE_EXTRA_CA_CERTS: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  const wallSeconds = Number(process.hrtime.bigint() - start) / 1e9;
  if (error) throw error;
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${signal ?? `status ${status}`}\n${stderr}`);
  if (!hasGnuTime) return [wallSeconds];
  const [userSeconds, peakKilobytes] = readFileSync(figuresFile, 'utf8').trim().split(' ').map(Number);
  return [wallSeconds, userSeconds, peakKilobytes / 1024];
}

function table(runs) {
  const columns = COLUMNS.slice(0, runs[0].figures[0].length);
  const summaries = runs.map(({ figures }) => columns.map((_, column) => summary(figures.map((figure) => figure[column]))));
  const rows = [['', ...columns], ...runs.map(({ name }, i) => [name, ...summaries[i].map(summaryText)])];
  if (runs.length === 2) rows.push(['perf / perfconv', ...columns.map((_, column) => (summaries[0][column].median / summaries[1][column].median).toFixed(2))]);
  return rows.map(([name, ...cells]) => name.padEnd(16) + cells.map((cell) => cell.padStart(28)).join('')).join('\n');
}

function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return { median: sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2, least: sorted[0], most: sorted.at(-1) };
}

function summaryText({ median, least, most }) {
  return `${median.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
}

async function readThrough(path) {
  for await (const _ of createReadStream(path, { highWaterMark: 1 << 23 }));
}

function megabytes(path) {
  return (statSync(path).size / 2 ** 20).toFixed(1);
}
