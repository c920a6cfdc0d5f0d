/**
 * i386 instructions, by the DWARF numbers of the registers that had other values after a processor (AMD EPYC, 32-bit mode) had executed them. Before, all
 * registers held addresses of different words of memory. They are those that only 32-bit mode has, or that do something else in 64-bit mode, and the usual ones.
 */
export const EXECUTED_I386: readonly (readonly [registers: string, instructions: string])[] = [
  [
    '',
    `
      0f0d06 0f18c3 0fae06 8c06 db3e dd06 dd1e 9b 0607 161f 1617 0fa00fa1 6306 ce 820611 82fb11 8d7600 8db600000000 8d742600 8db42600000000 660f1f440000
      a300000030 a200000030 8906 89442408 670f1f00 f30f1efb f30f7ec3
    `,
  ],
  [
    '0',
    `
      0f44c3 0fafc3 0fbcc3 0fbdc3 0fc8 98 dfe0 6698 f20f38f1c3 f30fb8c3 40 48 6640 6648 fec0 37 3f c406 c506 d40a d50a d6 b800100000 66b80010 b005 8b06
      8b4604 8b8600010000 8b0500000030 a100000030 a000000030 66a100000030 8703 8603 f7d0 f7d8 6bc303 69c300010000 6669c30001 0fb6c3 0fbfc3 0fb10e
      f00fb10e 8cd8 cd80 65a114000000 65330514000000 660fc5c301 0fd7c3 660fd7c3 f20f2cc3 f30f2dc3 0f38f006 c4e279f7c3 c4e27bf7c3 c4e37bf0c305
    `,
  ],
  [
    '0 1 2 3',
    `
      0fa2
    `,
  ],
  [
    '0 1 2 3 4 5 6 7',
    `
      60616a0061 61 6661
    `,
  ],
  [
    '0 2',
    `
      f7e3 f7eb 0fc70e
    `,
  ],
  [
    '0 3',
    `
      93 6693 87d8 86c3 0fc1c3
    `,
  ],
  [
    '0 4',
    `
      58 6658
    `,
  ],
  [
    '1',
    `
      41 49 0fc10e 658b0d14000000 660f3a61c800
    `,
  ],
  [
    '1 4',
    `
      59
    `,
  ],
  [
    '2',
    `
      99 6699 42 4a
    `,
  ],
  [
    '2 4',
    `
      5a
    `,
  ],
  [
    '3',
    `
      01c3 0fabc3 0fcb 29c3 31c3 89c3 8cc3 d1e3 43 4b 82c311 6689c3 88c3 31db 6631db 6601c3 bb00100000 c7c300100000 66c7c30010 c1e302 c0e302 0f94c3
      0fbaeb03 0fa4c304 0facc304 660f7ec3 c5f97ec3 c5fd50d8 660f3a16c301
    `,
  ],
  [
    '3 4',
    `
      5b
    `,
  ],
  [
    '4',
    `
      0fa0 0fa8 50 51 52 53 54 55 56 57 8f06 9c 9d 44 4c 06 0e 16 1e 660616 6606 660fa0 60 6660 6650 6653 6a05 666a05 6811223344 66681122 ff36 66ff36
      668f06 83ec18 83c418 81ec00100000 81c4581d0000 8d65d8 8d642408 8d642604 669c 669d
    `,
  ],
  [
    '4 5',
    `
      5d 665d c9 66c9
    `,
  ],
  [
    '4 6',
    `
      5e
    `,
  ],
  [
    '4 7',
    `
      5f
    `,
  ],
  [
    '5',
    `
      45 4d 664d 89e5 8bec
    `,
  ],
  [
    '6',
    `
      46 4e
    `,
  ],
  [
    '7',
    `
      47 4f
    `,
  ],
];
