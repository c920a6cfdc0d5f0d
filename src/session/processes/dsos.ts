import { perfMapName } from '../../base/names/jit-file-names.ts';
import { bracketedModuleName } from '../../base/names/module-names.ts';
import type { BuildIdRecord, MmapRecord } from '../../perfdata/records/mapping-records.ts';

/** What a range of code belongs to. See the profile's MappingKind, which has the same values. */
export type DsoKind = 'file' | 'kernel' | 'module' | 'vdso' | 'anon' | 'guest';

/** A binary or region of code, one for all processes that map it. Its index is that of its mapping in the profile. */
export interface Dso {
  /** As perf prints it: a path, `[kernel.kallsyms]`, `[nf_tables]`, `[vdso]`, `/tmp/perf-12.map`. */
  readonly name: string;
  /** Where it was loaded from, if that is more than the name shows (`/lib/modules/…/nf_tables.ko`). */
  readonly longName: string;
  readonly kind: DsoKind;
  /** Lower-case hex, empty when unknown. */
  buildId: string;
  /** `major:minor:inode` of the file; empty if no record has it. */
  readonly fileIdentity: string;
  /** Whether there are other files of its name: {@link buildId} is that of one of them, and it is not known of which. */
  sharesName: boolean;
  /** Run-time address minus DSO address where it was mapped first; 0 if the two are the same. */
  readonly bias: number;
  /** The lowest address that is mapped, and the one after the highest, as DSO addresses. */
  start: number;
  limit: number;
  /** Lowest address mapped as code; Infinity if no map is known to be code. */
  codeStart: number;
  /** For the kernel: the symbol whose run-time address the recording holds, and that address. */
  referenceSymbol: string;
  referenceAddress: number;
  /** The process that mapped it first, or that runs the virtual machine to whose kernel it belongs; −1 for the machine's own kernel and for memory without a file. */
  readonly pid: number;
  /** Whether all of it is one function with the DSO's own name (KSYMBOL), so that no symbol table is needed. */
  readonly isOneFunction: boolean;
}

const KERNEL_NAME = '[kernel.kallsyms]';

/** All DSOs of a recording by dense index. */
export class DsoTable {
  readonly dsos: Dso[] = [];
  /** By name, and by what tells the DSOs of one name apart. */
  readonly #indexes = new Map<string, Map<string | number, number>>();

  /**
   * The DSO that an MMAP record maps, whether new or known. Two files under one name (a binary replaced while it was recorded) are two DSOs, told apart by
   * build id or inode.
   */
  internMapped(record: MmapRecord, kind: DsoKind, name: string): number {
    const isFile = kind === 'file' || kind === 'vdso';
    const bias = isFile ? record.start - record.pageOffset : 0;
    const index = this.#intern(identityOf(record, kind), {
      name,
      longName: record.filename,
      kind,
      buildId: record.buildId,
      fileIdentity: kind === 'file' ? record.fileIdentity : '',
      bias,
      pid: isFile || kind === 'guest' ? record.pid : -1,
      isOneFunction: false,
    });
    const dso = this.dsos[index];
    const start = isFile ? record.pageOffset : record.start;
    dso.start = Math.min(dso.start, start);
    dso.limit = Math.max(dso.limit, start + record.length);
    if (record.isExecutable) dso.codeStart = Math.min(dso.codeStart, start);
    return index;
  }

  /** Kernel code that was added at run time (KSYMBOL). */
  internKernelCode(name: string, start: number, length: number): number {
    const code = { name, longName: name, buildId: '', fileIdentity: '', bias: 0, pid: -1 };
    const index = this.#intern(start, { ...code, kind: 'module', isOneFunction: true });
    const dso = this.dsos[index];
    dso.start = Math.min(dso.start, start);
    dso.limit = Math.max(dso.limit, start + length);
    return index;
  }

  /** Gives DSOs the build ids that the recording lists by file name. */
  applyBuildIds(records: readonly Pick<BuildIdRecord, 'filename' | 'buildId'>[]): void {
    const byName = new Map(records.map((record) => [record.filename, record.buildId]));
    this.#markSharedNames();
    for (const dso of this.dsos) {
      if (dso.buildId === '') dso.buildId = listedBuildId(dso, (name) => byName.get(name));
    }
  }

  /**
   * Marks files of one name that only their inodes tell apart. Devices do not count: for a file on overlayfs, the kernel reports that of the layer in which it
   * lies (before Linux 6.18), but `/proc/PID/maps` that of the overlay.
   */
  #markSharedNames(): void {
    const inodes = new Map<string, string>();
    const shared = new Set<string>();
    const withoutId = this.dsos.filter(({ kind, buildId }) => kind === 'file' && buildId === '');
    for (const { name, fileIdentity } of withoutId) {
      const inode = fileIdentity.slice(fileIdentity.lastIndexOf(':') + 1);
      if (inode === '' || inode === '0') continue;
      const known = inodes.get(name);
      if (known === undefined) inodes.set(name, inode);
      else if (known !== inode) shared.add(name);
    }
    for (const dso of withoutId) dso.sharesName = shared.has(dso.name);
  }

  #intern(identity: string | number, start: Pick<Dso, 'name' | 'longName' | 'kind' | 'buildId' | 'fileIdentity' | 'bias' | 'pid' | 'isOneFunction'>): number {
    const ofName = this.#indexes.get(start.name);
    const known = ofName?.get(identity);
    if (known !== undefined) return known;
    const dso: Dso = {
      ...start,
      sharesName: false,
      start: Number.POSITIVE_INFINITY,
      limit: Number.NEGATIVE_INFINITY,
      codeStart: Number.POSITIVE_INFINITY,
      referenceSymbol: '',
      referenceAddress: 0,
    };
    const index = this.dsos.push(dso) - 1;
    if (ofName === undefined) this.#indexes.set(start.name, new Map([[identity, index]]));
    else ofName.set(identity, index);
    return index;
  }
}

/** What tells DSOs of one name apart. */
function identityOf(record: MmapRecord, kind: DsoKind): string {
  if (kind === 'file') return record.buildId || record.fileIdentity;
  // Each virtual machine has a kernel and modules of its own.
  if (kind === 'guest') return `${record.pid}`;
  return record.isJitSymfile ? record.filename : '';
}

/** Whether it is a name that the kernel gives to memory that holds no bytes of a file. Source: observed in perf's output and maps. */
function isAnonymous(filename: string): boolean {
  return (
    filename.startsWith('//anon') ||
    filename.startsWith('/dev/zero') ||
    filename.startsWith('/anon_hugepage') ||
    filename.startsWith('[stack') ||
    filename.startsWith('/SYSV') ||
    filename.startsWith('[heap]')
  );
}

/**
 * 64-bit machines that also run 32-bit programs, and map the vdso below 4 GiB for these only. A recording that does not name its machine is treated as from one
 * of them.
 */
const MACHINES_WITH_HIGH_VDSO: readonly string[] = ['x86_64', 'aarch64', 'riscv64', 'mips64', ''];
const LIMIT_OF_32_BITS = 2 ** 32;

/**
 * Files in memory that JITs map twice, to write code and to run it: those of .NET, and of asmjit, as in Erlang (observed, OTP 25). perf 6.1 treats them as
 * files (observed).
 */
const JIT_FILES = /^\/memfd:(?:doublemapper|vmem)(?: |$)/;

/**
 * The page that the kernel maps into processes with user probes: it runs probed instructions there, and functions whose return is probed return there (observed,
 * Linux 6.18).
 */
export const UPROBES_NAME = '[uprobes]';

/** How to interpret maps. */
export interface MapRules {
  /** As perf 6.1 does. */
  readonly compatPerf?: boolean;
  /** The machine that was recorded, as uname reports it; empty if unknown, absent if vdsos keep the name that is recorded (simpleperf). */
  readonly arch?: string | undefined;
  /** Whether the recording itself has the names of code in memory that a program has named, under the memory's name (hiperf). */
  readonly namesMemory?: boolean;
}

/**
 * Memory without a file to which the program has given a name, as V8 and Android's run time do (prctl, PR_SET_VMA_ANON_NAME). perf reads such names in
 * /proc/PID/maps, for programs that ran before it; perf 6.1 takes them for files (observed).
 */
const NAMED_MEMORY = /^\[anon(?:_shmem)?:/;

/**
 * What a user map of a process is, and what perf calls it: executable memory without a file gets the name of a JIT's perf map, the vdso
 * of a 32-bit program on a 64-bit machine is `[vdso32]`, though the kernel calls both `[vdso]`.
 */
export function classifyUserMap(record: MmapRecord, { compatPerf = false, arch, namesMemory = false }: MapRules = {}): { kind: DsoKind; name: string } {
  const { filename } = record;
  // simpleperf copies JIT code into files of its own, a few methods each; it shows them under these names.
  if (record.isJitSymfile) return { kind: 'anon', name: jitName(filename) };
  const isMappedTwice = JIT_FILES.test(filename) && record.isExecutable && !compatPerf;
  // No program is loaded from hugetlbfs, but libraries may be, if they are linked for it. perf 6.1 finds no symbols in them (observed).
  const isHugetlb = record.isHugetlb && compatPerf;
  const isNamed = NAMED_MEMORY.test(filename);
  if (isNamed && namesMemory) return { kind: 'anon', name: filename };
  // simpleperf's own files of symbols go by such names.
  const isNamedCode = isNamed && record.isExecutable && arch !== undefined && !compatPerf;
  // Number 0 is that of all processes outside of perf's pid namespace, which have no file in common.
  if (isMappedTwice || isNamedCode || isHugetlb || isAnonymous(filename))
    return { kind: 'anon', name: record.isExecutable && record.pid !== 0 ? perfMapName(record.pid) : filename };
  // perf 6.1 takes vdsos of all programs on MIPS for one (observed).
  const isTold = arch !== undefined && MACHINES_WITH_HIGH_VDSO.includes(arch) && !(compatPerf && arch === 'mips64');
  if (filename === '[vdso]' && record.start < LIMIT_OF_32_BITS && isTold) {
    return { kind: 'vdso', name: '[vdso32]' };
  }
  if (filename === '[vdso]' || filename === '[vdso32]' || filename === '[vdsox32]') return { kind: 'vdso', name: filename };
  if (filename === '[vsyscall]' || filename === '') return { kind: 'anon', name: filename };
  return { kind: 'file', name: filename };
}

function jitName(filename: string): string {
  if (filename.includes('jit_app_cache')) return '[JIT app cache]';
  return filename.includes('jit_zygote_cache') ? '[JIT zygote cache]' : '[JIT cache]';
}

/**
 * What a map of a virtual machine's kernel is: its image, which perf calls `[guest.kernel.kallsyms]` or, with the number of the process that
 * runs it, `[guest.kernel.kallsyms.812]`; or a module.
 */
export function classifyGuestMap(filename: string): { name: string; isImage: boolean; referenceSymbol: string } {
  const [, image, referenceSymbol = ''] = /^(\[guest\.kernel\.kallsyms(?:\.\d+)?\])(\w*)$/.exec(filename) ?? [];
  return image === undefined
    ? { name: classifyKernelMap(filename).name, isImage: false, referenceSymbol: '' }
    : { name: image, isImage: true, referenceSymbol };
}

/** What a map of the kernel is: the image itself, or a module, which perf prints as `[name]`, with `_` for `-`. */
export function classifyKernelMap(filename: string): { kind: DsoKind; name: string; referenceSymbol: string } {
  if (filename.startsWith(KERNEL_NAME)) return { kind: 'kernel', name: KERNEL_NAME, referenceSymbol: filename.slice(KERNEL_NAME.length) };
  if (filename.startsWith('[') || filename.startsWith('/')) {
    const name = bracketedModuleName(filename);
    if (name !== undefined) return { kind: 'module', name, referenceSymbol: '' };
    if (filename.startsWith('/') || filename.startsWith('[kernel')) return { kind: 'kernel', name: filename, referenceSymbol: '' };
  }
  return { kind: 'module', name: filename, referenceSymbol: '' };
}

/** The build id that a recording lists under one of a DSO's names; empty for none. @param buildIdOf by name of the file */
export function listedBuildId({ kind, name, longName }: Pick<Dso, 'kind' | 'name' | 'longName'>, buildIdOf: (filename: string) => string | undefined): string {
  // Maps of 32-bit programs' vdsos say `[vdso]`, too: only the name that the DSO was given shows which one it is.
  const names = kind === 'vdso' ? [name] : [longName, name];
  return names.map(buildIdOf).find((id) => id !== undefined) ?? '';
}
