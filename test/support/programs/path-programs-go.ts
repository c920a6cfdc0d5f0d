import { nodesOf, type PathNode, randomOf, treeOf } from './path-programs.ts';

const KINDS = ['plain', 'closure', 'panics', 'sort', 'interface', 'recursive', 'large', 'defer'] as const;
type Kind = (typeof KINDS)[number];

const LEAVES = [
  'fmt.Sprintf("%d %f", n, 1.5*float64(n))',
  'strconv.Itoa(int(n)) + strings.Repeat("a", int(n&15))',
  'time.Now().String()',
  'strings.ToUpper("abc")',
];

function callOf(kind: Kind, child: string): string {
  switch (kind) {
    case 'closure':
      return `func() { sum += ${child}(n + 1) }()`;
    case 'defer':
      return `func() { defer func() { sum += ${child}(n + 1) }(); work(3) }()`;
    case 'panics':
      return `func() { defer func() { if e := recover(); e != nil { sum++ } }(); sum += ${child}(n + 1); if sum != 1 { panic("x") } }()`;
    case 'sort':
      return `v := []int{5, 1, 4, 2, 3}; sort.Slice(v, func(a, b int) bool { return ${child}(n+1) == -1 || v[a] < v[b] })`;
    case 'interface':
      return `var x doer = thing(${child}); sum += x.do(n)`;
    case 'large':
      return `var room [400]int64; room[n&63] = sum; sum += ${child}(room[n&63] + 1); sum += room[1]`;
    default:
      return `sum += ${child}(n + 1)`;
  }
}

function functionOf({ name, kind, children }: PathNode<Kind>, salt: number): string {
  const recursion =
    kind === 'recursive' ? `if n&3 != 3 { if n&3 == 0 { sum += ${name}(1) } else { sum += ${name}(3) }; work(2); counter += sum; return sum }` : '';
  return `//go:noinline
func ${name}(n int64) int64 {
  sum := int64(${salt})
  ${recursion}
  work(${30 + (salt % 40)})
  if n&31 == 7 { sink = ${LEAVES[salt % LEAVES.length]} }
  ${children.map(({ name: child }) => `{ ${callOf(kind, child)} }; work(${4 + (salt % 5)})`).join('\n  ')}
  counter += sum
  return sum
}
`;
}

/** Like `pathProgram`, in Go, with goroutines in place of threads, and without signals of its own. The whole program is one file. */
export function goPathProgram(seed: number, seconds: number): string {
  const random = randomOf(seed);
  const nodes = ['p0', 't1', 't2'].flatMap((name) => nodesOf(treeOf(name, 0, random, KINDS)));
  return `package main
import ("fmt"; "sort"; "strconv"; "strings"; "time")
var sink string
var counter int64
type doer interface { do(int64) int64 }
type thing func(int64) int64
//go:noinline
func (t thing) do(n int64) int64 { return t(n+1) + 1 }
func work(rounds int) { for i := 0; i < rounds; i++ { counter = counter*25214903917 + 11 } }
${nodes.map((node, i) => functionOf(node, i)).join('\n')}
//go:noinline
func run_t1(end time.Time, done chan int) { for time.Now().Before(end) { t1(0) }; done <- 1 }
//go:noinline
func run_t2(end time.Time, done chan int) { for time.Now().Before(end) { t2(0) }; done <- 1 }
func main() {
  end := time.Now().Add(${Math.round(seconds * 1000)} * time.Millisecond)
  done := make(chan int)
  go run_t1(end, done)
  go run_t2(end, done)
  for time.Now().Before(end) { p0(0) }
  <-done
  <-done
  _, _, _, _ = fmt.Sprint, sort.Slice, strconv.Itoa, strings.ToUpper
}
`;
}
