/**
 * Random access to the bytes of a file, at once: for what is met amid records that are played one after the other, where nothing can be waited
 * for, and of which little is read. All else comes through ByteSource.
 */
export interface BlockingSource {
  /** What to call it in messages. */
  readonly name: string;
  readonly sizeBytes: number;
  /**
   * Reads bytes from `position` on into `target`.
   * @returns bytes read: fewer than asked for only at the end
   * @throws PerfconvError `io`
   */
  readNow(position: number, target: Uint8Array): number;
  close(): void;
}
