#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int other(int);
namespace ns {
struct S { int a; explicit S(int x); virtual ~S(); int get() const { return a * 3 + helper(a); } static int helper(int q) { return q > 3 ? q - puts("x") : q; } };
S::S(int x) : a(x) { printf("%d", x); }
S::~S() { puts("gone"); }
inline __attribute__((always_inline)) int one(int a) { return a + puts("one"); }
inline __attribute__((always_inline)) int two(int a) { for (int i = 0; i < a; i++) a += one(i); return a; }
}
static __attribute__((noinline)) int local(std::map<int, std::string>& m, int k) {
  auto f = [&](int z) { return (int)m[z].size() + ns::two(z); };
  return f(k) + f(k + 1);
}
int unused(int a) { return ns::two(a) * a; }
int main(int argc, char** argv) {
  std::map<int, std::string> m;
  std::vector<ns::S> v;
  for (int i = 0; i < argc; i++) { m[i] = argv[i]; v.emplace_back(i); }
  std::sort(v.begin(), v.end(), [](const ns::S& a, const ns::S& b) { return a.get() < b.get(); });
  try { return local(m, argc) + other(argc) + ns::two(argc); } catch (int e) { return e; }
}
