import { type AttrSpec, context, encodeFile, type FeatureSpec, type RecordSpec, record } from '../../test/support/builders/recordings/perf-encoder.ts';
import type { Random } from '../random.ts';
import type { Grown } from './seed.ts';
import { SINGLE_FILE } from './seed.ts';

/**
 * Texts that are repeated to make names: those that regular expressions and name parsers look for, and so try at each
 * position.
 */
const PIECES = ['a', '/', '.', '[', ']', '(', ' ', ';', ':', '.ko', '.so', '-0', '_Z', 'N1', '::', '<', 'St', '%', '\\', '0', '17h', 'é', '\x1b[', '\n'];
const STARTS = ['', '/', '[', '/lib/modules/6.1.0/kernel/', '/tmp/perf-', '//', '/memfd:', '[guest.kernel.kallsyms.', '[kernel.kallsyms]', '_Z', '_RN', 'Lj'];
const ENDS = ['', '.ko', '.ko.xz', ']', ' (deleted)', '.map', '.dump', '_[k]', '\n'];
/** Lengths in bytes: a comm, a file name, a path, one more than a path, and all that fits in a record. */
const LENGTHS = [15, 255, 4095, 4096, 16_384, 60_000];
/** The name of an event may be longer: its length has 32 bits. */
const EVENT_LENGTHS = [...LENGTHS, 250_000, 500_000];

/** The places in a recording that have names. */
const PLACES = ['map', 'map', 'kernel map', 'kernel map', 'comm', 'event', 'ksymbol', 'cgroup', 'header'] as const;

const CHAIN_LENGTHS = [1, 16, 1000, 8000];
const MAP_BYTES = 0x100_0000n;
const USER_START = 0x1000_0000n;
const KERNEL_START = 0xffff_ffff_a000_0000n;
const PID = 100;

/**
 * The longest names that fit their fields, with thousands of addresses under each. Shows work that is done on a name
 * for each address, or for each of its characters.
 */
export function longNames(random: Random, maxBytes: number): Grown {
  const place = random.pick(PLACES);
  const namesBytes = Math.floor((maxBytes * random.between(1, 19)) / 20);
  const nameBytes = Math.min(namesBytes, random.pick(place === 'event' ? EVENT_LENGTHS : LENGTHS));
  const count = Math.max(1, Math.floor(namesBytes / (nameBytes + 80)));
  const base = longName(random, nameBytes);
  const names = Array.from({ length: count }, (_, i) => (random.oneIn(2) ? base : `${base.slice(0, -8)}${i}`));

  const attrs = (place === 'event' ? names.slice(0, 32) : ['cpu-clock']).map(
    (name, i): AttrSpec => ({
      name,
      config: BigInt(i),
      period: 1n,
      ids: [BigInt(i + 1)],
      sampleType: ['identifier', 'ip', 'tid', 'time', 'callchain'],
      flags: ['sampleIdAll', 'mmap', 'comm', 'task'],
    }),
  );
  const records: RecordSpec[] = names.map((name, i) => recordOf(place, name, i));
  const startOf = (i: number): bigint => (place === 'kernel map' ? KERNEL_START : USER_START) + BigInt(i) * MAP_BYTES;
  const chainLength = random.pick(CHAIN_LENGTHS);
  let serial = 0n;
  for (let left = maxBytes - namesBytes, nth = 0; left > 0 && nth < 20_000; left -= 56 + 8 * chainLength, nth++) {
    const start = startOf(nth % (place === 'map' || place === 'kernel map' ? count : 1));
    const ips = Array.from({ length: chainLength }, (_, i) => start + ((serial + BigInt(16 * i)) % MAP_BYTES));
    serial += BigInt(16 * chainLength);
    const callchain = [place === 'kernel map' ? context.kernel : context.user, ...ips];
    const pid = place === 'comm' ? PID + (nth % count) : PID;
    const sample = { ip: ips[0], pid, tid: pid, time: BigInt(1000 + nth), callchain };
    records.push(record.sample(sample, { attr: nth % attrs.length, misc: place === 'kernel map' ? 1 : 2 }));
  }
  const features: FeatureSpec = {
    eventDesc: true,
    ...(place === 'header' && { hostname: base, arch: base, cmdline: names, buildIds: names.map((filename) => ({ buildId: new Uint8Array(20), filename })) }),
  };
  return { files: new Map([[SINGLE_FILE, encodeFile({ attrs, records, features })]]) };
}

function recordOf(place: (typeof PLACES)[number], name: string, i: number): RecordSpec {
  const options = { sampleId: { pid: PID, tid: PID, time: BigInt(i), id: 1n } };
  const len = MAP_BYTES;
  switch (place) {
    case 'map':
      return record.mmap({ pid: PID, addr: USER_START + BigInt(i) * len, len, filename: name }, options);
    case 'kernel map':
      return record.mmap({ pid: -1, tid: 0, addr: KERNEL_START + BigInt(i) * len, len, filename: name }, { ...options, misc: 1 });
    case 'comm':
      return record.comm({ pid: PID + i, comm: name }, options);
    case 'ksymbol':
      return record.ksymbol({ addr: KERNEL_START + BigInt(i) * len, len: Number(len), name }, options);
    case 'cgroup':
      return record.cgroup({ id: BigInt(i), path: name }, options);
    default:
      return record.mmap({ pid: PID, addr: USER_START + BigInt(i) * len, len, filename: '/bin/app' }, options);
  }
}

function longName(random: Random, sizeBytes: number): string {
  const [start, piece, end] = [random.pick(STARTS), random.pick(PIECES), random.pick(ENDS)];
  const times = Math.floor((sizeBytes - start.length - end.length) / Buffer.byteLength(piece));
  return start + piece.repeat(Math.max(1, times)) + end;
}
