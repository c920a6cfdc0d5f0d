/** Machines whose stacks are unwound. Of a 32-bit process on a 64-bit kernel the machine is the process's. */
export type UnwindMachine = 'x86_64' | 'i386' | 'aarch64' | 'arm' | 'riscv64' | 's390x';
