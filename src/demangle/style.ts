/**
 * How much of a demangled name is shown.
 * - `full`: everything, as GNU `c++filt` prints it: parameters, return types of templates, template arguments, clones.
 * - `no-params`: the name alone, without parameter list and return type, as `c++filt -p -i` and perf print it (observed: perf 6.1; of Java
 *   methods perf prints the parameters).
 * - `simple`: without template arguments and parameters of enclosing functions, too, as pprof shows names by default. Clones are left out here and
 *   in `no-params`.
 */
export type DemangleStyle = 'full' | 'no-params' | 'simple';
