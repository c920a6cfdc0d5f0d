import { fileName } from '../base/names/file-name.ts';
import { perfMapPid } from '../base/names/jit-file-names.ts';
import type { OptionWords } from '../base/problems/option-words.ts';
import { UPROBES_NAME } from '../session/processes/dsos.ts';
import { NO_ELF, type SearchedPlace } from '../symbolizer/inputs/search-log.ts';
import { UNIDENTIFIED_KERNEL } from '../symbolizer/kernel/kernel-identity.ts';
import { DELETED, isOfProcess, withoutDeleted } from '../symbolizer/search/candidates.ts';
import type { DsoSymbols } from './dso-symbols.ts';
import { jitOptions } from './jit-options.ts';

/** What distributions call their packages of debug symbols. */
const DEBUG_PACKAGES = '…-dbgsym, …-dbg or …-debuginfo';

/**
 * Advice on how to get the names, or else the lines, that a DSO lacks; empty when nothing is missing or nothing helps.
 * @param dsos all of the recording
 * @param option how it names options
 */
export function symbolHelp(dso: DsoSymbols, dsos: readonly DsoSymbols[], option: OptionWords): string {
  const lacksNames = dso.namedLocations < dso.locations;
  // Names and lines of the wrong file are worse than none.
  const doubted = dso.places.find(({ doubt }) => doubt === 'changed')?.place;
  if (doubted !== undefined)
    return `${doubted} may not be what was recorded: give the recorded file with ${option('symfs', 'DIR')}; a build id (ld --build-id, perf record --buildid-mmap) would settle it`;
  if (!lacksNames && dso.lineLocations !== 0) return splitHelp(dso, option);
  switch (dso.kind) {
    case 'file':
      return fileHelp(dso, lacksNames, option);
    case 'kernel':
      return lacksNames ? kernelHelp(dso, option) : `for files and lines: give the vmlinux of the kernel's debug package with ${option('vmlinux', 'FILE')}`;
    case 'module':
      return lacksNames ? kernelHelp(dso, option) : '';
    case 'vdso':
      return lacksNames
        ? `convert it where it was recorded, or give that machine's build-id cache with ${option('buildidDir', 'DIR')}${serverHelp(dso, option)}`
        : '';
    case 'anon':
      return lacksNames ? codeAtRunTimeHelp(dso, dsos, option) : '';
    case 'guest':
      return lacksNames
        ? `give a copy of the virtual machine's /proc/kallsyms, made as root there, with ${option('guestkallsyms', 'FILE')}, or its vmlinux with ${option('guestvmlinux', 'FILE')}`
        : '';
  }
}

/**
 * Advice on how to get the debug information that gcc and clang write to `.dwo` files; empty when none of it is
 * missing.
 */
function splitHelp({ places }: DsoSymbols, option: OptionWords): string {
  const missing = places.find(({ place, outcome }) => (outcome === 'absent' || outcome === 'forbidden') && place.endsWith('.dwo'));
  if (missing === undefined) return '';
  const name = fileName(missing.place);
  return `for all inlined functions: give the directory of ${name} with ${option('debugDir', 'DIR')}, or combine all .dwo files into BINARY.dwp next to the binary, with llvm-dwp -e BINARY`;
}

function fileHelp(dso: DsoSymbols, lacksNames: boolean, option: OptionWords): string {
  const { places } = dso;
  const fitting = places.filter(({ outcome }) => outcome === 'fits');
  const fetch = serverHelp(dso, option);
  if (fitting.length === 0) return missingFileHelp(dso, fetch, option);
  const cut = fitting.find(({ holds }) => holds.isCut === true);
  const isWhole = fitting.some(({ holds }) => holds.code === true && holds.isCut !== true);
  if (cut !== undefined && !isWhole) return `${cut.place} is cut off: give the whole file with ${option('symfs', 'DIR')}${fetch}`;
  if (lacksNames && fitting.every(({ holds }) => holds.code === false)) {
    return `its debug file does not say where the code was in the binary: give the binary, too, with ${option('symfs', 'DIR')}${fetch}`;
  }
  const isStripped = !fitting.some(({ holds }) => holds.symbols === 'symtab');
  if (lacksNames && !isStripped) return '';
  // Code without a line in its debug information, such as assembly, has none anywhere.
  if (!lacksNames && fitting.some(({ holds }) => holds.debugInfo === true)) return '';
  const install = `install its debug symbols (package ${DEBUG_PACKAGES})`;
  if (!isStripped) return `for files and lines: compile with -g, or ${install}${fetch}`;
  return `${lacksNames ? '' : 'for files and lines: '}it is stripped: ${install}, give them with ${option('debugDir', 'DIR')}, or give the unstripped file with ${option('symfs', 'DIR')}${fetch}`;
}

/** @param fetch advice to ask servers, as the end of a sentence; empty if they cannot help */
function missingFileHelp({ name, places, buildId }: DsoSymbols, fetch: string, option: OptionWords): string {
  if (name === UPROBES_NAME) return 'it is no file: the kernel runs probed instructions there';
  const isBinary = (place: string): boolean => place.endsWith(name) && !isOfProcess(place);
  const search = (wanted: SearchedPlace['outcome'], isMeant = (_: string): boolean => true): SearchedPlace | undefined =>
    places.find(({ outcome, place }) => outcome === wanted && isMeant(place));
  const found = (...wanted: Parameters<typeof search>): string | undefined => search(...wanted)?.place;
  const other = found('other-build-id', (place) => !isOfProcess(place));
  if (other !== undefined) return `${other} is not what was recorded: give the recorded file with ${option('symfs', 'DIR')}${fetch}`;
  const forbidden = found('forbidden', isBinary);
  if (forbidden !== undefined) return `there is no permission to read ${forbidden}: convert the recording as a user, or in a program, that may read it`;
  const damaged = search('damaged', isBinary);
  // A recorded build id is that of an ELF file.
  if (damaged?.detail.endsWith(NO_ELF) && buildId === '')
    return `${damaged.place} is not an ELF file: code that a runtime keeps in a format of its own, as .NET, SBCL and Wine do, cannot be named; if the file was replaced, give the recorded one with ${option('symfs', 'DIR')}`;
  if (damaged !== undefined) return `${damaged.place} is not a readable binary: give the recorded file with ${option('symfs', 'DIR')}${fetch}`;
  if (buildId === '' && isUnnamedFile(name)) return 'it is a file that never had a name (O_TMPFILE), in which programs put code that they make at run time';
  if (buildId === '' && name.endsWith(DELETED)) {
    const kept = withoutDeleted(fileName(name));
    const why = name.startsWith('/memfd:') ? 'it was in memory only (memfd_create)' : 'it was deleted before perf could note its build id';
    return `${why}: give the file that ran, as DIR/${kept}, with ${option('symfs', 'DIR')}`;
  }
  return `its file was not found: give the recorded files with ${option('symfs', 'DIR')}${fetch}`;
}

/** Whether a file was made without a name: the kernel calls it by its inode. Source: `d_tmpfile` in Linux's fs/dcache.c; observed: Linux 6.18. */
function isUnnamedFile(name: string): boolean {
  return /\/#\d+ \(deleted\)$/.test(name);
}

/** Advice to ask servers, as the end of a sentence; empty if they were asked, or would not be. */
function serverHelp({ places, buildId, mayAskServers }: DsoSymbols, option: OptionWords): string {
  const wereAsked = places.some(({ place }) => /^https?:/.test(place));
  return buildId === '' || wereAsked || !mayAskServers ? '' : `, or ${option('debuginfod', 'URL')}`;
}

function kernelHelp(dso: DsoSymbols, option: OptionWords): string {
  const { places } = dso;
  const isHidden = places.some(({ outcome, detail }) => outcome === 'damaged' && detail.includes('kptr_restrict'));
  if (isHidden) return `run as root, or with kernel.kptr_restrict=0; or give a copy of /proc/kallsyms, made as root, with ${option('kallsyms', 'FILE')}`;
  const isUnidentified = places.some(({ detail }) => detail === UNIDENTIFIED_KERNEL);
  const live = isUnidentified ? `${option('kallsyms', '/proc/kallsyms')} if this machine made the recording and has not been restarted since; else ` : '';
  return `give ${live}a copy of the recording machine's /proc/kallsyms, made as root, with ${option('kallsyms', 'FILE')}, or its vmlinux with ${option('vmlinux', 'FILE')}${serverHelp(dso, option)}`;
}

function codeAtRunTimeHelp({ name, places }: DsoSymbols, dsos: readonly DsoSymbols[], option: OptionWords): string {
  const refused = places.find(({ outcome }) => outcome === 'refused')?.place;
  if (refused !== undefined)
    return `${option('perfMapDir', refused.slice(0, refused.lastIndexOf('/')))} trusts what is there, whoever wrote it: check it first`;
  if (perfMapPid(name) === undefined) return '';
  const options = jitOptions(dsos.map((dso) => dso.name));
  return `code made at run time has names if ${name} or a jitdump file is written and kept: ${options}`;
}
