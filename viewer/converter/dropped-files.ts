import { pathOfFile } from '../../src/base/streams/named-file.ts';
import type { ChosenFile } from './messages.ts';

/** Stands for what the browser may not read, such as a folder of another user. */
export const UNREADABLE = new Blob([]);

/** The files of a drop, with all that is in dropped folders. Must be called while the event is handled: afterwards, it has no files any more. */
export async function droppedFiles({ items }: DataTransfer): Promise<ChosenFile[]> {
  const dropped = [...items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile()).filter((one) => one !== null);
  return (await Promise.all(dropped.map((one) => (one instanceof File ? [{ path: one.name, data: one }] : filesIn(one))))).flat();
}

/** The files that were chosen in a dialog. */
export function pickedFiles(list: FileList): ChosenFile[] {
  return [...list].map((data) => ({ path: pathOfFile(data), data }));
}

/** The files in a folder, or the file itself. What the browser may not read stands in place of what is in it. */
async function filesIn(entry: FileSystemEntry): Promise<ChosenFile[]> {
  const path = entry.fullPath.replace(/^\//, '');
  try {
    if (isFile(entry)) return [{ path, data: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)) }];
    if (!isDirectory(entry)) return [];
    return (await Promise.all((await entriesIn(entry)).map(filesIn))).flat();
  } catch {
    return [{ path, data: UNREADABLE }];
  }
}

async function entriesIn(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const entries: FileSystemEntry[] = [];
  const reader = folder.createReader();
  // It gives a hundred at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return entries;
    entries.push(...some);
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
