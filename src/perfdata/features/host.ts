import type { FeatureReaders } from '../../base/bytes/section-reader.ts';
import type { ExactInteger } from '../../base/text/exact-integer.ts';
import * as abi from '../abi/constants.ts';

/** Who recorded, on what machine and with which command. */
export interface HostFeatures {
  hostname?: string;
  /** `uname -r`. */
  osrelease?: string;
  /** Version of the perf that recorded. */
  version?: string;
  /** `uname -m`. */
  arch?: string;
  nrCpusAvailable?: number;
  nrCpusOnline?: number;
  cpudesc?: string;
  /** On x86: vendor, family, model and stepping, separated by commas. */
  cpuid?: string;
  /** Memory of the machine in KiB. */
  totalMemKib?: ExactInteger;
  /** perf's arguments, its own name first. */
  cmdline?: readonly string[];
  /** ELF's number for the machine (EM_X86_64 is 62) and its flags. */
  eMachine?: { readonly machine: number; readonly flags: number };
  cacheLineBytes?: number;
}

/** Size of a string's length. */
const LENGTH_BYTES = 4;

/** Source: the perf tool's description of its file format. */
export const HOST_READERS: FeatureReaders<HostFeatures> = {
  [abi.HEADER_HOSTNAME]: (features, section) => {
    features.hostname = section.string();
  },
  [abi.HEADER_OSRELEASE]: (features, section) => {
    features.osrelease = section.string();
  },
  [abi.HEADER_VERSION]: (features, section) => {
    features.version = section.string();
  },
  [abi.HEADER_ARCH]: (features, section) => {
    features.arch = section.string();
  },
  [abi.HEADER_NRCPUS]: (features, section) => {
    features.nrCpusAvailable = section.u32();
    features.nrCpusOnline = section.u32();
  },
  [abi.HEADER_CPUDESC]: (features, section) => {
    features.cpudesc = section.string();
  },
  [abi.HEADER_CPUID]: (features, section) => {
    features.cpuid = section.string();
  },
  [abi.HEADER_TOTAL_MEM]: (features, section) => {
    features.totalMemKib = section.exact();
  },
  [abi.HEADER_CMDLINE]: (features, section) => {
    // hiperf joins its arguments with spaces; those within an argument cannot be told from them. Read as a list, the count would exceed the bytes that are
    // left. What is shorter may be the beginning of a list that is cut off.
    if (section.isOneString && section.remaining > LENGTH_BYTES * 2) {
      features.cmdline = section.string().split(' ');
      return;
    }
    const words: string[] = [];
    features.cmdline = words;
    section.strings(words);
  },
  [abi.HEADER_E_MACHINE]: (features, section) => {
    features.eMachine = { machine: section.u32(), flags: section.u32() };
  },
  [abi.HEADER_CLN_SIZE]: (features, section) => {
    features.cacheLineBytes = section.u32();
  },
};
