import type { PageData } from '../src/writers/html/page-data.ts';

/** Reads what the writer put into the page: base64 of JSON compressed with deflate. */
export async function loadData(text: string): Promise<PageData> {
  return (await unpacked(text).json()) as PageData;
}

/** Unpacks base64 of what is compressed with deflate. */
export function unpacked(text: string): Response {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')));
}
