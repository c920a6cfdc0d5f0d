import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One mapping of the made-up process that perf is asked about. */
export interface OracleMap {
  /** Path of the mapped file, or the kernel map's name. */
  readonly path: string;
  readonly start: bigint;
  readonly sizeBytes: bigint;
  readonly pgoff: bigint;
  readonly kernel?: boolean;
  /** Hex digits; makes the record one with a build id. Absent: perf reads it from the file. */
  readonly buildId?: string;
}

/** What perf calls an address; `name` is undefined if perf prints `[unknown]`. */
export interface OracleName {
  readonly name: string | undefined;
  readonly offset: number;
}

/** Whether perf is installed here. */
export const hasPerf = runs('perf', ['--version']);

/** Whether a program runs and ends with status 0. */
export function runs(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Asks perf for the names of addresses: writes a recording with a sample at each and has `perf script` print it. */
export function askPerf(
  maps: readonly OracleMap[],
  ips: readonly bigint[],
  options: { args?: readonly string[]; env?: Record<string, string> } = {},
): OracleName[] {
  const dir = mkdtempSync(join(tmpdir(), 'perf-oracle-'));
  try {
    const file = join(dir, 'perf.data');
    writeFileSync(file, recording(maps, ips));
    const fields = ['script', '-i', file, '-f', '--no-inline', '--no-demangle', '-F', 'ip,sym,symoff', ...(options.args ?? [])];
    const text = execFileSync('perf', fields, {
      maxBuffer: 1 << 30,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...options.env },
    });
    const names = text
      .split('\n')
      .filter((line) => line !== '')
      .map(parseLine);
    if (names.length !== ips.length) throw new Error(`asked perf for ${ips.length} addresses, got ${names.length} lines`);
    return names;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function parseLine(line: string): OracleName {
  const match = /^\s*[0-9a-f]+ (?:\[unknown\]|(.*)\+0x([0-9a-f]+))\s*$/.exec(line);
  if (!match) throw new Error(`unexpected line of perf script: ${line}`);
  return { name: match[1], offset: Number.parseInt(match[2] ?? '0', 16) };
}

const pid = 4242;

/** A little-endian perf.data of one cpu-clock event whose samples are IP and TID only. */
function recording(maps: readonly OracleMap[], ips: readonly bigint[]): Buffer {
  const attrSizeBytes = 112;
  const header = Buffer.alloc(104);
  const attr = Buffer.alloc(attrSizeBytes + 16);
  attr.writeUInt32LE(1, 0); // PERF_TYPE_SOFTWARE
  attr.writeUInt32LE(attrSizeBytes, 4);
  attr.writeBigUInt64LE(1n, 16); // sample_period
  attr.writeBigUInt64LE(3n, 24); // IP | TID
  const data = Buffer.concat([commRecord(), ...maps.map(mapRecord), ...ips.map((ip) => sampleRecord(ip, maps))]);
  header.write('PERFILE2', 0, 'latin1');
  header.writeBigUInt64LE(104n, 8);
  header.writeBigUInt64LE(BigInt(attr.length), 16);
  header.writeBigUInt64LE(104n, 24);
  header.writeBigUInt64LE(BigInt(attr.length), 32);
  header.writeBigUInt64LE(BigInt(104 + attr.length), 40);
  header.writeBigUInt64LE(BigInt(data.length), 48);
  return Buffer.concat([header, attr, data]);
}

function record(type: number, misc: number, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(type, 0);
  head.writeUInt16LE(misc, 4);
  head.writeUInt16LE(8 + body.length, 6);
  return Buffer.concat([head, body]);
}

function commRecord(): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt32LE(pid, 0);
  body.writeUInt32LE(pid, 4);
  body.write('oracle', 8);
  return record(3, 0, body);
}

function mapRecord(map: OracleMap): Buffer {
  const path = Buffer.alloc((Buffer.byteLength(map.path) + 8) & ~7);
  path.write(map.path);
  const body = Buffer.alloc(64);
  body.writeInt32LE(map.kernel ? -1 : pid, 0);
  body.writeInt32LE(map.kernel ? 0 : pid, 4);
  body.writeBigUInt64LE(map.start, 8);
  body.writeBigUInt64LE(map.sizeBytes, 16);
  body.writeBigUInt64LE(map.pgoff, 24);
  if (map.kernel && map.buildId === undefined) return record(1, 1, Buffer.concat([body.subarray(0, 32), path]));
  if (map.buildId !== undefined) {
    body.writeUInt8(map.buildId.length / 2, 32);
    body.write(map.buildId, 36, 'hex');
  }
  body.writeUInt32LE(5, 56); // PROT_READ | PROT_EXEC
  body.writeUInt32LE(2, 60); // MAP_PRIVATE
  return record(10, (map.kernel ? 1 : 2) | (map.buildId === undefined ? 0 : 1 << 14), Buffer.concat([body, path]));
}

function sampleRecord(ip: bigint, maps: readonly OracleMap[]): Buffer {
  const kernel = maps.some((map) => map.kernel && ip >= map.start && ip < map.start + map.sizeBytes);
  const body = Buffer.alloc(16);
  body.writeBigUInt64LE(ip, 0);
  body.writeUInt32LE(pid, 8);
  body.writeUInt32LE(pid, 12);
  return record(9, kernel ? 1 : 2, body);
}
