/**
 * How much of a demangled name is shown.
 * - `full`: everything, as GNU `c++filt` prints it: parameters, return types of templates, template arguments, clones.
 * - `no-params`: only the name, without parameter list and return type, as `c++filt -p -i` and perf print it (observed: perf 6.1; for Java methods, perf prints
 *   the parameters).
 * - `simple`: also without template arguments and parameters of enclosing functions, as pprof shows names by default. This and `no-params` leave out clones.
 */
export type DemangleStyle = 'full' | 'no-params' | 'simple';
