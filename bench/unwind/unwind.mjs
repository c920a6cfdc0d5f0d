// Samples per second of unwinding alone: node bench/unwind/unwind.mjs perf.data [ROUNDS]     default: 5 rounds
//
// By wall time, and by CPU time, which includes V8's compiling on other threads, mostly in the first round. The recording:
// perf record -e cpu-clock -F 2000 --call-graph dwarf,8192 -o perf.data -- PROGRAM

import { Unwinder } from 'perfconv/unwind';
import { MappedFiles, readDwarfSamples } from './dwarf-samples.mjs';

const [path = 'perf.data', rounds = '5'] = process.argv.slice(2);
const { samples, maps } = readDwarfSamples(path);
const modules = new Map();
const spaces = new Map();
for (const [pid, ofPid] of maps) spaces.set(pid, await MappedFiles.open(ofPid, modules, spaces.size));
const unwinder = new Unwinder();
const ends = new Map();
let frames = 0;
const known = samples.filter(({ pid }) => spaces.has(pid));
for (let round = 0; round < Number(rounds); round++) {
  ends.clear();
  frames = 0;
  const start = performance.now();
  // Of this process only, since other programs may be running.
  const startCpu = process.cpuUsage();
  for (const { pid, input } of known) {
    let end = unwinder.unwind(input, spaces.get(pid));
    while (end === 'pending' && unwinder.endModule !== undefined) {
      await unwinder.endModule.readWanted();
      end = unwinder.unwind(input, spaces.get(pid));
    }
    frames += unwinder.frameCount;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  const { user, system } = process.cpuUsage(startCpu);
  const seconds = (performance.now() - start) / 1e3;
  const cpuSeconds = (user + system) / 1e6;
  const perSecond = Math.round(known.length / seconds);
  const perCpuSecond = Math.round(known.length / cpuSeconds);
  const perFrameNs = ((seconds * 1e9) / frames).toFixed(0);
  console.log(
    `${known.length} samples, ${(frames / known.length).toFixed(1)} frames each: ${perSecond} samples/s, ${perCpuSecond} per second of CPU time, ${perFrameNs} ns a frame`,
  );
}
console.log(Object.fromEntries(ends));
