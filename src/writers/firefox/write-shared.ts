import { ascendingOrder, placesIn } from '../../base/tables/ascending-order.ts';
import type { Mapping, Profile } from '../../profile/profile.ts';
import { type JsonWriter, quotedJson } from '../json-text.ts';
import { CATEGORY_OTHER, categoryOf, subcategoryOf } from './categories.ts';
import { putIndexOrNull, writeColumn } from './json-columns.ts';
import { columnOf, lineOf } from './positions.ts';
import { libName, type SharedTables } from './shared-tables.ts';

/** `ResourceType.Library`. Source: Firefox Profiler, src/types/profile.ts. */
const RESOURCE_LIBRARY = 1;
const MAX_INLINE_DEPTH = 255;

/** Writes `libs`: binaries with their build ids. */
export function writeLibs(out: JsonWriter, libs: readonly Mapping[], arch: string): void {
  const rows = libs.map((lib) => {
    const name = quotedJson(libName(lib));
    const path = quotedJson(lib.name);
    const ids = `"breakpadId":${quotedJson(breakpadId(lib.buildId))},"codeId":${lib.buildId === '' ? 'null' : quotedJson(lib.buildId)}`;
    return `{"arch":${quotedJson(arch)},"name":${name},"path":${path},"debugName":${name},"debugPath":${path},${ids}}`;
  });
  out.put(`\n"libs":[${rows.map((row) => `\n${row}`).join(',')}]`);
}

/**
 * A build id as Breakpad's tools write it: its first 16 bytes as a GUID, whose first three numbers are little-endian, and an age of 0. Empty if there is no
 * build id. Source: Breakpad, src/common/linux/file_id.cc.
 */
export function breakpadId(buildId: string): string {
  if (buildId === '') return '';
  const hex = buildId.padEnd(32, '0').slice(0, 32).toUpperCase();
  const bytes = (...places: number[]): string => places.map((place) => hex.slice(place * 2, place * 2 + 2)).join('');
  return `${bytes(3, 2, 1, 0, 5, 4, 7, 6)}${hex.slice(16)}0`;
}

/** Writes `shared`, the tables that all threads use. */
export async function writeShared(out: JsonWriter, profile: Profile, tables: SharedTables): Promise<void> {
  const { libs, texts } = tables;
  // All strings must be added before the list of strings is written.
  const resourceNames = libs.map((lib) => texts.literal(libName(lib)));

  const { labels, parents, size } = tables.stacks;
  const { frames, numbers } = orderByUse(tables);
  out.put(`\n"shared":{\n"stackTable":{"length":${size}`);
  await writeColumn(out, 'frame', size, (row) => out.number(numbers[labels[row]]));
  // How many rows before this one the caller's stack is; 0 for none.
  await writeColumn(out, 'prefixOffset', size, (row) => out.number(parents[row] < 0 ? 0 : row - parents[row]));
  out.put('},\n');
  await writeFrames(out, profile, tables, frames);

  out.put(',\n');
  await writeFuncs(out, tables);
  out.put(',\n');
  await writeResources(out, resourceNames);
  out.put(',\n');
  await writeNativeSymbols(out, tables);
  out.put(',\n');
  await writeSources(out, tables);
  out.put(',\n"sourceLocationTable":{"length":0,"source":[],"line":[],"column":[]},\n"stringArray":');
  await texts.write(out);
  out.put('}');
}

async function writeFuncs(out: JsonWriter, { funcs: { size, words }, funcLines }: SharedTables): Promise<void> {
  out.put(`"funcTable":{"length":${size}`);
  await writeColumn(out, 'name', size, (row) => out.number(words[row * 3]));
  await writeColumn(out, 'isJS', size, () => out.put('false'));
  await writeColumn(out, 'relevantForJS', size, () => out.put('false'));
  await writeColumn(out, 'resource', size, (row) => out.number(words[row * 3 + 2] - 1));
  await writeColumn(out, 'source', size, (row) => putIndexOrNull(out, words[row * 3 + 1] - 1));
  await writeColumn(out, 'lineNumber', size, (row) => putPositionOrNull(out, funcLines[row]));
  await writeColumn(out, 'columnNumber', size, () => out.put('null'));
  await writeColumn(out, 'originalLocation', size, () => out.put('null'));
  out.put('}');
}

/** @param names string indexes of the names of libraries */
async function writeResources(out: JsonWriter, names: readonly number[]): Promise<void> {
  out.put(`"resourceTable":{"length":${names.length}`);
  await writeColumn(out, 'name', names.length, (row) => out.number(names[row]));
  await writeColumn(out, 'host', names.length, () => out.put('null'));
  await writeColumn(out, 'type', names.length, () => out.number(RESOURCE_LIBRARY));
  out.put('}');
}

async function writeNativeSymbols(out: JsonWriter, { nativeSymbols: { size, words } }: SharedTables): Promise<void> {
  out.put(`"nativeSymbols":{"length":${size}`);
  await writeColumn(out, 'libIndex', size, (row) => out.number(words[row * 3]));
  await writeColumn(out, 'address', size, (row) => out.number(words[row * 3 + 1]));
  await writeColumn(out, 'name', size, (row) => out.number(words[row * 3 + 2]));
  await writeColumn(out, 'functionSize', size, () => out.put('null'));
  out.put('}');
}

async function writeSources(out: JsonWriter, { sources }: SharedTables): Promise<void> {
  out.put(`"sources":{"length":${sources.length}`);
  await writeColumn(out, 'id', sources.length, () => out.put('null'));
  await writeColumn(out, 'filename', sources.length, (row) => out.number(sources[row]));
  await writeColumn(out, 'startLine', sources.length, () => out.number(1));
  await writeColumn(out, 'startColumn', sources.length, () => out.number(1));
  await writeColumn(out, 'sourceMapURL', sources.length, () => out.put('null'));
  await writeColumn(out, 'content', sources.length, () => out.put('null'));
  out.put('}');
}

/**
 * The frames in the order in which they are written: those that occur in most stacks come first, since their numbers make up the longest column of a large
 * file.
 * @returns frames of the tables by row, and the row of each frame
 */
function orderByUse({ frameCount, stacks: { labels, size } }: SharedTables): { frames: Uint32Array; numbers: Uint32Array } {
  const uses = new Float64Array(frameCount);
  for (let row = 0; row < size; row++) uses[labels[row]]--;
  const frames = ascendingOrder(uses);
  return { frames, numbers: placesIn(frames) };
}

async function writeFrames(out: JsonWriter, profile: Profile, tables: SharedTables, frames: Uint32Array): Promise<void> {
  const { locations } = profile;
  const { frameCount, frameFunc, frameNth, frameLocation, frameNativeSymbol } = tables;
  const writeFrameColumn = (key: string, put: (frame: number) => void): Promise<void> => writeColumn(out, key, frameCount, (row) => put(frames[row]));
  out.put(`"frameTable":{"length":${frameCount}`);
  // For a call, an address inside the call instruction, which is before the return address.
  await writeFrameColumn('address', (frame) => {
    const location = frameLocation[frame];
    const address = location < 0 ? -1 : tables.addressOf(location);
    out.number(address > 0 && locations.isReturnAddress(location) ? address - 1 : address);
  });
  await writeFrameColumn('lib', (frame) => out.number(frameLocation[frame] < 0 ? -1 : tables.libOf(frameLocation[frame])));
  await writeFrameColumn('inlineDepth', (frame) => {
    const lineCount = frameLocation[frame] < 0 ? 0 : locations.lineCount(frameLocation[frame]);
    out.number(lineCount === 0 ? 0 : Math.min(MAX_INLINE_DEPTH, lineCount - 1 - frameNth[frame]));
  });
  await writeFrameColumn('category', (frame) =>
    out.number(frameLocation[frame] < 0 ? CATEGORY_OTHER : categoryOf(profile, frameLocation[frame], frameNth[frame])),
  );
  await writeFrameColumn('subcategory', (frame) => out.number(frameLocation[frame] < 0 ? 0 : subcategoryOf(profile, frameLocation[frame], frameNth[frame])));
  await writeFrameColumn('func', (frame) => out.number(frameFunc[frame]));
  await writeFrameColumn('nativeSymbol', (frame) => putIndexOrNull(out, frameNativeSymbol[frame]));
  await writeFrameColumn('innerWindowID', () => out.number(0));
  await writeFrameColumn('line', (frame) => putPositionOrNull(out, lineOf(profile, frameLocation[frame], frameNth[frame])));
  await writeFrameColumn('column', (frame) => putPositionOrNull(out, columnOf(profile, frameLocation[frame], frameNth[frame])));
  await writeFrameColumn('originalLocation', () => out.put('null'));
  out.put('}');
}

function putPositionOrNull(out: JsonWriter, position: number): void {
  if (position > 0) out.number(position);
  else out.put('null');
}
