/** From the thread that works to the one that supervises it. */
export type WorkMessage =
  /** The module is loaded. */
  | { readonly kind: 'started' }
  /** Signals are to be heard, and passed on. @param sparesFirstInterrupt whether the first SIGINT ends nothing */
  | { readonly kind: 'listen'; readonly sparesFirstInterrupt: boolean }
  /** Signals end the program at once again. */
  | { readonly kind: 'unlisten' }
  /** A path is being written, to be removed if the program is ended; or it is not any more. */
  | { readonly kind: 'unfinished'; readonly path: string; readonly isOver: boolean }
  /** What was begun is taken back: the program can end by this signal. */
  | { readonly kind: 'end-by'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'done'; readonly status: number };

/** From the supervising thread to the working one. */
export type SupervisorMessage = { readonly kind: 'listening' } | { readonly kind: 'signal'; readonly signal: NodeJS.Signals };
