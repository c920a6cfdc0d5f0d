// Compiled from assembly/symtab/index.ts by `npm run generate`. Not to be edited.

import type { WasmGlobal, WasmMemory } from '../../base/bytes/web-assembly.ts';

/** The module's exports. Values are as WebAssembly has them: truth values are 0 and 1. */
export interface WasmExports {
  readonly memory: WasmMemory;
  readonly starts: WasmGlobal;
  readonly sizes: WasmGlobal;
  readonly nameOffsets: WasmGlobal;
  readonly nameLengths: WasmGlobal;
  readonly ranks: WasmGlobal;
  readonly loads: WasmGlobal;
  readonly entries: WasmGlobal;
  readonly names: WasmGlobal;
  readonly rowCount: WasmGlobal;
  readonly nameBytes: WasmGlobal;
  initialize(sizeBytes: number, segments: number): number;
  readSymbols(from: number, to: number, leavesDollars: boolean, maxNameBytes: number): number;
}

/** WebAssembly, in base64. */
export const CODE =
  'AGFzbQEAAAABEgNgAABgBH9/f3wBf2ACf38BfwMEAwABAgUDAQAABmwUfwFBAAt/AUEAC38BQQALfwFBAAt/AUEAC38BQQALfwFBAAt/AUEAC38BQQALfwFBAAt/AUEAC38BQQALfwFBAAt/AUEAC38BQQALfwFBAAt/AUEAC3wBRAAAAAAAAAAAC38BQQALfwFBAAsHiwENBnN0YXJ0cwMIBXNpemVzAwkLbmFtZU9mZnNldHMDCgtuYW1lTGVuZ3RocwMLBXJhbmtzAwwFbG9hZHMDDQdlbnRyaWVzAw4FbmFtZXMDDwhyb3dDb3VudAMQCW5hbWVCeXRlcwMRCmluaXRpYWxpemUAAgtyZWFkU3ltYm9scwABBm1lbW9yeQIACAEACuwEA2AAQYAIJABBgIgCJAFBgIgEJAJBgIgFJANBgIgGJARBgKgGJAVBgNgGJAZBgNgMJAdBgAgkCEGAiAIkCUGAiAQkCkGAiAUkC0GAiAYkDEGAqAYkDUGA2AYkDkGA2AwkDwvbAwMHfwF+A3wDQCAAIAFJBEACQAJAIwYgAEEYbGoiBigCACIIRSAIIxJPcg0AIAYtAAQhCSAGLwEGIgQEfyAEQf//A0cgBEGA/gNPcQVBAQsNACAJQQ9xIgRFDQEgBEEBRyAEQQJHcSAEQQpHcQ0AIwcgCGoiCiEEA0AgBCkDACILQoGChIiQoMCAAX0gC0J/hYNCgIGChIiQoMCAf4MiC3pCA4inIAQgCmtqIQcgC1AEQCAEQQhqIQQMAQsLIAdFDQAgDCAHuKAgA2QhBCACBH8gCi0AAEEkRgVBAAsgBHINASAGKQMIIgtCgICAgICAgHhTDQEgC7khDiMFIxNBGGxqIQojBSEEAnwDQCAEIApJBEAgDiAEKwMAoSINRAAAAAAAAAAAZgR/IA0gBCsDCGMFQQALBEAgDSAEKwMQoAwDCyAEQRhqIQQMAQsLRAAAAAAAAPC/CyINRAAAAAAAAAAAYw0BIAwgB7igIQwgBUEDdCIEIwBqIA05AwAjASAEaiAGKQMQujkDACAFQQJ0IgQjAmogCDYCACMDIARqIAc2AgAjBCAFakECIAlBBHYiBEECRyAEQQFGGzoAACAFQQFqIQULIABBAWohAAwCCwsLIAUkECAMJBEgAAssACAAJBIgASQTIwcgAGpBh4AEakEQdj8AayIAQQBMBH9BAQUgAEAAQQBOCws=';
