// Writes its own registers and stack whenever a timer interrupts it, as perf would record them on a real machine. For test/live/unwind/unwind-emulated.test.ts.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <alloca.h>
extern void *__libc_stack_end;
static volatile unsigned long long records = 0;
static const unsigned long long wanted = 400;
static void put(const void *at, unsigned long size) { const char *p = at; while (size > 0) { long n = write(1, p, size); if (n <= 0) _exit(1); p += n; size -= n; } }
static void capture(int signal, siginfo_t *info, void *context) {
#if defined(__powerpc__) && !defined(__powerpc64__)
  mcontext_t *m = ((ucontext_t *)context)->uc_mcontext.uc_regs;
#else
  mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
#endif
  unsigned long long regs[40], count = 0, sp;
#if defined(__aarch64__)
  for (int i = 0; i < 31; i++) regs[count++] = m->regs[i];
  regs[count++] = sp = m->sp; regs[count++] = m->pc;
#elif defined(__arm__)
  for (int i = 0; i < 16; i++) regs[count++] = (&m->arm_r0)[i];
  sp = m->arm_sp;
#elif defined(__riscv)
  for (int i = 0; i < 32; i++) regs[count++] = m->__gregs[i];
  sp = m->__gregs[2];
#elif defined(__s390x__)
  for (int i = 0; i < 16; i++) regs[count++] = m->gregs[i];
  for (int i = 0; i < 16; i++) { memcpy(&regs[count], &m->fpregs.fprs[i], 8); count++; }
  regs[count++] = m->psw.mask; regs[count++] = m->psw.addr; sp = m->gregs[15];
#elif defined(__powerpc64__)
  // r0 … r31, nip, msr, orig_r3, ctr, link
  for (int i = 0; i < 37; i++) regs[count++] = m->gp_regs[i];
  sp = m->gp_regs[1];
#elif defined(__powerpc__)
  for (int i = 0; i < 37; i++) regs[count++] = m->gregs[i];
  sp = m->gregs[1];
#elif defined(__mips__)
  // pc, r1 … r31
  for (int i = 0; i < 32; i++) regs[count++] = i == 0 ? m->pc : m->gregs[i];
  sp = m->gregs[29];
#endif
  unsigned long long size = (unsigned long)__libc_stack_end + 256 - (unsigned long)sp;
  if (size > 16384) size = 16384;
  unsigned long long head[2] = {count, size};
  put(head, sizeof head); put(regs, count * 8); put((void *)(unsigned long)sp, size);
  if (++records == wanted) _exit(0);
}
volatile long sink; volatile double dsink;
__attribute__((noinline)) void leaf(int n) { for (volatile int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void outer(int n) { char b[64]; memset(b, n, 64); leaf(n & 31); sink += b[n & 63]; }
__attribute__((noinline)) void dynamic(int n) { char *p = alloca(n % 100 + 16); memset(p, 1, 16); outer(n); sink += p[3]; }
__attribute__((noinline)) long many(long a, long b, long c, long d, long e, long f, long g, long h) { dynamic(a); return a * b + c * d + e * f + g * h; }
__attribute__((noinline)) double floats(double a, double b) { double c = a * b; sink += many(1, 2, 3, 4, 5, 6, 7, 8); return c + a / b; }
__attribute__((noinline)) int compare(const void *a, const void *b) { dsink += floats(*(int *)a, 3); return *(int *)a - *(int *)b; }
__attribute__((noinline)) void sort(void) { int v[20]; for (int i = 0; i < 20; i++) v[i] = rand() % 1000; qsort(v, 20, 4, compare); sink += v[3]; }
__attribute__((noinline)) void large(int n) { char big[3000]; memset(big, n, 3000); sort(); sink += big[n]; }
__attribute__((noinline)) void recurse(int n) { if (n == 0) large(n); else { recurse(n - 1); sink++; } }
#ifdef UNWINDS
// Leaves functions as an exception does: libgcc returns to the cleanup of one after the other, and each resumes.
#include <setjmp.h>
#include <unwind.h>
static jmp_buf unwound;
__attribute__((noinline)) void clean(int *n) { leaf(*n); }
static _Unwind_Reason_Code stop(int v, _Unwind_Action a, _Unwind_Exception_Class c, struct _Unwind_Exception *e, struct _Unwind_Context *at, void *catcher) {
  if ((char *)_Unwind_GetCFA(at) > (char *)catcher) longjmp(unwound, 1);
  return _URC_NO_REASON;
}
__attribute__((noinline)) void thrower(void *catcher) { static struct _Unwind_Exception e; _Unwind_ForcedUnwind(&e, stop, catcher); }
__attribute__((noinline)) void third(void *catcher) { __attribute__((cleanup(clean))) int n = 1; thrower(catcher); sink += n; }
__attribute__((noinline)) void second(void *catcher, int m) { __attribute__((cleanup(clean))) int n = 2; third(catcher); sink += n + m; }
__attribute__((noinline)) void first(void *catcher, int m) { __attribute__((cleanup(clean))) int n = 3; char *p = alloca(m); p[0] = m; second(catcher, m); sink += n + p[0]; }
__attribute__((noinline)) void catcher(void) { volatile char frame[8]; if (setjmp(unwound) == 0) first((char *)frame, 40); sink++; }
#endif
int main(void) {
  struct sigaction action = {.sa_sigaction = capture, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  struct itimerval timer = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &timer, 0);
  // It returns, as code without rules must do to be unwound.
#ifdef UNWINDS
  while (records < wanted) catcher();
#endif
  while (records < wanted) recurse(6);
  return 0;
}
