import * as abi from '../../perfdata/abi/constants.ts';
import type { PerfEventAttr } from '../../perfdata/samples/attr.ts';
import { eventModifiers, genericName } from './event-names.ts';

/** What perf 6.1 calls events that it does not know. */
const UNKNOWN_HARDWARE = 'unknown-hardware';
const UNKNOWN_SOFTWARE = 'unknown-software';

/** How many hardware and software events perf 6.1 knows. */
const [HARDWARE_EVENTS, SOFTWARE_EVENTS] = [10, 11];
/** The operations that perf knows for each cache, in the order of perf_event.h: `l`oad, `s`tore, `p`refetch. */
const CACHE_OPERATIONS = ['lsp', 'lp', 'lsp', 'lsp', 'l', 'l', 'lsp'];

/**
 * The name that perf 6.1 gives to an event that the recording does not name, without the lists that old perf put into the header: it does not read them.
 * Observed: all of them, in changed copies of a recording.
 */
export function perfNameFromAttr(attr: PerfEventAttr): string {
  if (attr.type > abi.PERF_TYPE_BREAKPOINT) return `unknown attr type: ${attr.type}`;
  const modifiers = eventModifiers(attr);
  const guests = guestModifiers(attr);
  return perfName(attr) + modifiers + (guests !== '' && modifiers === '' ? ':' : '') + guests;
}

function perfName(attr: PerfEventAttr): string {
  const name = genericName(attr);
  const low = Number(attr.config & 0xffffffffn);
  switch (attr.type) {
    case abi.PERF_TYPE_HARDWARE:
      return low < HARDWARE_EVENTS ? name : UNKNOWN_HARDWARE;
    case abi.PERF_TYPE_SOFTWARE:
      return low < SOFTWARE_EVENTS ? name : UNKNOWN_SOFTWARE;
    case abi.PERF_TYPE_HW_CACHE:
      return perfCacheName(low, name);
    case abi.PERF_TYPE_RAW:
      return `raw 0x${attr.config.toString(16)}`;
    case abi.PERF_TYPE_BREAKPOINT: {
      const { bpType } = attr;
      const access = `${(bpType & 1) === 0 ? '' : 'r'}${(bpType & 2) === 0 ? '' : 'w'}${(bpType & 4) === 0 ? '' : 'x'}`;
      return `mem:0x${attr.config1.toString(16)}:${access}`;
    }
    default:
      return name;
  }
}

/** @param name the event's name as a cache event */
function perfCacheName(config: number, name: string): string {
  const [cache, operation, result] = [config & 0xff, (config >> 8) & 0xff, (config >> 16) & 0xff];
  if (cache >= CACHE_OPERATIONS.length) return 'unknown-ext-hardware-cache-type';
  const letter = 'lsp'[operation];
  if (letter === undefined) return 'unknown-ext-hardware-cache-op';
  if (result > 1) return 'unknown-ext-hardware-cache-result';
  return CACHE_OPERATIONS[cache].includes(letter) ? name : 'invalid-cache';
}

/**
 * `H` for an event that counts on the host, `G` for one that counts in virtual machines; nothing where that is what perf takes for the default: only the host,
 * or both if there are other modifiers.
 */
function guestModifiers({ flags, preciseIp }: PerfEventAttr): string {
  const countsHost = !flags.has('exclude_host');
  const countsGuests = !flags.has('exclude_guest');
  const hasOthers = preciseIp > 0 || flags.has('exclude_user') || flags.has('exclude_kernel') || flags.has('exclude_hv');
  if (countsHost && countsGuests === hasOthers) return '';
  return (countsHost ? 'H' : '') + (countsGuests ? 'G' : '');
}
