/**
 * A64, as words, where more matters than which registers change:
 * what they did when QEMU 7.2 (`-cpu max`) executed them. Before, all registers
 * but one held addresses of different words of memory, and each word a number that tells its address. See `executed-effects.test.ts`.
 */
export const EFFECTS_A64: readonly (readonly [effect: string, instructions: string])[] = [
  ['next', '1908b3e5 780febf0 9e230020 d51b4424 d86f40f6 d9e02800'],
  ['next 1=?', '12bffc01 72a00de1'],
  ['next 3=?', '72000963 d53bd043'],
  ['branch -3c', '3607fe21'],
  ['branch -c', '54ffffa2'],
  ['branch 34', '350001b3'],
  ['call', '94042b83'],
  ['next 0=?', '51000400'],
  ['next 17=? 18=? 31=31-96', '69f447f2'],
  ['next 24=24-16', 'd93ff716'],
  ['next 28=?', 'f857abfc'],
];

/** The same of A32. */
export const EFFECTS_A32: readonly (readonly [effect: string, instructions: string])[] = [
  ['next', 'e32df1ea e804bf2a'],
  ['end', 'e243f03f'],
  ['next 0=-256', 'e3e000ff'],
  ['next 0=4+0', 'e1b00004'],
  ['next 0=?', 'e1a00180'],
  ['next 0=? 1=?', 'e1c100d0'],
  ['next 12=1052680', 'e28fc601'],
  ['next 13=13-593 [0]=7', 'e42d7251'],
  ['next 14=0', 'e59fe004'],
  ['next 2=?', 'e08f2002'],
  ['next 2=? 9=64', 'e3a09040e0a92009'],
  ['next 2=[13+32] 3=[13+36]', 'e1cd22d0'],
  ['next 3=0', 'e3a03000'],
  ['next 3=? 14=?', 'e03e30b4'],
  ['next 6=?', 'e34d6b63'],
  ['next 9=64 13=34+0', 'e3a09040e4bddf6d'],
  ['next [4]=0 [8]=2', 'e98d0005'],
];

/** The same of T32. The first half comes first. */
export const EFFECTS_T32: readonly (readonly [effect: string, instructions: string])[] = [
  ['next 3=?', '2340ea5e0303 2340f3c42307 ea4b0303 ea4f73e8'],
  ['next', 'f5b35f00 f8448003 f91ff498'],
  ['next 0=?', '0040 f46a000d'],
  ['next 5=?', '572d f99f50ff'],
  ['branch 174', 'f10080b8'],
  ['branch 24 3=64', '2340b17f'],
  ['jump 7cee4c', 'f3ceb724'],
  ['leave 12', '4778'],
  ['next 0=? 3=?', 'e9d33006'],
  ['next 13=13-12 [-12]=0 [-8]=2 [-4]=5', 'b425'],
  ['next 13=13-4 [-4]=6', 'b440'],
  ['next 1=[13+0] 7=[13+4] 13=13+8', 'bc82'],
  ['next 3=1+2', '1c8b'],
  ['next 3=12+64', '2340eb13030c'],
  ['next 3=64 11=?', '2340f42f6b07'],
  ['next 3=64 4=?', '2340eb0504c3'],
  ['next 4=0', '4c98'],
  ['next 5=5-36', 'e925e3c3'],
  ['next 6=4524', 'a66a'],
  ['next 6=[7+4]', '687e'],
  ['next 7=7-1', 'f10737ff'],
  ['next 7=?', '1987'],
  ['next 8=8-147', 'f8082993'],
  ['next 8=?', 'f6c83876'],
  ['next 8=? 11=?', 'e9df8b79'],
  ['next 8=? 13=?', 'e9fd8d47'],
  ['next [16]=8', 'f8cd8010'],
];

/** The same of RV64GC. */
export const EFFECTS_RISCV: readonly (readonly [effect: string, instructions: string])[] = [
  ['branch 94', 'ebd1'],
  ['branch e', '00f71763'],
  ['jump -32', 'b7f9'],
  ['jump -6a', 'bf59'],
  ['jump -a8', 'bfa1'],
  ['next 11=2+8', '002c'],
  ['next 12=2+4', '0050'],
  ['next 13=24 15=15-24', '018006938f95'],
  ['next 13=24 15=?', '018006938fb5'],
  ['next 13=?', '018006930016c693'],
  ['next 15=[15+8]', '679c'],
  ['next 2=2-304', '7169'],
  ['next 9=?', '0486'],
];
