/**
 * Programs whose functions have one caller each, and names that tell their call path: `p0_2_1` is called by `p0_2`, and that by `p0`. So a stack can be
 * judged without another tool. Between two of them there may be functions of libraries, which call back.
 */

/** How a function calls its children. */
const KINDS = ['plain', 'alloca', 'aligned', 'large', 'qsort', 'sort', 'throws', 'library', 'recursive', 'struct'] as const;
type Kind = (typeof KINDS)[number];

/** A function, and how it calls its children. */
export interface PathNode<Kind extends string> {
  readonly name: string;
  readonly kind: Kind;
  readonly children: readonly PathNode<Kind>[];
}

type Node = PathNode<Kind>;

/** The program's source files, by name: the program's own, and a library's that is linked to it. */
export interface PathSources {
  readonly 'main.cc': string;
  readonly 'library.cc': string;
}

const MAX_DEPTH = 9;

/** Numbers from 0 to below 1, always the same for a seed. */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 0x1_00_0000;
  };
}

/** The functions below a place. The first one is of the first kind. Names of functions that call themselves (kind `recursive`) end in `r`. */
export function treeOf<Kind extends string>(place: string, depth: number, random: () => number, kinds: readonly Kind[]): PathNode<Kind> {
  const kind = depth === 0 ? kinds[0] : kinds[Math.floor(random() * kinds.length)];
  const name = kind === 'recursive' ? `${place}r` : place;
  const count = depth >= MAX_DEPTH ? 0 : depth < 2 ? 3 : Math.floor(random() * 2.6);
  const children = Array.from({ length: count }, (_, i) => treeOf(`${name}_${i}`, depth + 1, random, kinds));
  return { name, kind, children };
}

export function nodesOf<Kind extends string>(node: PathNode<Kind>): PathNode<Kind>[] {
  return [node, ...node.children.flatMap(nodesOf)];
}

/** The parameters depend on how the parent calls its children. */
function signatureOf(name: string, callerKind: Kind | undefined): string {
  if (callerKind === 'qsort') return `extern "C" NOINLINE int ${name}(const void* first, const void* second)`;
  if (callerKind === 'sort') return `extern "C" NOINLINE bool ${name}(const int& first, const int& second)`;
  return `extern "C" NOINLINE ${callerKind === 'struct' ? 'Large' : 'long'} ${name}(long n)`;
}

function callOf(kind: Kind, child: string): string {
  switch (kind) {
    case 'qsort':
      return `{ int v[6] = {5, 1, 4, 2, 3, 0}; qsort(v, 6, sizeof v[0], ${child}); sum += v[0]; }`;
    case 'sort':
      return `{ int v[6] = {5, 1, 4, 2, 3, 0}; std::sort(v, v + 6, ${child}); sum += v[0]; }`;
    case 'throws':
      return `try { sum += ${child}(n + 1); if (sum != 1) throw n; } catch (long e) { sum += e; work(20); }`;
    case 'library':
      return `sum += through_library(${child}, n);`;
    case 'struct':
      return `sum += ${child}(n + 1).first;`;
    default:
      return `sum += ${child}(n + 1);`;
  }
}

/** What is special about a function's frame. */
function frameOf(kind: Kind, salt: number): string {
  switch (kind) {
    case 'alloca':
      return `volatile char* room = (volatile char*)alloca(32 + (n & 127)); room[0] = ${salt & 127}; room[31] = 1; sum += room[0];`;
    case 'aligned':
      return `alignas(${[32, 64, 128, 256][salt % 4]}) volatile char room[96]; room[0] = ${salt & 127}; sum += room[0] + (long)((unsigned long)room & 31);`;
    case 'large':
      return `volatile char room[${600 + (salt % 5) * 100}]; for (unsigned i = 0; i < sizeof room; i += 64) room[i] = i; sum += room[64];`;
    default:
      return '';
  }
}

function functionOf({ name, kind, children }: Node, caller: Kind | undefined, salt: number): string {
  const isComparison = caller === 'qsort' || caller === 'sort';
  const calls = children.map(({ name: child }) => `  ${callOf(kind, child)}\n  work(${5 + (salt % 7)});`).join('\n');
  const recursion =
    kind === 'recursive' && !isComparison && caller !== 'struct'
      ? `  if ((n & 3) != 3) { sum += ${name}((n & 3) == 0 ? 1 : 3); work(3); counter += sum; return sum + ${salt}; }\n`
      : '';
  const argument = isComparison ? `  long n = ${caller === 'qsort' ? '*(const int*)first & 1' : 'first & 1'};\n` : '';
  const result =
    caller === 'qsort'
      ? '(*(const int*)first > *(const int*)second) - (*(const int*)first < *(const int*)second) + (sum == 1)'
      : caller === 'sort'
        ? 'first < second || sum == 1'
        : caller === 'struct'
          ? `Large{sum + ${salt}, {}}`
          : `sum + ${salt}`;
  return `${signatureOf(name, caller)} {
${argument}  long sum = ${salt};
${recursion}  ${frameOf(kind, salt)}
  work(${20 + (salt % 30)});
  ${name.startsWith('s0') ? '' : LEAVES[salt % LEAVES.length]}
  if (!done) {
${calls}
  }
  counter += sum;
  return ${result};
}
`;
}

/** Work in the C library, the kernel and the vdso. */
const LEAVES = [
  'sum += snprintf(scratch, sizeof scratch, "%ld %f", n, 1.5 * n);',
  'memset(scratch, (int)n, sizeof scratch); sum += scratch[1];',
  'sum += (long)strtod("12345.678e3", nullptr);',
  'free(malloc(100 + (n & 1023)));',
  '{ timespec now; clock_gettime(CLOCK_MONOTONIC, &now); sum += now.tv_nsec & 1; }',
  'sum += getppid() & 1;',
  'sum += (long)strlen(scratch);',
];

const PRELUDE = `#include <algorithm>
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
struct Large { long first; long others[7]; };
static thread_local char scratch[256];
static volatile long counter;
static volatile bool done;
static volatile int ticks;
static inline __attribute__((always_inline)) void work(int rounds) { for (int i = 0; i < rounds; i++) counter = counter * 25214903917 + 11; }
extern "C" long through_library(long (*callback)(long), long n);
`;

/**
 * Makes a program: `main` calls `p0`, threads begin in `t1` and `t2`, a timer's signals are handled in `s0`, whatever they interrupt.
 * @param seed gives another program for each value
 * @param seconds processor time of its main thread, about
 */
export function pathProgram(seed: number, seconds: number, hasExceptions = true): PathSources {
  const random = randomOf(seed);
  const kinds = KINDS.filter((kind) => hasExceptions || kind !== 'throws');
  // A signal may interrupt the C library, so its handler must not call that.
  const roots = [...['p0', 't1', 't2'].map((name) => treeOf(name, 0, random, kinds)), treeOf('s0', 0, random, ['plain', 'aligned', 'large'])];
  const callerKinds = new Map(roots.flatMap(nodesOf).flatMap(({ kind, children }) => children.map(({ name }) => [name, kind] as const)));
  const nodes = roots.flatMap(nodesOf);
  const kindOf = (name: string): Kind | undefined => callerKinds.get(name);
  const salts = new Map(nodes.map(({ name }, i) => [name, i + 1]));
  const declarations = nodes.map(({ name }) => `${signatureOf(name, kindOf(name))};`).join('\n');
  const functions = nodes.map((node) => functionOf(node, kindOf(node.name), salts.get(node.name) ?? 0));
  return {
    'main.cc': `${PRELUDE}
${declarations}
${functions.join('\n')}
static void on_timer(int) { counter += s0(0); ticks = ticks + 1; if (ticks > ${Math.round(seconds * 250)}) done = true; }
static void* run_t1(void*) { while (!done) counter += t1(0); return nullptr; }
static void* run_t2(void*) { while (!done) counter += t2(0); return nullptr; }
int main() {
  struct sigaction action = {};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  itimerval every = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &every, nullptr);
  pthread_t first, second;
  pthread_create(&first, nullptr, run_t1, nullptr);
  pthread_create(&second, nullptr, run_t2, nullptr);
  while (!done) counter += p0(0);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
  return 0;
}
`,
    'library.cc': `extern "C" __attribute__((noinline)) long through_library(long (*callback)(long), long n) {
  volatile char room[48];
  room[n & 31] = 1;
  return callback(n + 1) + room[n & 31];
}
`,
  };
}

/** Functions in which programs and threads begin, in all C libraries that the programs are linked with, and in Go's runtime. */
const START =
  /^(?:runtime\.(?:goexit|mstart|rt0_go|clone)(?:\.abi0)?|_rt0_amd64.*|_start|_dl_start_user|_dl_start|_{0,2}clone3?|__GI___clone3?|start_thread|_start_c|__libc_start_main.*)$/;
const PATH = /^[pts]\d(?:_\d+)*r?(?:_\d+r?)*$/;
const ROOTS: Readonly<Record<string, string>> = { main: 'p0', run_t1: 't1', run_t2: 't2', on_timer: 's0' };

/**
 * Judges a stack of such a program by the names of its functions, leaf first; functions that are not the program's may have any name.
 * @returns undefined if it is right, else what is wrong
 */
export function wrongIn(names: readonly string[]): string | undefined {
  /** The last function of the current path; undefined at its beginning. */
  let current: string | undefined;
  let isDone = false;
  for (const shown of names) {
    const name = plainName(shown);
    if (PATH.test(name)) {
      if (isDone) return `${name} calls the program's start`;
      const isCaller = current === undefined || name === callerOf(current) || (name === current && current.endsWith('r'));
      if (!isCaller) return `${name} in place of ${callerOf(current ?? '')}`;
      current = name;
    } else if (name in ROOTS) {
      if (current !== undefined && stem(current) !== ROOTS[name]) return `${name} calls ${current}`;
      current = undefined;
      isDone = name !== 'on_timer';
    }
  }
  if (current !== undefined) return `what calls ${current} is missing`;
  return isDone || START.test(names.at(-1) ?? '') ? undefined : 'the start is missing';
}

/** `p0_1.constprop.0`, `_ZL8on_timeri` */
function plainName(shown: string): string {
  const name = shown.replace(/\.(?:cold|constprop|part|isra|lto_priv|llvm).*$/, '').replace(/\+0x[0-9a-f]+$/, '');
  return /^_ZL\d+(run_t\d|on_timer)/.exec(name)?.[1] ?? name.replace(/\(.*\)$/, '').replace(/^main\./, '');
}

function callerOf(name: string): string | undefined {
  return name.includes('_') ? name.slice(0, name.lastIndexOf('_')) : undefined;
}

/** A root that is recursive is still that root. */
function stem(name: string): string {
  return name.replace(/r$/, '');
}
