/** Unpacks bytes that are pushed into it, one push after the other. */
export interface Unpacker {
  /** Whether the data have ended and other bytes followed: nothing more is read. */
  readonly hasTrailing: boolean;
  /** @throws when the data are damaged */
  push(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void>;
  /** Ends the input. @throws when the data are cut off */
  end(take: (piece: Uint8Array) => void): Promise<void>;
  close(): void;
}
