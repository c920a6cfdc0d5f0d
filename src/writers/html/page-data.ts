/*
 * What the page of `-t html` gets: one JSON object. The writer makes it, and viewer/ reads it. Tables are columns of equal length, and refer to one another by
 * index. All texts can be shown as they are: whatever would act on the page or could not be seen is escaped (`printable`).
 */

import type { Weight } from '../../profile/weight.ts';

/**
 * What code is, for colors:
 * - `user`: a function of a program or library
 * - `kernel`: code of a kernel or its modules, with or without a name
 * - `jit`: a function that was made at run time
 * - `unknown`: user code without a name
 * - `mark`: no code, but what is known about a stack: `[truncated]`, `(no stack)`
 */
export const CODE_KINDS = ['user', 'kernel', 'jit', 'unknown', 'mark'] as const;
export type CodeKind = (typeof CODE_KINDS)[number];

/** What is said once about a recording. */
export interface PageHead {
  /** What the recording was called. */
  readonly name: string;
  /** The command that made the recording; empty if unknown. */
  readonly command: string;
  /** Which samples of the recording the page has: `comm nginx, time 10%-20%, without 3 truncated stacks`; empty for all of them. */
  readonly filter: string;
  /** From the first sample to the last; 0 if samples carry no time. */
  readonly durationNs: number;
  /** The program that wrote the page. */
  readonly exporter: string;
  /** What is shown first: index into `events`, and what is added up. */
  readonly event: number;
  readonly weight: Weight;
  /** Whether stacks are first shown below the names of their recordings. */
  readonly byInput: boolean;
  /** Names of the recordings, if several were merged; else empty. */
  readonly inputs: readonly string[];
  readonly events: readonly PageEvent[];
  readonly processes: readonly PageProcess[];
  readonly threads: readonly PageThread[];
}

export interface PageData extends PageHead {
  /** The texts that columns refer to. 0 is the empty one. */
  readonly strings: readonly string[];
  readonly functions: {
    /** String indexes: the name to show; with its parameters, if that differs, else 0; the source file; the binary. */
    readonly name: readonly number[];
    readonly fullName: readonly number[];
    readonly file: readonly number[];
    readonly binary: readonly number[];
    /** Line of the definition; if that is unknown, the lowest that occurs; 0 if none is known. */
    readonly line: readonly number[];
    /** Index into {@link CODE_KINDS}. */
    readonly kind: readonly number[];
  };
  /** The call tree of all samples. A caller's index is smaller than those of what it calls. */
  readonly nodes: {
    /** The node's index minus that of its caller; 0 for an outermost frame. */
    readonly caller: readonly number[];
    /** Index of the function times 2, plus 1 if it was inlined into its caller. */
    readonly code: readonly number[];
  };
  readonly totals: readonly PageTotals[];
}

export interface PageEvent {
  readonly name: string;
  readonly unit: 'nanoseconds' | 'count';
  readonly samples: number;
  readonly period: number;
}

export interface PageProcess {
  /** Its last name (comm). */
  readonly name: string;
  /** −1 if the recording does not say. */
  readonly pid: number;
  /** Index into `inputs`; −1 if there are none. */
  readonly input: number;
}

export interface PageThread {
  readonly name: string;
  readonly tid: number;
  readonly process: number;
}

/** The samples of one event in one thread, by the node of their leaf. */
export interface PageTotals {
  readonly event: number;
  readonly thread: number;
  /** In ascending order, each minus the one before it. */
  readonly node: readonly number[];
  readonly samples: readonly number[];
  readonly period: readonly number[];
}
