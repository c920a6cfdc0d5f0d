import type { ChosenRecording } from './messages.ts';

/** How many bytes a recording has, in all of its files. */
export function sizeOf(data: ChosenRecording['data']): number {
  return data instanceof Blob ? data.size : data.reduce((sum, file) => sum + file.data.size, 0);
}
