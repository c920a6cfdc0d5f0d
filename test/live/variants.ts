import type { Variant } from '../support/perf/record-variant.ts';

const cpuClock = ['-e', 'cpu-clock', '-F', '2000'] as const;
const chains = [...cpuClock, '-g'] as const;

const shellPipeline = `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do seq 2000 | sed s/1/2/ | sort | uniq -c | grep -c 1; done; ls -lR /usr/include | wc -c; ./tree`;
const pythonProgram = `
import re, json
def parse(n): return json.loads(json.dumps([{"key": i, "text": "x" * (i % 50)} for i in range(n)]))
def search(n): return sum(len(re.findall("a+b", "aab" * 200)) for _ in range(n))
def main(): return [parse(20000) for _ in range(6)], search(3000)
main()
`;
const loopback = `
import socket
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(1)
client = socket.socket(); client.connect(server.getsockname()); peer, _ = server.accept()
for i in range(20): client.send(b"x" * 1000); peer.recv(1000)
`;
const nodeProgram = `
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
function texts() { return JSON.parse(JSON.stringify(Array.from({ length: 100000 }, (_, i) => ({ i, text: 'x' + i })))).length; }
fibonacci(32); texts(); require('node:zlib').gzipSync(Buffer.alloc(4e6, 'text'));
`;

/** The list in the issue "perf.data to every core format", What it must show, 1; and a few more of the same kinds. */
export const variants: readonly Variant[] = [
  { name: 'plain', record: cpuClock },
  { name: '-g', record: chains },
  { name: '-g -a', record: [...chains, '-a'] },
  { name: 'fixed period', record: ['-e', 'cpu-clock', '-c', '500009', '-g'] },
  { name: 'user only', record: ['-e', 'cpu-clock:u', '-F', '2000', '-g'] },
  { name: 'three events', record: ['-e', 'cpu-clock,page-faults,context-switches', '-F', '2000'] },
  { name: 'three events -g', record: ['-e', 'cpu-clock,page-faults,context-switches', '-F', '2000', '-g'] },
  { name: 'group', record: ['-e', '{cpu-clock,page-faults}:S', '-F', '2000'], workload: ['./tree', 'leaf', 'group leaf'] },
  { name: 'group -g', record: ['-e', '{cpu-clock,page-faults,context-switches}:S', '-F', '2000', '-g'], workload: ['./tree'] },
  { name: 'tracepoints -a', record: ['-e', 'sched:sched_switch', '-e', 'sched:sched_wakeup', '-a'] },
  { name: 'tracepoints -a -g', record: ['-e', 'sched:sched_switch', '-e', 'sched:sched_wakeup', '-a', '-g'] },
  { name: 'tracepoints of memory and timers', record: ['-e', 'kmem:*', '-e', 'timer:*', '-e', 'irq:*', '-e', 'writeback:*', '-a', '-m', '1024'] },
  { name: 'tracepoints of system calls', record: ['-e', 'syscalls:*'], workload: ['python3', '-c', 'import json, socket, threading'] },
  { name: 'tracepoints of the network', record: ['-e', 'net:*', '-e', 'sock:*', '-e', 'skb:*', '-e', 'tcp:*', '-a'], workload: ['python3', '-c', loopback] },
  { name: 'tracepoints read as a group', record: ['-e', '{sched:sched_switch,sched:sched_stat_runtime}:S', '-a'] },
  { name: 'page faults with addresses', record: ['-e', 'page-faults', '-c', '1', '-d', '-W'] },
  { name: 'tracepoint and software events', record: ['-e', 'cpu-clock', '-e', 'sched:sched_switch', '-F', '2000', '-g'] },
  { name: 'pipe', record: chains, pipe: true },
  { name: 'pipe, three events', record: ['-e', 'cpu-clock,page-faults,context-switches', '-F', '2000'], pipe: true },
  { name: '--buildid-mmap', record: [...chains, '--buildid-mmap'] },
  { name: '--all-cgroups', record: [...chains, '--all-cgroups'] },
  { name: '--namespaces', record: [...chains, '--namespaces'] },
  { name: '--switch-events', record: [...chains, '--switch-events'] },
  { name: 'clock, cpu, addresses, weight', record: [...cpuClock, ...'-k mono -d --sample-cpu --data-page-size --code-page-size -W -T -P'.split(' ')] },
  { name: 'clock, cpu, addresses, weight, -g', record: [...chains, ...'-k mono -d --sample-cpu --data-page-size --code-page-size -W -T -P'.split(' ')] },
  { name: '-I', record: [...cpuClock, '-I'] },
  { name: '--user-regs', record: [...cpuClock, '--user-regs=ip,sp,bp'] },
  { name: '-d --phys-data', record: [...cpuClock, '-d', '--phys-data'] },
  { name: 'stripped binary', record: chains, workload: ['./threads-stripped', '2'] },
  { name: 'position-dependent binary', record: chains, workload: ['./threads-nopie', '2'] },
  { name: 'process tree', record: chains, workload: ['./tree'] },
  { name: 'shell pipeline', record: chains, workload: ['sh', '-c', shellPipeline] },
  { name: 'shell pipeline -a', record: [...chains, '-a'], workload: ['sh', '-c', shellPipeline] },
  { name: 'python', record: chains, workload: ['python3', '-c', pythonProgram] },
  { name: 'g++', record: chains, workload: ['g++', '-O2', '-std=c++17', '-c', 'threads.cc', '-o', 'threads.o'] },
  { name: 'node', record: chains, workload: ['node', '-e', nodeProgram] },
];
