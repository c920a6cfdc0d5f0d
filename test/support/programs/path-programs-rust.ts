import { nodesOf, type PathNode, randomOf, treeOf } from './path-programs.ts';

const KINDS = ['plain', 'dyn', 'panics', 'sort', 'large', 'recursive', 'heap'] as const;
type Kind = (typeof KINDS)[number];

function callOf(kind: Kind, child: string): string {
  switch (kind) {
    case 'dyn':
      return `let call: Box<dyn Fn(i64) -> i64> = black_box(Box::new(move |n| ${child}(n + 1))); sum += call(n);`;
    case 'panics':
      return `let caught = std::panic::catch_unwind(|| { let n = ${child}(n + 1); if black_box(n) != 1 { std::panic::resume_unwind(Box::new(n)); } n });
    sum += caught.is_ok() as i64;`;
    case 'sort':
      return `let mut v = [5, 1, 4, 2, 3, 0]; v.sort_by(|a: &i32, b: &i32| { black_box(${child}(*a as i64)); a.cmp(b) }); sum += v[0] as i64;`;
    case 'large':
      return `let mut room = [0i64; 400]; room[(n & 63) as usize] = sum; black_box(&mut room); sum += ${child}(n + 1) + black_box(&room)[1];`;
    case 'heap':
      return `let v: Vec<i64> = (0..(n & 15) + 1).map(|x| x + sum).collect(); sum += ${child}(v[0]) + v.len() as i64;`;
    default:
      return `sum += ${child}(n + 1);`;
  }
}

function functionOf({ name, kind, children }: PathNode<Kind>, salt: number): string {
  const recursion = kind === 'recursive' ? `if n & 3 != 3 { sum += ${name}(if n & 3 == 0 { 1 } else { 3 }); work(2); return sum; }` : '';
  return `#[no_mangle] #[inline(never)]
pub fn ${name}(n: i64) -> i64 {
  let mut sum: i64 = black_box(${salt});
  ${recursion}
  work(${20 + (salt % 40)});
  if n & 31 == 7 { black_box(format!("{} {}", n, 1.5 * (n as f64))); }
  ${children.map(({ name: child }) => `{ ${callOf(kind, child)} } work(${4 + (salt % 5)});`).join('\n  ')}
  black_box(sum)
}
`;
}

/** Like `pathProgram`, in Rust, without signals. The whole program is one file. */
export function rustPathProgram(seed: number, seconds: number): string {
  const random = randomOf(seed);
  const nodes = ['p0', 't1', 't2'].flatMap((name) => nodesOf(treeOf(name, 0, random, KINDS)));
  return `#![allow(warnings)]
use std::hint::black_box;
use std::time::{Duration, Instant};
#[inline(always)] fn work(rounds: i64) { for i in 0..rounds { black_box(i); } }
${nodes.map((node, i) => functionOf(node, i)).join('\n')}
#[no_mangle] #[inline(never)] pub fn run_t1(end: Instant) { while Instant::now() < end { black_box(t1(0)); } }
#[no_mangle] #[inline(never)] pub fn run_t2(end: Instant) { while Instant::now() < end { black_box(t2(0)); } }
fn main() {
  let end = Instant::now() + Duration::from_millis(${Math.round(seconds * 1000)});
  let first = std::thread::spawn(move || run_t1(end));
  let second = std::thread::spawn(move || run_t2(end));
  while Instant::now() < end { black_box(p0(0)); }
  first.join();
  second.join();
}
`;
}
