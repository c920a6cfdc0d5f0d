// Threads that wait in different ways, and measure how long: each prints its name, tid, the seconds that it waited by CLOCK_MONOTONIC, when it
// began and ended by that clock, and how long it ran. More of them spin than some machines have CPUs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static volatile unsigned long sink;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void nap(double seconds) {
  struct timespec time = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
  nanosleep(&time, 0);
}

static double timed_nap(double seconds) {
  double start = now(CLOCK_MONOTONIC);
  nap(seconds);
  return now(CLOCK_MONOTONIC) - start;
}

static void spin(double seconds) {
  double end = now(CLOCK_MONOTONIC) + seconds;
  while (now(CLOCK_MONOTONIC) < end)
    for (int i = 0; i < 1000; i++) sink += i;
}

// perf sched timehist shows a thread's wait when the thread next leaves its CPU, but not the last time: so the last wait should be short.
static void finish(const char *name, double waited, double start) {
  printf("%s %ld %.9f %.9f %.9f %.9f\n", name, syscall(SYS_gettid), waited, start, now(CLOCK_MONOTONIC), now(CLOCK_THREAD_CPUTIME_ID));
  fflush(stdout);
  nap(1e-6);
  nap(1e-6);
}

static void *sleeper(void *unused) {
  double start = now(CLOCK_MONOTONIC), waited = 0;
  for (int i = 0; i < 10; i++) {
    waited += timed_nap(0.04);
    spin(0.005);
  }
  finish("sleeper", waited, start);
  return unused;
}

static void *holder(void *unused) {
  double start = now(CLOCK_MONOTONIC), waited = 0;
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&mutex);
    waited += timed_nap(0.06);
    pthread_mutex_unlock(&mutex);
    waited += timed_nap(0.02);
  }
  finish("holder", waited, start);
  return unused;
}

static void *locker(void *unused) {
  double start = now(CLOCK_MONOTONIC), waited = 0;
  waited += timed_nap(0.005);
  for (int i = 0; i < 5; i++) {
    double before = now(CLOCK_MONOTONIC);
    pthread_mutex_lock(&mutex);
    waited += now(CLOCK_MONOTONIC) - before;
    pthread_mutex_unlock(&mutex);
    waited += timed_nap(0.015);
  }
  finish("locker", waited, start);
  return unused;
}

static void *reader(void *unused) {
  double start = now(CLOCK_MONOTONIC), waited = 0;
  char byte;
  for (int i = 0; i < 5; i++) {
    double before = now(CLOCK_MONOTONIC);
    if (read(ends[0], &byte, 1) != 1) break;
    waited += now(CLOCK_MONOTONIC) - before;
  }
  finish("reader", waited, start);
  return unused;
}

static void *writer(void *unused) {
  double start = now(CLOCK_MONOTONIC), waited = 0;
  for (int i = 0; i < 5; i++) {
    waited += timed_nap(0.07);
    if (write(ends[1], "x", 1) != 1) break;
  }
  finish("writer", waited, start);
  return unused;
}

static void *spinner(void *unused) {
  double start = now(CLOCK_MONOTONIC);
  spin(0.5);
  finish("spinner", 0, start);
  return unused;
}

int main(void) {
  void *(*functions[])(void *) = {sleeper, holder, locker, reader, writer, spinner, spinner, spinner, spinner};
  enum { COUNT = sizeof functions / sizeof *functions };
  pthread_t threads[COUNT];
  double start = now(CLOCK_MONOTONIC), waited;
  if (pipe(ends) != 0) return 1;
  for (int i = 0; i < COUNT; i++) pthread_create(&threads[i], 0, functions[i], 0);
  double before = now(CLOCK_MONOTONIC);
  for (int i = 0; i < COUNT; i++) pthread_join(threads[i], 0);
  waited = now(CLOCK_MONOTONIC) - before;
  finish("main", waited, start);
  return 0;
}
