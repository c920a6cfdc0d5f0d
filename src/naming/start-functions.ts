/** Functions in which programs and threads start, of C libraries and run-time environments. */
const STARTS = new Set([
  // glibc
  ...['_start', '__libc_start_main', '__libc_start_main_impl', '__libc_start_call_main', 'generic_start_main', 'start_thread', 'clone', 'clone3'],
  // its dynamic loader
  ...['_dl_start_user', '_dl_start', '_dl_start_final', '_dl_sysdep_start'],
  // musl
  ...['_start_c', 'libc_start_main_stage2', 'start_c11'],
  // Android
  ...['_start_main', '__libc_init', '__start_thread', '__pthread_start', '__bionic_clone'],
  // Go, which also changes stacks in some of them
  ...['runtime.goexit', 'runtime.mstart', 'runtime.mcall', 'runtime.systemstack', 'runtime.rt0_go', 'runtime.morestack', 'runtime.asmcgocall'],
  ...['runtime.sigtramp', 'runtime.cgocallback'],
]);

/** Whether programs or threads start in a function of that name: stacks do not show what calls it, if anything does. */
export function isStartFunction(name: string): boolean {
  if (STARTS.has(name)) return true;
  // `__libc_start_main@@GLIBC_2.34`, `runtime.goexit.abi0`, `__GI___clone3`
  const plain = name.split('@', 1)[0].replace(/\.abi[0-9]$/, '');
  return STARTS.has(plain.startsWith('__GI_') ? plain.slice(5) : plain) || STARTS.has(plain.replace(/^(?:__GI_)?__(?=clone)/, '')) || plain.startsWith('_rt0_');
}
