import fc from 'fast-check';
import { StringTable } from '../../../../src/base/tables/string-table.ts';
import { FunctionTable } from '../../../../src/profile/function-table.ts';
import {
  CPUMODE_GUEST_KERNEL,
  CPUMODE_GUEST_USER,
  CPUMODE_HYPERVISOR,
  CPUMODE_KERNEL,
  CPUMODE_UNKNOWN,
  CPUMODE_USER,
  LocationTable,
} from '../../../../src/profile/location-table.ts';
import type { Mapping, MappingKind, Profile, ProfileEvent } from '../../../../src/profile/profile.ts';
import { StackTable } from '../../../../src/profile/stack-table.ts';
import { TotalTable } from '../../../../src/profile/total-table.ts';
import { buildProfile } from './build-profile.ts';

const EVENTS = ['cpu-clock', 'cpu-clock:u', 'cycles', 'cycles', 'samples', 'cpu', 'page-faults', 'cycles_samples', 'dummy:u'];
const NAMES = ['main', 'a', 'b;c', 'f<int>(char const*)', 'naïve 函数', 'line\nbreak', '<module>', 'operator new', 'x'.repeat(300)];
const FILES = ['', '', '/src/a.c', '/src/b h.h'];
const COMMS = ['app', 'V8 Worker', 'semi;colon', ':77', ''];
const CPUMODES = [CPUMODE_UNKNOWN, CPUMODE_KERNEL, CPUMODE_USER, CPUMODE_HYPERVISOR, CPUMODE_GUEST_KERNEL, CPUMODE_GUEST_USER];
const KINDS: MappingKind[] = ['file', 'kernel', 'module', 'vdso', 'anon', 'guest'];

const bigUint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

const mapping: fc.Arbitrary<Mapping> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    nth: fc.nat(3),
    buildId: fc.constantFrom('', '0123456789abcdef0123456789abcdef01234567'),
    bias: fc.constantFrom(0, 0x400000, 0x5555_5555_4000, 0x7fff_f7dc_0000, -0x1000),
    start: fc.nat(1 << 20),
    size: fc.integer({ min: 1, max: 1 << 24 }),
  })
  .map(({ kind, nth, buildId, bias, start, size }) => {
    const isKernel = kind === 'kernel' || kind === 'module' || kind === 'guest';
    const first = isKernel ? -0x7f00_0000_0000 + start : start + 0x1000;
    return {
      name: kind === 'kernel' ? '[kernel.kallsyms]' : `/dso/${kind}-${nth}`,
      kind,
      buildId,
      bias: isKernel || kind === 'anon' ? 0 : bias,
      start: first,
      limit: first + size,
      hasSymbols: true,
    };
  });

const line = fc.record({
  name: fc.constantFrom(...NAMES),
  systemName: fc.constantFrom('', '', '_Z1fv'),
  file: fc.constantFrom(...FILES),
  startLine: fc.nat(3),
  line: fc.constantFrom(0, 7, 8, 70_000),
  column: fc.constantFrom(0, 0, 5),
});

const location = fc.record({
  mapping: fc.integer({ min: -1, max: 4 }),
  offset: fc.nat(40),
  anywhere: fc.oneof(bigUint64, fc.constantFrom(0n, 1n, 2n ** 64n - 1n, 2n ** 63n)),
  cpumode: fc.constantFrom(...CPUMODES),
  isReturnAddress: fc.boolean(),
  lines: fc.array(line, { maxLength: 3 }),
});

const period = fc.oneof(fc.nat(2_000_000), fc.constantFrom(0, 1, 0xffff_ffff, 2 ** 32, 2 ** 45 + 1));

const sample = fc.record({
  event: fc.nat(EVENTS.length - 1),
  task: fc.nat(COMMS.length - 1),
  stack: fc.array(fc.nat(19), { maxLength: 6 }),
  period,
});

/** Profiles of every shape: odd names, all mapping kinds, unmapped and unresolved frames, inlines, several events and processes. */
export const randomProfile: fc.Arbitrary<Profile> = fc
  .record({
    mappings: fc.uniqueArray(mapping, { maxLength: 5, selector: (row) => row.name }),
    hasMain: fc.boolean(),
    locations: fc.array(location, { minLength: 20, maxLength: 20 }),
    samples: fc.array(sample, { minLength: 1, maxLength: 40 }),
    pids: fc.array(fc.constantFrom(-1, 0, 1, 100, 4_194_304), { minLength: COMMS.length, maxLength: COMMS.length }),
  })
  .map(({ mappings, hasMain, locations: locationSpecs, samples, pids }) => {
    const strings = new StringTable();
    strings.intern('never used');
    const functions = new FunctionTable();
    functions.intern(strings.intern('never called'));
    const locations = new LocationTable();
    const stacks = new StackTable();
    const totals = new TotalTable();
    const events = EVENTS.map(
      (name): ProfileEvent => ({
        name,
        unit: name.startsWith('cpu-clock') ? 'nanoseconds' : 'count',
        samplePeriod: name === 'page-faults' ? 7 : 0,
        sampleFreq: name === 'page-faults' ? 0 : 999,
        isDummy: name.startsWith('dummy'),
        samples: 0,
        period: 0,
        hasCallchain: true,
        isTracepoint: false,
      }),
    );
    const ids = locationSpecs.map((spec) => {
      const isMapped = spec.mapping >= 0 && spec.mapping < mappings.length;
      const address = isMapped ? BigInt(mappings[spec.mapping].start + spec.offset) : spec.anywhere;
      const index = locations.intern(
        isMapped ? spec.mapping : -1,
        Number(BigInt.asUintN(32, address)),
        Number(BigInt.asUintN(32, address >> 32n)),
        spec.cpumode,
        spec.isReturnAddress,
      );
      if (spec.lines.length > 0 && locations.lineCount(index) === 0) {
        const lines = spec.lines.map(({ name, systemName, file, startLine, line, column }) => ({
          function: functions.intern(strings.intern(name), strings.intern(systemName), strings.intern(file), startLine),
          line,
          column,
          file: 0,
        }));
        locations.setLines(index, lines, 0);
      }
      return index;
    });
    for (const spec of samples) {
      const stack = spec.stack.reduce((parent, nth) => stacks.intern(parent, ids[nth]), -1);
      totals.add(spec.event, spec.task, stack, spec.period);
      events[spec.event].samples++;
      events[spec.event].period += spec.period;
    }
    const names = COMMS.map((comm, index) => ({ comm, pid: pids[index], tid: pids[index] < 0 ? -1 : pids[index] + index }));
    return {
      meta: buildProfile([]).meta,
      strings,
      events,
      mappings,
      mainMapping: hasMain ? mappings.findIndex((row) => row.kind === 'file') : -1,
      processes: names.map(({ comm, pid }) => ({ pid, name: comm })),
      threads: names.map(({ comm, pid, tid }, process) => ({ process, pid, tid, name: comm })),
      tasks: names.map(({ comm }, thread) => ({ thread, comm })),
      functions,
      locations,
      stacks,
      totals,
      samples: undefined,
    };
  });
