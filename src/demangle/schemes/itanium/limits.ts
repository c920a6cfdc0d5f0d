// Limits for hostile names, which are then not demangled: each name takes some milliseconds at most. All names of node, LLVM and clang stay
// below.

/** Bytes of a mangled name, in UTF-8. */
export const MAX_NAME: number = 1 << 15;
/** Nodes of a parsed name. */
export const MAX_NODES: number = 1 << 14;
/** Productions that are tried while parsing one name: each try within a try doubles the work. */
export const MAX_ATTEMPTS = 32;
/** Nesting of productions while parsing, and of nodes while printing. */
export const MAX_DEPTH = 400;
/** Characters of a demangled name. */
export const MAX_OUTPUT: number = 1 << 16;
/** Nodes visited while printing one name: with substitutions, a short name can take a great many visits. */
export const MAX_PRINTED_NODES: number = 1 << 14;

/** V8 has the limit, other engines ignore it. */
const ENGINE = Error as { stackTraceLimit?: number | undefined };

/**
 * Thrown, but only inside the demangler, if a name does not follow the grammar or exceeds a limit. It has no stack trace, because it is
 * common.
 */
export class NotDemangled extends Error {
  constructor() {
    const limit = ENGINE.stackTraceLimit;
    ENGINE.stackTraceLimit = 0;
    super('not a mangled name, or one beyond the limits');
    ENGINE.stackTraceLimit = limit;
    this.name = 'NotDemangled';
  }
}
