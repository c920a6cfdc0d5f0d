#!/bin/sh
# Makes a recording to measure conversions with: bench/record.sh OUTPUT [MEGABYTES]   (default: 300)
#
# The whole machine at 20 kHz per CPU with callchains, while programs of several kinds run: deep and shallow stacks, JIT
# code, kernel code, many short processes and many threads. Needs Linux, root (or perf_event_paranoid -1), perf and
# setsid; the workload needs node, sort, gzip and find. Recording ends when the file has its size, or after three minutes.
# The recording shows everything that ran on the machine, so do not publish it.
set -eu
if [ $# -lt 1 ]; then
  sed -n '2s/^# //p' "$0" >&2
  exit 2
fi
output=$1
megabytes=${2:-300}
scratch=$(mktemp -d)
workload=
trap 'exit 1' HUP INT TERM
clean_up() {
  if [ -n "$workload" ]; then
    kill -- "-$workload" 2>/dev/null || :
    wait "$workload" 2>/dev/null || :
  fi
  rm -rf "$scratch"
}
trap clean_up EXIT

cat >"$scratch/stacks.cjs" <<'JS'
// Recursion of every depth up to 60 in functions of many names, sorting, strings, garbage, and zlib's threads.
const zlib = require('node:zlib');
const walkers = Array.from({ length: 40 }, (_, n) => Function('next', `return function walk_${n}(d) {
  let sum = 0;
  for (let i = 0; i < 200; i++) sum = (sum * 31 + i * d) | 0;
  return d <= 0 ? sum : sum + next[(d * 7 + ${n}) % next.length](d - 1);
}`));
const functions = [];
for (const make of walkers) functions.push(make(functions));
let round = 0;
setInterval(() => {
  const end = Date.now() + 20;
  while (Date.now() < end) functions[round++ % functions.length](round % 60);
  const texts = Array.from({ length: 2000 }, (_, i) => `${(i * 2654435761) >>> 0}`).sort();
  JSON.parse(JSON.stringify(texts));
  for (let i = 0; i < 4; i++) zlib.deflate(Buffer.from(texts.join()), () => {});
}, 1);
JS

cat >"$scratch/workload.sh" <<'SH'
node "$1/stacks.cjs" &
while :; do find /usr -xdev -type f -size +1k 2>/dev/null | sort -r | gzip -9; done >/dev/null &
while :; do head -c 4000000 /dev/urandom | od -An -tx2 | sort | uniq -c; done >/dev/null &
while :; do sh -c 'for i in 1 2 3 4 5; do expr $i + 1; done; ls /etc'; done >/dev/null 2>&1 &
while :; do dd if=/dev/zero of="$1/file" bs=4k count=4000; done 2>/dev/null &
wait
SH
# The workload has a process group of its own, so that it can be ended by its id, and nothing else is.
setsid sh "$scratch/workload.sh" "$scratch" &
workload=$!

# perf runs a command that waits until the file is large enough, because --max-size does not always end cleanly
# (observed: perf 6.1).
cat >"$scratch/wait.sh" <<'SH'
tries=0
until [ "$(wc -c <"$1")" -ge "$(($2 << 20))" ] || [ "$tries" -ge 360 ]; do
  sleep 0.5
  tries=$((tries + 1))
done
SH
perf record -q -N -e cpu-clock -F 20000 -a -g -o "$output" -- sh "$scratch/wait.sh" "$output" "$megabytes"
ls -l "$output" >&2
