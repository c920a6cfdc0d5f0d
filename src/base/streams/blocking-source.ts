/**
 * Synchronous random access to the bytes of a file: for files that turn up while records are replayed, when nothing can be awaited, and of which little is
 * read. Everything else comes through ByteSource.
 */
export interface BlockingSource {
  /** What to call it in messages. */
  readonly name: string;
  /** Size of the file when it was opened. */
  readonly sizeBytes: number;
  /**
   * Reads bytes from `position` on into `target`.
   * @returns how many bytes were read: fewer than asked for only at the end
   * @throws PerfconvError `io`
   */
  readNow(position: number, target: Uint8Array): number;
  /** Frees what is open. */
  close(): void;
}
