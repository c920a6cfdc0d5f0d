// Spends time in a C library that has no rules for unwinding, in functions whose names tell what they call there.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline))

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

OWN int sorting(int n) {
  int values[500];
  for (int i = 0; i < 500; i++) values[i] = (i * 7919 + n) % 1009;
  qsort(values, 500, sizeof(int), compare);
  return values[7];
}

OWN int printing(int n) {
  char text[200];
  int length = 0;
  for (int i = 0; i < 40; i++) length += snprintf(text, sizeof text, "%d %s %x", n + i, "text", i);
  return length;
}

OWN int allocating(int n) {
  char *pieces[100];
  for (int i = 0; i < 100; i++) {
    pieces[i] = malloc(16 + (i * n) % 2000);
    memset(pieces[i], i, 16);
  }
  int some = pieces[3][2];
  for (int i = 0; i < 100; i++) free(pieces[i]);
  return some;
}

OWN void *working(void *times) {
  long sum = 0;
  for (long i = 0; i < (long)times; i++) {
    sum += sorting(i);
    sum += printing(i);
    sum += allocating(i);
  }
  return (void *)sum;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, working, (void *)1500);
  long sum = (long)working((void *)1500);
  void *result;
  pthread_join(thread, &result);
  return printf("%ld\n", sum + (long)result) < 0;
}
