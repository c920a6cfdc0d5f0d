import type { Frame } from '../call-tree.ts';
import { FrameBytes } from './frame-bytes.ts';
import { quotedForChrome, sampledName } from './text.ts';

/**
 * Frames as V8 writes them in its sampled profiles, from the comma before `"callFrame"` to the brace that closes it. Each file is a script with a number of its
 * own, by which viewers choose colors.
 * @param scriptId how the number of a script is written
 * @see Chrome DevTools Protocol, Runtime.CallFrame
 */
export function callFrames(frames: readonly Frame[], scriptId: (script: number) => string): FrameBytes {
  const scripts = new Map<string, number>();
  return new FrameBytes(frames, {
    before: ',"callFrame":{"functionName":',
    nameOf: sampledName,
    after: ({ file, line }) => {
      let script = scripts.get(file);
      if (script === undefined) {
        script = scripts.size + 1;
        scripts.set(file, script);
      }
      // Lines are 0-based. Numbers that are missing or -1 are shown as 0 after the file, null not at all. Observed: Chromium 156.
      const place = `"lineNumber":${line > 0 ? line - 1 : null},"columnNumber":null`;
      return `,"scriptId":${scriptId(script)},"url":${quotedForChrome(file)},${place}}`;
    },
  });
}
