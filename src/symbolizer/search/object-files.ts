import { PerfconvError } from '../../base/problems/errors.ts';
import { BufferSource } from '../../base/streams/byte-source.ts';
import { hasDebugInfo } from '../../dwarf/sections/elf-debug-sections.ts';
import { isKnownBuildId } from '../../elf/build-id.ts';
import { ElfFile } from '../../elf/elf-file.ts';
import { withCodeAt } from '../../elf/segment-offsets.ts';
import { hasDynsym, hasSymtab } from '../../elf/symbols/elf-symbols.ts';
import { mayHaveGoTable } from '../../gopclntab/go-functions.ts';
import { SERVED_KINDS, type SymbolFiles } from '../inputs/symbol-files.ts';
import {
  binaryPlaces,
  debugFilePlaces,
  debugLinkPlaces,
  inodeOf,
  isOfProcess,
  isStoredPath,
  perfPlaces,
  type RecordedFile,
  type SearchedDirectories,
  withoutProcess,
} from './candidates.ts';
import type { CheckedFiles } from './checked-files.ts';
import { readDebugLink } from './debug-link.ts';
import type { MappedFiles } from './mapped-files.ts';

const MINI_DEBUG_INFO = '.gnu_debugdata';
/** The symbols of the largest programs take some ten megabytes. */
const MAX_UNPACKED_SIZE_BYTES = 256 << 20;

/** The files found for one DSO. One file may play all parts. */
export interface ObjectFiles {
  /**
   * The file that was mapped, which translates addresses and has the PLT; else a debug file, with the binary's offsets
   * as far as they are known.
   */
  readonly runtime: ElfFile;
  /** The file whose symbol table is used: the first with a `.symtab`, else the one that was mapped; undefined if neither has symbols. */
  readonly symbols: ElfFile | undefined;
  /** The file with debug information; undefined if there is none or it was not asked for. */
  readonly debugInfo: ElfFile | undefined;
}

/** The file to look for, and where. */
export interface WantedFile extends RecordedFile {
  /** File offset at which code was mapped first; absent when unknown. */
  readonly codeStart?: number;
  /** Whether other files of the same path were recorded, so that the build id may be that of one of them. */
  readonly sharesName?: boolean;
  readonly wantsLines: boolean;
  /** Whether a file with debug information on this machine is of use: it may have unwinding rules that the binary lacks. */
  readonly wantsRules?: boolean;
  /** Whether a binary without symbols is of use: it may say where its functions begin. */
  readonly wantsStarts?: boolean;
  /** A time at which the recording had ended, nanoseconds since 1970; absent when unknown. */
  readonly recordedUntilNs?: bigint;
  /** In the order in which perf 6.1 looks, and only where it looks. */
  readonly compatPerf: boolean;
  readonly dirs: SearchedDirectories;
}

/**
 * Looks for the files of a DSO. Without a recorded build id, the file at the recorded path is trusted, and its debug files must match it. With `symfs` and no
 * build id, this machine's own file at that path is not trusted, since the path is another machine's. A file that the process still has mapped comes before all
 * others: it is the recorded file itself.
 *
 * The binary's own `.symtab` and debug information come before those of a debug file, and a debug file's `.symtab` before `.gnu_debugdata`, which has fewer
 * symbols. `.dynsym` alone is used if there is nothing else.
 * @returns undefined if no useful file was found
 */
export async function findObjectFiles(files: CheckedFiles, host: SymbolFiles, mappedFiles: MappedFiles, file: WantedFile): Promise<ObjectFiles | undefined> {
  const wanted = (await isAlive(host, file.pid)) ? file : withoutProcess(file);
  if (!isStoredPath(wanted.path)) files.search.note(wanted.path, 'skipped', 'this is not the path of a file on disk');
  return wanted.compatPerf ? findAsPerf(files, wanted) : findBest(files, host, mappedFiles, wanted);
}

/** Whether a process still runs. One that has ended has no files in /proc. */
async function isAlive(host: SymbolFiles, pid = 0): Promise<boolean> {
  const source = pid > 0 ? await host.open(`/proc/${pid}/comm`) : undefined;
  await source?.close();
  return source !== undefined;
}

async function findBest(files: CheckedFiles, host: SymbolFiles, mappedFiles: MappedFiles, wanted: WantedFile): Promise<ObjectFiles | undefined> {
  const parts = new Parts(wanted.wantsLines || wanted.wantsRules === true);
  const mapped = await openMapped(files, mappedFiles, wanted);
  const buildId = mapped === undefined ? wanted.buildId : await checkedId('', mapped);
  if (mapped !== undefined) parts.take(mapped);
  let first = mapped;
  let cut: ElfFile | undefined;
  for (const place of binaryPlaces(wanted, wanted.dirs)) {
    if (parts.runtime !== undefined) break;
    const elf = await files.open(place, buildId, { isGuess: isOfProcess(place), isMapped: true });
    // In the cache of old perf versions, a build id is a file; in that of newer ones, a directory.
    if (elf === undefined && place.endsWith(wanted.path)) await files.noteOtherKind(place);
    if (elf === undefined) continue;
    // The complete file may be at another place.
    if (elf.isCut && isKnownBuildId(buildId)) {
      cut ??= elf;
      continue;
    }
    first ??= elf;
    parts.take(elf);
    if (place === wanted.path && !isKnownBuildId(wanted.buildId)) await checkStamp(files, host, wanted, elf);
  }
  if (parts.runtime === undefined && cut !== undefined) {
    first ??= cut;
    parts.take(cut);
  }
  const file = { ...wanted, buildId: await checkedId(buildId, first) };
  if (!parts.isComplete) await takeDebugFiles(files, file, parts);
  // Servers are not queried for rules alone.
  parts.wantsDebugInfo = wanted.wantsLines;
  if (!parts.isComplete) await takeServed(files, file, parts);
  if (parts.runtime !== undefined && parts.symbols === undefined) parts.miniDebugInfo = await openMiniDebugInfo(parts.runtime, host, files);
  const found = parts.finish(files, wanted);
  if (found !== undefined && mapped === undefined && wanted.sharesName === true) files.doubtShared(wanted.path, found.runtime);
  return found;
}

/**
 * The binary that the process still has mapped, for the case that no build id identifies it: perf notes no build id of a file that it cannot open or that has
 * no sample's leaf, and only one for several files with the same path in different containers.
 */
async function openMapped(files: CheckedFiles, mappedFiles: MappedFiles, wanted: WantedFile): Promise<ElfFile | undefined> {
  const { buildId, sharesName = false, pid, fileIdentity, dirs } = wanted;
  // With `symfs` the process was another machine's.
  if ((isKnownBuildId(buildId) && !sharesName) || dirs.symfs !== undefined) return undefined;
  for (const place of await mappedFiles.places(pid, fileIdentity)) {
    const elf = await files.open(place, '', { isMapped: true });
    if (elf === undefined) continue;
    files.search.mappedBuildId = (await elf.buildId()) ?? '';
    return elf;
  }
  return undefined;
}

/**
 * Notes a doubt about a file at the recorded path that no build id confirms, if it was replaced since or is another
 * machine's. Such a file has a different inode or, since file systems reuse the numbers of removed files, a later time.
 */
async function checkStamp(files: CheckedFiles, host: SymbolFiles, { path, fileIdentity = '', recordedUntilNs }: WantedFile, elf: ElfFile): Promise<void> {
  const stamp = await host.stamp?.(path);
  if (stamp === undefined) return;
  const inode = inodeOf(fileIdentity);
  if (inode !== undefined && inode !== stamp.inode) files.doubtChanged(elf, 'its inode is not the recorded one');
  else if (recordedUntilNs !== undefined && stamp.modifiedNs > recordedUntilNs) files.doubtChanged(elf, 'it was changed after the recording was made');
}

async function takeDebugFiles(files: CheckedFiles, file: WantedFile, parts: Parts): Promise<void> {
  const link = await linkOf(parts.runtime, file);
  for (const place of debugFilePlaces(file, link.places, file.dirs)) {
    if (parts.isComplete) return;
    const elf = await files.open(place, file.buildId, { crc: crcAt(place, link), isGuess: isOfProcess(place) });
    if (elf !== undefined) parts.take(elf);
  }
}

/** A debug link, and the places to which it points. */
interface PlacedLink {
  readonly crc: number;
  readonly places: readonly string[];
}

async function linkOf(binary: ElfFile | undefined, file: WantedFile): Promise<PlacedLink> {
  const link = binary && (await readDebugLink(binary));
  if (binary === undefined || link === undefined) return { crc: 0, places: [] };
  return { crc: link.crc, places: debugLinkPlaces(file, link.fileName, binary.source.name, file.dirs) };
}

/** The CRC that a file at `place` must have if no build id decides; undefined for places to which no debug link points. */
function crcAt(place: string, { crc, places }: PlacedLink): number | undefined {
  return places.includes(place) ? crc : undefined;
}

/**
 * The ELF file in `.gnu_debugdata`, compressed by xz. It has the symbols of functions that are not in `.dynsym`, and
 * nothing else. Source: gdb's documentation, "MiniDebugInfo".
 * @returns undefined if there is none or it cannot be read
 */
async function openMiniDebugInfo(binary: ElfFile, host: SymbolFiles, files: CheckedFiles): Promise<ElfFile | undefined> {
  const section = binary.section(MINI_DEBUG_INFO);
  if (section === undefined) return undefined;
  const place = `${MINI_DEBUG_INFO} in ${binary.source.name}`;
  try {
    const { bytes } = await binary.readSection(section);
    const unpacked = await host.decompress('xz', bytes, MAX_UNPACKED_SIZE_BYTES);
    const elf = await ElfFile.open(new BufferSource(unpacked, place));
    const symbols = hasSymtab(elf) ? 'symtab' : 'none';
    files.search.note(place, 'fits', '', { symbols });
    return symbols === 'symtab' ? elf : undefined;
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
    files.noteDamage(place, error);
    return undefined;
  }
}

/** Fetches from servers what was not found on this machine. */
async function takeServed(files: CheckedFiles, { buildId }: WantedFile, parts: Parts): Promise<void> {
  for (const kind of SERVED_KINDS) {
    if (kind === 'executable' ? parts.runtime !== undefined : parts.needsNoDebugFile) continue;
    const elf = await files.fetch(buildId, kind);
    if (elf !== undefined) parts.take(elf);
  }
}

async function findAsPerf(files: CheckedFiles, wanted: WantedFile): Promise<ObjectFiles | undefined> {
  let binary: ElfFile | undefined;
  for (const place of binaryPlaces(withoutProcess(wanted), { debugDirs: [], ...(wanted.dirs.symfs !== undefined && { symfs: wanted.dirs.symfs }) })) {
    binary ??= await files.open(place, wanted.buildId, { isMapped: true });
  }
  const file = { ...wanted, buildId: await checkedId(wanted.buildId, binary) };
  const link = await linkOf(binary, withoutProcess(file));
  const parts = new Parts(wanted.wantsLines);
  for (const place of perfPlaces(file, link.places, wanted.dirs)) {
    if (parts.isComplete) break;
    // With a `symfs` that has the binary, this machine's own file is usually another one.
    if (place === wanted.path && binary !== undefined && binary.source.name !== place) continue;
    const elf = await files.open(place, file.buildId, { crc: crcAt(place, link) });
    if (elf !== undefined) parts.take(elf);
  }
  return parts.finish(files, wanted);
}

/** The build id that debug files must have. */
async function checkedId(buildId: string, binary: ElfFile | undefined): Promise<string> {
  return isKnownBuildId(buildId) ? buildId : ((await binary?.buildId()) ?? '');
}

/** Decides which file is used for what, as files are found one after the other. */
class Parts {
  runtime: ElfFile | undefined;
  symbols: ElfFile | undefined;
  debugInfo: ElfFile | undefined;
  miniDebugInfo: ElfFile | undefined;
  /** Whether to look for files until one has debug information. */
  wantsDebugInfo: boolean;
  #firstDebugFile: ElfFile | undefined;

  constructor(wantsDebugInfo: boolean) {
    this.wantsDebugInfo = wantsDebugInfo;
  }

  /** Whether nothing is missing that a debug file could add. */
  get needsNoDebugFile(): boolean {
    return this.symbols !== undefined && (this.debugInfo !== undefined || !this.wantsDebugInfo);
  }

  get isComplete(): boolean {
    return this.runtime !== undefined && this.needsNoDebugFile;
  }

  take(elf: ElfFile): void {
    if (elf.hasCode) this.runtime ??= elf;
    else this.#firstDebugFile ??= elf;
    if (hasSymtab(elf)) this.symbols ??= elf;
    if (this.wantsDebugInfo && hasDebugInfo(elf)) this.debugInfo ??= elf;
  }

  finish({ search }: CheckedFiles, { codeStart, wantsStarts = false, compatPerf }: WantedFile): ObjectFiles | undefined {
    const runtime = this.runtime ?? (this.#firstDebugFile && withCodeAt(this.#firstDebugFile, codeStart));
    if (runtime === undefined) return undefined;
    const symbols = this.symbols ?? this.miniDebugInfo ?? (hasDynsym(runtime) ? runtime : undefined);
    const hasGoTable = !compatPerf && mayHaveGoTable(runtime);
    const { debugInfo } = this;
    if (symbols === undefined && debugInfo === undefined && !hasGoTable) return wantsStarts ? { runtime, symbols, debugInfo } : undefined;
    search.use(runtime.source.name, 'addresses');
    if (symbols !== undefined || hasGoTable) search.use((symbols ?? runtime).source.name, 'symbols');
    if (debugInfo !== undefined) search.use(debugInfo.source.name, 'lines');
    return { runtime, symbols, debugInfo };
  }
}
