import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { ByteSource, OnProgress } from '../../base/streams/byte-source.ts';
import type { RecordCursor } from './record-cursor.ts';

/** Bytes of a hardware trace, which follow its AUXTRACE. */
export interface CarriedTrace {
  /** Where they can be read, and from which position on: the recording itself, or a file of a directory. */
  readonly source: ByteSource;
  readonly position: number;
  readonly sizeBytes: number;
  /** The bytes themselves, not to be changed, if {@link RecordVisitor.keepsTraces} is true. */
  readonly bytes: Uint8Array | undefined;
}

/** Sees the records of a recording one after another, those inside compressed data after the record that carries them. */
export interface RecordVisitor {
  /** Looks at a record in place: its bytes are gone afterwards. */
  visit(record: RecordCursor): void;
  /** Receives the bytes of TRACING_DATA, after the record itself was seen. */
  visitTracingData(bytes: Uint8Array, fileOffset: number): void;
  /** Receives where the bytes of a hardware trace are, after its AUXTRACE was seen. Without this method, they are stepped over. */
  visitTrace?(trace: CarriedTrace): void;
  /** Whether {@link visitTrace} needs the bytes themselves. */
  readonly keepsTraces?: boolean;
  /**
   * For a directory recording, whose files were written side by side: called when a piece of part `part` has been visited. Without this method, the parts are
   * walked one after another.
   * @param isLast whether the part ends here
   * @returns the newest time seen in the part so far: the part whose newest record is the oldest is read on
   */
  endPiece?(part: number, isLast: boolean): number;
  /** Whether the visitor waits for something, usually a file: if so after a call of its methods, the walk awaits {@link settle} before it goes on. */
  readonly isBlocked?: boolean;
  /** Waits until {@link isBlocked} is false. Called only while it is true. */
  settle?(): Promise<void>;
  /**
   * Asked now and then whether the visitor cannot accept more: then the walk ends there, as if the recording did.
   * @param readBytes how much has been read of all parts
   * @returns why, for the message; undefined to go on
   */
  whyFull?(readBytes: number): string | undefined;
}

export interface WalkOptions {
  /** Awaited before each COMPRESSED record is unpacked, which may hold a great many records. */
  readonly beforeUnpacking?: () => Promise<void>;
  /** Called now and then with the number of bytes read, of all parts. */
  readonly onProgress?: OnProgress;
}

/** Whether a walk stops before the end, because its visitor cannot accept more. */
export class WalkStop {
  /** How much has been read of all parts. */
  readBytes = 0;
  /** Why it stopped; undefined until then. */
  reason: string | undefined;
  readonly #visitor: RecordVisitor;

  constructor(visitor: RecordVisitor) {
    this.#visitor = visitor;
  }

  /** Asks the visitor. @returns whether the walk stops here */
  ask(): boolean {
    this.reason ??= this.#visitor.whyFull?.(this.readBytes);
    return this.reason !== undefined;
  }
}

/** A walk through all files of a recording: what their records share. */
export interface Walk {
  readonly visitor: RecordVisitor;
  readonly stop: WalkStop;
  readonly options: WalkOptions;
  readonly diagnostics: Diagnostics;
}
