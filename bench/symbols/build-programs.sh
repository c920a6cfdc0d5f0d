#!/usr/bin/env bash
# Builds programs for bench/symbols/compare.mjs: real ones, with debug information of several compilers in all the forms
# in which it is stored.
#
#   bench/symbols/build-programs.sh OUTDIR [PART…]     parts: medium forms small rust go system large; default: all
#
# Needs gcc, clang, binutils, llvm, dwz, xz, go, and npm and cargo for the sources (npm package re2, crates
# librocksdb-sys and ripgrep). A part whose tool is missing is skipped with a message. JOBS (default: 2) compilers run at
# once, at the lowest priority. Takes about 2 GB, and forty minutes on two cores, mostly for the large program. Existing
# programs are not built again.
#
#   medium   re2 and parts of Abseil, a shared object: gcc and clang, DWARF 5 and 4, and with -gsplit-dwarf
#   forms    made from these: -gz, .zdebug, zstd, dwz, dwz -m, .dwp, MiniDebugInfo, .gnu_debuglink
#   small    four files of re2: DWARF 2 and 3, 64-bit DWARF, -flto, -g1, type units, not optimized …
#   rust     ripgrep
#   go       gofmt
#   system   glibc with its debug file, the libstdc++ of Debian's -dbg package, and node's own binary: links to them
#   large    the folders db and table of RocksDB, 265,000 lines with the headers, a shared object: gcc, DWARF 5
set -euo pipefail

[ $# -ge 1 ] || { sed -n '5,7p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
parts=("${@:-medium}")
[ $# -gt 0 ] || parts=(medium forms small rust go system large)
jobs=${JOBS:-2}
export LC_ALL=C
mkdir -p "$out/src" "$out/obj"

missing() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 || { echo "build-programs.sh: no $tool here: left out ${target##*/}" >&2 && return 0; }
  done
  return 1
}

# Prints the folder into which RocksDB's crate was unpacked.
fetch_rocksdb() {
  if [ ! -e "$out/src/crates/Cargo.lock" ]; then
    mkdir -p "$out/src/crates/src"
    : >"$out/src/crates/src/lib.rs"
    cat >"$out/src/crates/Cargo.toml" <<EOF
[package]
name = "sources"
version = "0.0.0"
edition = "2021"
[dependencies]
librocksdb-sys = { version = "=0.16.0", default-features = false }
EOF
    cargo fetch --quiet --manifest-path "$out/src/crates/Cargo.toml"
  fi
  cargo metadata --quiet --format-version 1 --manifest-path "$out/src/crates/Cargo.toml" |
    node -e 'const { packages } = JSON.parse(require("fs").readFileSync(0, "utf8")); console.log(require("path").dirname(packages.find((p) => p.name === "librocksdb-sys").manifest_path))'
}

fetch_re2() {
  [ -d "$out/src/package" ] && return
  (cd "$out/src" && npm pack --silent re2@1.21.4 >/dev/null && tar xzf re2-1.21.4.tgz)
}

# Compiles sources to objects in a folder of their own, and links them to a shared object. Undefined symbols are allowed.
# $1 name; $2 folder of the sources; $3 compiler; $4 flags; standard input: sources relative to $2
shared_object() {
  local name=$1 from=$2 compiler=$3 flags=$4 target="$out/$1.so" objects="$out/obj/$1"
  [ -e "$target" ] && return
  missing "$compiler" && return
  mkdir -p "$objects"
  awk -v from="$from" -v objects="$objects" -v compile="$compiler $flags -w -fPIC" -v link="$compiler $flags -shared -fPIC" -v target="$target" '
    { object = $0; gsub("/", "-", object); sub(/\.cc?$/, ".o", object); object = objects "/" object
      all = all " " object
      rules = rules object ":\n\tcd " from " && " compile " -c " $0 " -o " object "\n" }
    END { print target ":" all "\n\t" link " -o $@" all; printf "%s", rules }' >"$objects/Makefile"
  echo "building $name"
  nice -n 10 make --silent -j"$jobs" -f "$objects/Makefile"
}

re2_sources() {
  (cd "$out/src/package/vendor" && ls re2/re2/*.cc re2/util/rune.cc re2/util/strutil.cc abseil-cpp/absl/status/*.cc abseil-cpp/absl/strings/*.cc) |
    grep -vE '_test|_benchmark|testing|matchers'
}
re2="-std=c++17 -Iabseil-cpp -Ire2"
vendor=$out/src/package/vendor

build_medium() {
  fetch_re2
  re2_sources | shared_object medium-gcc5 "$vendor" g++ "$re2 -O2 -g -gdwarf-5"
  re2_sources | shared_object medium-clang5 "$vendor" clang++ "$re2 -O2 -g -gdwarf-5"
  re2_sources | shared_object medium-gcc4 "$vendor" g++ "$re2 -O2 -g -gdwarf-4"
  re2_sources | shared_object medium-clang4 "$vendor" clang++ "$re2 -O2 -g -gdwarf-4"
  re2_sources | shared_object medium-gcc5-split "$vendor" g++ "$re2 -O2 -g -gdwarf-5 -gsplit-dwarf"
  re2_sources | shared_object medium-clang5-split "$vendor" clang++ "$re2 -O2 -g -gdwarf-5 -gsplit-dwarf"
  re2_sources | shared_object medium-gcc4-split "$vendor" g++ "$re2 -O2 -g -gdwarf-4 -gsplit-dwarf"
}

# Makes a program from another one: $1 its file, then a command. An existing one is kept. It appears whole or not at all.
make_form() {
  local target=$1
  shift
  [ -e "$target" ] && return
  missing "$1" && return
  echo "making ${target##*/}"
  nice -n 10 "$@" || { rm -rf "$target" && echo "build-programs.sh: could not make ${target##*/}" >&2; }
}

# dwz -m rewrites files in place: two programs, with what both contain moved to a third file.
dwz_pair() {
  mkdir -p "$1"
  cp "$out/medium-gcc4.so" "$1/first.so"
  cp "$out/obj-small-gcc4/pair.so" "$1/second.so"
  dwz -m "$1/common.debug" -M common.debug "$1/first.so" "$1/second.so"
}

# As distributions make it: an xz-compressed table of the functions not in .dynsym, inside the stripped program.
mini_debug_info() {
  local from=$1 target=$2 work
  work=$(mktemp -d)
  nm -D "$from" --format=posix --defined-only | awk '{ print $1 }' | sort >"$work/dynamic"
  nm "$from" --format=posix --defined-only | awk '$2 == "T" || $2 == "t" || $2 == "D" { print $1 }' | sort >"$work/functions"
  comm -13 "$work/dynamic" "$work/functions" >"$work/keep"
  objcopy --only-keep-debug "$from" "$work/debug"
  objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols="$work/keep" "$work/debug" "$work/mini"
  strip --strip-all -R .comment "$from" -o "$target"
  xz "$work/mini"
  objcopy --add-section .gnu_debugdata="$work/mini.xz" "$target"
  rm -r "$work"
}

debuglink() {
  mkdir -p "$2/.debug"
  objcopy --only-keep-debug "$1" "$2/.debug/linked.so.debug"
  objcopy --strip-all --add-gnu-debuglink="$2/.debug/linked.so.debug" "$1" "$2/linked.so"
}

build_forms() {
  export -f dwz_pair mini_debug_info debuglink
  export out
  local gcc5=$out/medium-gcc5.so
  make_form "$out/medium-gcc5-gz.so" objcopy --compress-debug-sections=zlib-gabi "$gcc5" "$out/medium-gcc5-gz.so"
  make_form "$out/medium-gcc5-zdebug.so" objcopy --compress-debug-sections=zlib-gnu "$gcc5" "$out/medium-gcc5-zdebug.so"
  make_form "$out/medium-gcc5-zstd.so" objcopy --compress-debug-sections=zstd "$gcc5" "$out/medium-gcc5-zstd.so"
  make_form "$out/medium-gcc5-dwz.so" dwz "$gcc5" -o "$out/medium-gcc5-dwz.so"
  make_form "$out/medium-gcc4-dwz.so" dwz "$out/medium-gcc4.so" -o "$out/medium-gcc4-dwz.so"
  # (two programs for dwz -m)
  if [ ! -e "$out/obj-small-gcc4/pair.so" ] && command -v dwz >/dev/null; then
    mkdir -p "$out/obj-small-gcc4"
    g++ -shared -o "$out/obj-small-gcc4/pair.so" "$out"/obj/medium-gcc4/re2-*.o
  fi
  make_form "$out/medium-gcc4-dwzm" bash -c 'dwz_pair "$0"' "$out/medium-gcc4-dwzm"
  make_form "$out/medium-gcc5-mini.so" bash -c 'mini_debug_info "$0" "$1"' "$gcc5" "$out/medium-gcc5-mini.so"
  make_form "$out/medium-gcc5-debuglink" bash -c 'debuglink "$0" "$1"' "$gcc5" "$out/medium-gcc5-debuglink"
  # The package beside a copy of the program. llvm-dwp 14 does not terminate on gcc's DWARF 5.
  local compiler
  for compiler in clang5 gcc4; do
    [ -e "$out/medium-$compiler-split.so" ] || continue
    make_form "$out/medium-$compiler-dwp.so" cp "$out/medium-$compiler-split.so" "$out/medium-$compiler-dwp.so"
    make_form "$out/medium-$compiler-dwp.so.dwp" llvm-dwp -e "$out/medium-$compiler-dwp.so" -o "$out/medium-$compiler-dwp.so.dwp"
  done
}

small_sources() {
  printf '%s\n' re2/re2/{parse,dfa,re2,prefilter}.cc
}

small() { # name, compiler, flags
  small_sources | shared_object "small-$1" "$vendor" "$2" "$re2 $3"
}

build_small() {
  fetch_re2
  small gcc2 g++ '-O2 -g -gdwarf-2 -gstrict-dwarf'
  small gcc3 g++ '-O2 -g -gdwarf-3 -gstrict-dwarf'
  small gcc5-64 g++ '-O2 -g -gdwarf-5 -gdwarf64'
  small gcc4-64 g++ '-O2 -g -gdwarf-4 -gdwarf64'
  small clang5-64 clang++ '-O2 -g -gdwarf-5 -gdwarf64'
  small clang2 clang++ '-O2 -g -gdwarf-2'
  small clang3 clang++ '-O2 -g -gdwarf-3'
  small gcc5-lto g++ '-O2 -g -gdwarf-5 -flto=1'
  small gcc4-types g++ '-O2 -g -gdwarf-4 -fdebug-types-section'
  small gcc5-types g++ '-O2 -g -gdwarf-5 -fdebug-types-section'
  small clang5-g1 clang++ '-O2 -g1 -gdwarf-5'
  small gcc5-g1 g++ '-O2 -g1 -gdwarf-5'
  small gcc5-O0 g++ '-O0 -g -gdwarf-5'
  small gcc5-O3-sections g++ '-O3 -g -gdwarf-5 -ffunction-sections -Wl,--gc-sections'
  small clang5-sections clang++ '-O2 -g -gdwarf-5 -ffunction-sections -Wl,--gc-sections'
  small clang5-split-single clang++ '-O2 -g -gdwarf-5 -gsplit-dwarf=single'
  small clang5-split-inline clang++ '-O2 -g -gdwarf-5 -gsplit-dwarf -fsplit-dwarf-inlining'
}

build_rust() {
  local target=$out/ripgrep
  [ -e "$target" ] && return
  missing cargo && return
  echo "building ripgrep"
  CARGO_PROFILE_RELEASE_DEBUG=2 CARGO_PROFILE_RELEASE_STRIP=none \
    nice -n 10 cargo install --quiet --jobs "$jobs" --version 14.1.1 --locked --root "$out/obj/ripgrep" ripgrep
  cp "$out/obj/ripgrep/bin/rg" "$target"
}

build_go() {
  local target=$out/gofmt
  [ -e "$target" ] && return
  missing go && return
  echo "building gofmt"
  CGO_ENABLED=0 nice -n 10 go build -p "$jobs" -o "$target" cmd/gofmt
}

build_system() {
  ln -sf "$(readlink -f "$(command -v node)")" "$out/node"
  local libc libstdcxx debug_file
  libc=$(ldconfig -p | awk '$1 == "libc.so.6" { print $NF; exit }')
  debug_file=$(readelf -n "$libc" | awk '/Build ID/ { print "/usr/lib/debug/.build-id/" substr($3, 1, 2) "/" substr($3, 3) ".debug" }')
  ln -sf "$libc" "$out/libc.so.6"
  [ -e "$debug_file" ] || echo "build-programs.sh: no debug file of libc: install libc6-dbg" >&2
  # The others must be asked for the debug file (--like): given the stripped program, they do not read its symbols.
  ln -sf "$debug_file" "$out/libc.so.6.debug"
  libstdcxx=$(dirname "$libc")/debug/libstdc++.so.6
  [ -e "/usr/lib$libstdcxx" ] && libstdcxx=/usr/lib$libstdcxx
  [ -e "$libstdcxx" ] || { echo "build-programs.sh: no libstdc++ with debug information: install libstdc++6-12-dbg" >&2 && return; }
  ln -sf "$libstdcxx" "$out/libstdc++-debug.so.6"
}

build_large() {
  local target=$out/large.so
  missing cargo && return
  local rocksdb
  rocksdb=$(fetch_rocksdb)/rocksdb
  grep -E "^(db|table)/" "$rocksdb/../rocksdb_lib_sources.txt" |
    shared_object large "$rocksdb" g++ "-std=c++17 -I. -Iinclude -DNDEBUG -DOS_LINUX -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DROCKSDB_SUPPORT_THREAD_LOCAL -O2 -g -gdwarf-5"
}

for part in "${parts[@]}"; do
  "build_$part"
done
