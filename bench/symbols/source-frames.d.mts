import type { NamedSymbol } from './elf-code.mjs';

/** One function at an address. */
export interface Frame {
  /** Linkage name; empty when unknown. */
  name: string;
  /** Without `.` and `..`; empty when unknown. */
  file: string;
  /** 0 when unknown. */
  line: number;
  /** 0 when unknown, and always for a {@link Peer} without columns. */
  column: number;
}

/** A program that symbolizes the addresses on its standard input. */
export interface Peer {
  readonly name: string;
  readonly hasColumns: boolean;
  /** Program and arguments. */
  readonly command: (binary: string) => string[];
  /** Frames of each address, the innermost first. */
  readonly parse: (text: string) => Frame[][];
}

export const PERFCONV: Peer;

export function referencePeer(program: string): Peer;

export interface Request {
  readonly binary: string;
  readonly addresses: readonly bigint[];
  /** Folder for temporary files, which the caller removes. */
  readonly directory: string;
  /** Program, with its arguments, under which the peer is run. */
  readonly wrapper?: readonly string[];
}

export function symbolize(peer: Peer, request: Request): { wallSeconds: number; stderr: string; frames(): Frame[][] };

export function difference(
  expected: readonly Frame[],
  actual: readonly Frame[],
  options: { columns: boolean; symbols?: ReadonlyMap<string, NamedSymbol> },
): string;

export function isExplained(kind: string): boolean;

export function framesText(frames: readonly Frame[]): string;
