#include <cstdio>
#include <string>
template <class T> struct Q {
  T t;
  __attribute__((noinline)) T twice(T x) { struct L { T v; __attribute__((noinline)) T go(T k) { return v + k; } } l{x}; return l.go(t) + t; }
};
int unused2(int a) { return a * puts("never"); }
static inline int square(int a) { return a * a + (a > 100 ? puts("big") : 1); }
int other(int a) { Q<int> q{a}; Q<std::string> s{"a"}; return q.twice(a) + s.twice("b").size() + square(a) + square(square(a)); }
