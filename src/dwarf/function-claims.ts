/** Which function of a unit holds which of the wanted addresses: of several the one that claims it last. */
export interface FunctionClaims {
  /** By index of the wanted addresses: the innermost function there as an index of {@link dies}, −1 for none. */
  readonly innermost: Int32Array;
  /** Where the functions' DIEs stand in the unit. */
  readonly dies: Uint32Array;
  /** What a function was inlined into, −1 for a function of its own. */
  readonly parents: Int32Array;
  /** By index of the wanted addresses: where the last function ends before it, −Infinity when none does. As far as functions have claimed. */
  readonly endsBefore: Float64Array;
  /** Of a scan that damage ended, the functions that it was in: what is inlined into them is known in part. Indexes of {@link dies}, outermost first. */
  readonly unfinished: Int32Array;
  /** Whether parts of the unit were left out where code hardly ever is. */
  readonly hasSkipped: boolean;
}
