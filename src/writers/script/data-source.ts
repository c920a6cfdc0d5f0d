/**
 * Decodes `data_src`, which tells where a memory access was served from, as perf script prints it after the number: `|OP LOAD|LVL L1 hit|…`.
 * @param lo,hi the two words of `data_src`
 * @param likePerf call the levels 5 to 8, which had no meaning then, what perf 6.1 does
 * @see perf_event.h, union perf_mem_data_src. The texts were observed: perf 6.1, for these levels perf 7.2.
 */
export function dataSourceText(lo: number, hi: number, likePerf: boolean): string {
  const bits = (at: number, count: number): number => (at < 32 ? (lo >>> at) | (at + count > 32 ? hi << (32 - at) : 0) : hi >>> (at - 32)) & ((1 << count) - 1);
  const level = levelText(bits(5, 14), bits(33, 4), bits(37, 1) === 1, bits(43, 3), likePerf);
  const snoop = [...named(bits(19, 5), SNOOPS), ...named(bits(38, 2), ['Fwd', 'Peer'])].join(' or ') || 'N/A';
  return `|OP ${operationText(bits(0, 5))}|LVL ${level}|SNP ${snoop}|TLB ${tlbText(bits(26, 7))}|LCK ${lockText(bits(24, 2))}|BLK ${blockText(bits(40, 3))}`;
}

const NOT_AVAILABLE = 1;
const HIT = 2;
const MISS = 4;

const OPERATIONS = ['', 'LOAD', 'STORE', 'PFETCH', 'EXEC'];
const LEVELS = [
  'N/A',
  '',
  '',
  'L1',
  'LFB/MAB',
  'L2',
  'L3',
  'Local RAM',
  'Remote RAM (1 hop)',
  'Remote RAM (2 hops)',
  'Remote Cache (1 hop)',
  'Remote Cache (2 hops)',
  'I/O',
  'Uncached',
];
const LEVEL_NUMBERS = [
  ...['', 'L1', 'L2', 'L3', 'L4', 'L2 MHB', 'Memory-side Cache', 'L0', 'Uncached'],
  ...['CXL', 'I/O', 'Any cache', 'LFB/MAB', 'RAM', 'PMEM', 'N/A'],
];
const FIRST_NEW_LEVEL = 5;
const LAST_NEW_LEVEL = 8;
const HOPS = ['', 'core, same node', 'node, same socket', 'socket, same board', 'board'];
const SNOOPS = ['N/A', 'None', 'Hit', 'Miss', 'HitM'];
const TLBS = ['N/A', '', '', 'L1', 'L2', 'Walker', 'Fault'];

function named(bits: number, names: readonly string[]): string[] {
  return names.filter((name, i) => name !== '' && (bits & (1 << i)) !== 0);
}

function operationText(bits: number): string {
  if ((bits & NOT_AVAILABLE) !== 0) return 'N/A';
  return named(bits, OPERATIONS)[0] ?? 'No';
}

function hitAndMiss(bits: number): string {
  return `${(bits & HIT) === 0 ? '' : ' hit'}${(bits & MISS) === 0 ? '' : ' miss'}`;
}

/** The level of the memory hierarchy. A number of hops replaces the older level bits. */
function levelText(bits: number, number: number, isRemote: boolean, hops: number, likePerf: boolean): string {
  const levels = hops === 0 ? named(bits, LEVELS) : [];
  const isPlain = likePerf && number >= FIRST_NEW_LEVEL && number <= LAST_NEW_LEVEL;
  if (number !== 0) levels.push(isPlain ? `L${number}` : LEVEL_NUMBERS[number]);
  const text = `${isRemote ? 'Remote ' : ''}${hops === 0 ? '' : `${HOPS[hops] ?? '(null)'} `}${levels.join(' or ')}`;
  return (text || 'N/A') + hitAndMiss(bits);
}

function tlbText(bits: number): string {
  return (named(bits, TLBS).join(' or ') || 'N/A') + hitAndMiss(bits);
}

function lockText(bits: number): string {
  if ((bits & NOT_AVAILABLE) !== 0) return 'N/A';
  return bits === 0 ? 'No' : 'Yes';
}

function blockText(bits: number): string {
  if (bits === 0 || (bits & NOT_AVAILABLE) !== 0) return ' N/A';
  return ` ${named(bits, ['', 'Data', 'Addr']).join(' ')}`;
}
