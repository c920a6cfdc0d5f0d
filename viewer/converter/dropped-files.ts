import type { ChosenFile } from './messages.ts';

/** The files of a drop, with all that is in dropped folders. Must be called while the event is handled: afterwards, it has no files any more. */
export async function droppedFiles({ items }: DataTransfer): Promise<ChosenFile[]> {
  const dropped = [...items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile()).filter((one) => one !== null);
  return (await Promise.all(dropped.map((one) => (one instanceof File ? [{ path: one.name, data: one }] : filesIn(one))))).flat();
}

/** The files that were chosen in a dialog. */
export function pickedFiles(list: FileList): ChosenFile[] {
  return [...list].map((data) => ({ path: data.webkitRelativePath || data.name, data }));
}

async function filesIn(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (isFile(entry)) {
    const data = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    return [{ path: entry.fullPath.replace(/^\//, ''), data }];
  }
  if (!isDirectory(entry)) return [];
  const files: ChosenFile[] = [];
  const reader = entry.createReader();
  // It gives a hundred at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return files;
    for (const one of some) files.push(...(await filesIn(one)));
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
