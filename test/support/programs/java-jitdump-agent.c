// An agent for Java's virtual machine that writes a jitdump file, like perf's libperf-jvmti.so, which few distributions have.
// Formats: jitdump-specification.txt, version 2; JVM Tool Interface, events CompiledMethodLoad and DynamicCodeGenerated.
#define _GNU_SOURCE
#include <fcntl.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static FILE *dump;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

static void load(const char *name, const void *code, uint32_t size) {
  static uint64_t index;
  struct {
    uint32_t id, totalSize;
    uint64_t timestamp;
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
  } record = {.totalSize = sizeof record + strlen(name) + 1 + size, .vma = (uintptr_t)code, .address = (uintptr_t)code, .size = size};
  pthread_mutex_lock(&lock);
  record.timestamp = now();
  record.pid = getpid();
  record.tid = syscall(SYS_gettid);
  record.index = index++;
  fwrite(&record, sizeof record, 1, dump);
  fwrite(name, strlen(name) + 1, 1, dump);
  fwrite(code, size, 1, dump);
  fflush(dump);
  pthread_mutex_unlock(&lock);
}

static void JNICALL onMethod(jvmtiEnv *env, jmethodID method, jint size, const void *code, jint count, const jvmtiAddrLocationMap *map, const void *info) {
  char *name = NULL;
  (*env)->GetMethodName(env, method, &name, NULL, NULL);
  load(name != NULL ? name : "?", code, size);
}

static void JNICALL onCode(jvmtiEnv *env, const char *name, const void *code, jint size) {
  char text[300];
  snprintf(text, sizeof text, "<%s>", name);
  load(text, code, size);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *directory, void *reserved) {
  jvmtiEnv *env;
  if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) return 1;
  char path[4096];
  snprintf(path, sizeof path, "%s/jit-%d.dump", directory, getpid());
  int file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
  if (file < 0) return 1;
  dump = fdopen(file, "w+");
  struct {
    uint32_t magic, version, size, machine, pad, pid;
    uint64_t timestamp, flags;
  } header = {0x4a695444, 1, sizeof header, 62, 0, getpid(), now(), 0};
  fwrite(&header, sizeof header, 1, dump);
  fflush(dump);
  // perf records this map, which tells where the file is.
  mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  jvmtiCapabilities capabilities = {.can_generate_compiled_method_load_events = 1};
  jvmtiEventCallbacks callbacks = {.CompiledMethodLoad = onMethod, .DynamicCodeGenerated = onCode};
  (*env)->AddCapabilities(env, &capabilities);
  (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks);
  (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
  (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NULL);
  return 0;
}
