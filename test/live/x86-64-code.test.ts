import { readFileSync, realpathSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CodeReader } from '../../src/unwind/scan/instruction-decoder.ts';
import { ScanState } from '../../src/unwind/scan/scan-state.ts';
import { X8664Decoder } from '../../src/unwind/scan/x86-64-decoder.ts';
import { announceSkipped, runTool, whyMissing } from '../support/perf-tool.ts';

/** Libraries with code of compilers, and with much that people wrote by hand for each kind of processor; none with data among their code. */
const LIBRARIES = ['libc.so.6', 'libm.so.6', 'libgmp.so.10', 'libz.so.1', 'libstdc++.so.6', 'libx264.so.164'];
const DIRECTORY = '/usr/lib/x86_64-linux-gnu';
const RSP = 7;

interface Line {
  readonly svma: number;
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** What objdump lists: address, bytes, instruction. What it does not know it calls `(bad)`, or data. */
function linesOf(path: string): Line[] {
  const { status, stdout, stderr } = runTool('objdump', ['-d', '-w', '-z', '--insn-width=16', path], {});
  if (status !== 0) throw new Error(stderr);
  return stdout.split('\n').flatMap((line) => {
    const [, at, bytes, text = ''] = /^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$/.exec(line) ?? [];
    return at === undefined
      ? []
      : [{ svma: Number.parseInt(at, 16), bytes: Uint8Array.from(bytes.trim().split(' '), (byte) => Number.parseInt(byte, 16)), text }];
  });
}

const PREFIXES = /^(?:(?:lock|rep[nz]*|repe|repne|bnd|notrack|data16|addr32|[cdefgs]s|rex(?:\.[WRXB]+)?) )+/;

/** How code goes on, as objdump's words tell; with the target where they name one. */
function flowOf(text: string): string {
  const [mnemonic, operand = ''] = text.replace(PREFIXES, '').split(/\s+/);
  const target = /^[0-9a-f]+$/.test(operand) ? ` ${operand}` : '';
  if (/^retq?$/.test(mnemonic)) return 'leave';
  if (/^callq?$/.test(mnemonic)) return 'call';
  if (/^jmpq?$/.test(mnemonic)) return operand.startsWith('*') ? (operand.includes('(%rip)') ? 'leave' : 'end') : `jump${target}`;
  if (/^(?:j|loop)/.test(mnemonic)) return `branch${target}`;
  return /^(?:ud[012][ab]?|hlt|int3|int1|icebp|lret[qw]?|iret|iretq|enter|enterq|ljmp|lcall|sysret[lq]?)$/.test(mnemonic) ? 'end' : 'next';
}

/** By how much an instruction moves the stack pointer; undefined where it is not said. */
function movedOf(text: string): number | undefined {
  const plain = text.replace(/\s*#.*$/, '').replace(PREFIXES, '');
  const [, operation, sign, number] = /^(add|sub)q?\s+\$(-?)0x([0-9a-f]+),%rsp/.exec(plain) ?? [];
  if (operation !== undefined) {
    const value = BigInt.asIntN(64, BigInt(`0x${number}`)) * (sign === '-' ? -1n : 1n);
    return Number(operation === 'add' ? value : -value);
  }
  const lea = /^lea\s+(-?)0x([0-9a-f]+)\(%rsp\),%rsp/.exec(plain);
  if (lea !== null) return Number.parseInt(lea[2], 16) * (lea[1] === '-' ? -1 : 1);
  if (/^push[fq]*\s|^pushf/.test(plain)) return -8;
  if (/^pop[fq]*\s|^popf/.test(plain)) return plain.includes('%rsp') ? undefined : 8;
  if (/^(?:call|ret|leave|enter|jmp|sys|int|iret|lret)/.test(plain) || /,%(?:rsp|esp|sp|spl)$/.test(plain)) return undefined;
  if (/^(?:xchg|bswap|inc|dec|not|neg|shl|shr|sar|rol|ror|rcl|rcr|set)/.test(plain) && /%(?:rsp|esp|sp|spl)\b/.test(plain)) return undefined;
  return 0;
}

const missing = whyMissing('objdump');
if (missing !== undefined) announceSkipped('code of x86-64 as objdump reads it', missing);

describe.skipIf(missing !== undefined)('code of x86-64 as objdump reads it', () => {
  for (const name of LIBRARIES) {
    let path: string | undefined;
    try {
      path = realpathSync(`${DIRECTORY}/${name}`);
      readFileSync(path).subarray(0, 1);
    } catch {
      announceSkipped(`code of ${name}`, 'it is not installed');
    }
    test.skipIf(path === undefined)(name, () => {
      const decoder = new X8664Decoder();
      const state = new ScanState();
      const wrong: string[] = [];
      let count = 0;
      for (const { svma, bytes, text } of linesOf(path ?? '')) {
        // objdump lists WAIT with what it waits for.
        if (bytes[0] === 0x9b && bytes.length > 1) continue;
        if (text.includes('(bad)') || text.startsWith('.byte') || `${text.trim()} `.replace(PREFIXES, '') === '') continue;
        count++;
        const code: CodeReader = {
          byte: (at) => bytes[at - svma] ?? 0,
          half: () => 0,
        };
        state.begin(RSP);
        const flow = decoder.decode(code, svma, state);
        const hasTarget = flow === 'jump' || flow === 'branch';
        const ours = `${flow}${hasTarget ? ` ${BigInt.asUintN(64, BigInt(decoder.target)).toString(16)}` : ''}`;
        const moved = state.bases[RSP] === RSP ? state.offsets[RSP] : Number.NaN;
        const expected = movedOf(text);
        if (decoder.sizeBytes !== bytes.length || ours !== flowOf(text) || (expected !== undefined && moved !== expected)) {
          wrong.push(`${svma.toString(16)} ${text}: ${decoder.sizeBytes} bytes of ${bytes.length}, ${ours}, rsp ${moved} and not ${expected}`);
        }
      }
      expect(count).toBeGreaterThan(10_000);
      expect(wrong.slice(0, 20)).toEqual([]);
    });
  }
});
