/** Messages from the worker to the thread that supervises it. */
export type WorkMessage =
  /** The module is loaded. */
  | { readonly kind: 'started' }
  /** Signals are to be handled, and passed on. @param spared those that do not end the program, until one of them has come */
  | { readonly kind: 'listen'; readonly spared: readonly NodeJS.Signals[] }
  /** From now on, signals end the program at once again. */
  | { readonly kind: 'unlisten' }
  /** A path is being written, and is to be removed if the program is ended; or it no longer is. */
  | { readonly kind: 'unfinished'; readonly path: string; readonly isOver: boolean }
  /** What was begun is undone: the program can end by this signal. */
  | { readonly kind: 'end-by'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'done'; readonly status: number };

/** Messages from the supervising thread to the worker. */
export type SupervisorMessage = { readonly kind: 'listening' } | { readonly kind: 'signal'; readonly signal: NodeJS.Signals };
