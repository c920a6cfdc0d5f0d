import { element } from './dom.ts';

/** How long a browser may take to begin with a download. */
const DOWNLOAD_MS = 60_000;

/** Has the browser save a file. */
export function download(file: Blob, name: string): void {
  const link = element('a', '');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_MS);
}
