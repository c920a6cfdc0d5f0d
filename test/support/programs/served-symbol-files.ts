import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import type { DebugFileKind, FetchedFile } from '../../../src/symbolizer/inputs/symbol-files.ts';
import { MadeFiles } from '../builders/made-symbol-files.ts';

/** A machine that also asks a server. */
export class ServedFiles extends MadeFiles {
  readonly served = new Map<DebugFileKind, Buffer>();
  readonly fetched: string[] = [];
  failure = '';

  async fetch(buildId: string, kind: DebugFileKind): Promise<FetchedFile> {
    this.fetched.push(kind);
    const place = `https://server/buildid/${buildId}/${kind}`;
    const bytes = this.served.get(kind);
    if (bytes !== undefined) return { source: new BufferSource(bytes, `/cache/${kind}`), places: [] };
    return { source: undefined, places: [{ place, outcome: this.failure === '' ? 'absent' : 'failed', detail: this.failure }] };
  }
}
