// Compiled from assembly/kallsyms/index.ts by `npm run generate`. Not to be edited.

/** Memory of an instance. After it has grown, its `buffer` is another one, and views of the one before have no bytes any more. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** A variable that an instance exports. */
export interface WasmGlobal {
  value: number;
}

/** The module's exports. Values are as WebAssembly has them: truth values are 0 and 1. */
export interface WasmExports {
  readonly memory: WasmMemory;
  readonly starts: WasmGlobal;
  readonly nameOffsets: WasmGlobal;
  readonly nameLengths: WasmGlobal;
  readonly tail: WasmGlobal;
  readonly window: WasmGlobal;
  readonly rowCount: WasmGlobal;
  initialize(): number;
  readLines(from: number, sizeBytes: number, windowStart: number, tailSizeBytes: number, least: number): number;
}

/** WebAssembly, in base64. */
export const CODE =
  'AGFzbQEAAAABEQNgAABgBX9/f398AX9gAAF/AwQDAAECBQMBAAAGPQx/AUEAC38BQQALfwFBAAt/AUEAC38BQQALfwFBAAt/AUEAC38BQQALfwFBAAt/AUEAC38BQQALfwFBAAsHYwkGc3RhcnRzAwYLbmFtZU9mZnNldHMDBwtuYW1lTGVuZ3RocwMIBHRhaWwDCQZ3aW5kb3cDCghyb3dDb3VudAMLCmluaXRpYWxpemUAAglyZWFkTGluZXMAAQZtZW1vcnkCAAgBAArpCANCAEGACCQAQZCOAyQBQZjRBCQCQaCUBiQDQeCUBiQEQeiUDiQFQYAIJAZBkI4DJAdBmNEEJAhBoJQGJAlB4JQGJAoL/wcDCn8BfAR+IAREAAAAAAAA8P9kIQwjBCABaiEJIwQgAGohCANAIAhBFWogCU1BACADGwRAAkACfiAIKQMIIhBCBohCgYKEiJCgwIABg0IJfiAQQo+evPjw4cOHD4N8IhFChoyYsODAgYMGfEIEiEKBgoSIkKDAgAGDIRJCfyARQvDhw4ePnrz4cINCAFIEf0EBBSARQrDgwIGDhoyYMHwgEkInfnwgEFILDQAaIBFCBIYgEUIIiIRC/4H8h/CfwP8AgyIQQgiGIBBCEIiEQv//g4Dw/z+DIhBCEIYgEEIgiIRC/////w+DCyIRQn9RAn4gCCkDACISQgaIQoGChIiQoMCAAYNCCX4gEkKPnrz48OHDhw+DfCIQQoaMmLDgwIGDBnxCBIhCgYKEiJCgwIABgyETQn8gEELw4cOHj568+HCDQgBSBH9BAQUgEEKw4MCBg4aMmDB8IBNCJ358IBJSCw0AGiAQQgSGIBBCCIiEQv+B/Ifwn8D/AIMiEEIIhiAQQhCIhEL//4OA8P8/gyIQQhCGIBBCIIiEQv////8PgwsiEEJ/UXIEf0EBBSAILQAQQSBHCwR/QQEFIAgtABJBIEcLDQAgEEIghiARhCIQUCAQQoCAgICAgIB4U3INACAIQRNqIgohAQJ/A0AgASAJSQRAIAEpAwAiEUKhwoSJkqTIkCF9IBFCf4WDQoCBgoSIkKDAgH+DIhFCAFIEQCABIBF6QgOIp2oiACAJIAAgCUkbDAMLIAFBCGohAQwBCwsgCQsiBSAKRiADIAVqIAlLcgR/QQAFIAMhACAFIgEtAAAjAy0AAEYEfyAAQQFGBH9BAAVBACEGAkAjAyIHIAFGDQAgAUEHcSAHQQdxRgRAA0AgAUEHcQRAQQAhBiAARQ0DIAEtAAAiDSAHLQAAIg5rIQYgDSAORw0DIABBAWshACABQQFqIQEgB0EBaiEHDAELCwNAIABBCE8EQCABKQMAIAcpAwBRBEAgAUEIaiEBIAdBCGohByAAQQhrIQAMAgsLCwsDQCAAIgZBAWshACAGBEAgAS0AACINIActAAAiDmshBiANIA5HDQIgAUEBaiEBIAdBAWohBwwBCwtBACEGCyAGCwVBAQtFC0UNACAILQARQSByIgFB9ABGIgBFBEAgAUH3AEYhAAsgAEUEQCABQeQARiEACyAAIAFB4gBGIAAbBH8gCi0AAEEkRwVBAAsEQCAQuSIPIARjIAxxDQEjACALQQFqIAsgC0UgBCAPYnIbIgtBAWsiAEEDdGogDzkDACAAQQJ0IgAjAWogAiAKIwRrajYCACMCIABqIAUgCms2AgAgDyEECyADIAVqIQgMAgsLCyALJAsgCCMEawsjAQF/IwVB//8DakEQdj8AayIAQQBMBH9BAQUgAEAAQQBOCws=';
