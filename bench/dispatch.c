/* SPDX-License-Identifier: Apache-2.0
 *
 * What one op call costs: add.Tensor on two existing f32 [1] inputs and an existing output, schema checks on, down to
 * an empty kernel of an external plugin. Beside it an indirect call through a volatile pointer, and PyTorch's own
 * one-element add into an existing tensor where Python finds PyTorch. Times are medians of interleaved rounds in one
 * run.
 */
#include "median.h"

#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <errno.h>
#include <keyway/keyway.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 21
#define CALLS_PER_ROUND 200000
#define INSTRUCTION_CALLS 20000

/* ---- Counting: libkeyway's allocations and locks go through these, because the program's symbols come first.
 * ---------- */

static _Atomic uint64_t allocations, locks;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);

void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
  ++allocations;
  return __libc_realloc(pointer, size);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*next)(pthread_mutex_t *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  ++locks;
  return next(mutex);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static const kw_op *add;
static kw_tensor *x, *y, *sum;

static void fail(const char *what) {
  fprintf(stderr, "bench-dispatch: %s failed: %s\n", what, kw_error_message());
  exit(1);
}

static void prepare(const char *plugin) {
  const kw_init_options options = {sizeof options, KW_INIT_NO_DISCOVERY};
  const int64_t shape[] = {1};
  kw_device *device;
  if (kw_init(&options) != KW_OK || kw_plugin_load(plugin) != KW_OK) fail("loading the plugin");
  if (kw_device_open("empty:0", &device) != KW_OK) fail("opening the device");
  if (kw_tensor_create(device, KW_F32, 1, shape, &x) != KW_OK ||
      kw_tensor_create(device, KW_F32, 1, shape, &y) != KW_OK ||
      kw_tensor_create(device, KW_F32, 1, shape, &sum) != KW_OK) {
    fail("making tensors");
  }
  add = kw_op_find("add.Tensor");
}

static void call_op(uint64_t calls) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  for (uint64_t i = 0; i < calls; ++i) {
    if (kw_op_call(add, NULL, args, 2, &sum, 1) != KW_OK) fail("add.Tensor");
  }
}

static int nothing(void) {
  return 0;
}
static int (*volatile indirect)(void) = nothing;

static void call_indirect(uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) indirect();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static double time_calls(void (*run)(uint64_t), uint64_t calls) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  run(calls);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)calls;
}

/* Runs a command and keeps the last number it printed after `mark`; negative when there is none. */
static double number_after(const char *command, const char *mark) {
  FILE *pipe = popen(command, "r");
  if (!pipe) return -1;
  char line[512];
  double value = -1;
  while (fgets(line, sizeof line, pipe)) {
    const char *at = strstr(line, mark);
    if (at) value = strtod(at + strlen(mark), NULL);
  }
  return pclose(pipe) == 0 ? value : -1;
}

/* Instructions per call by callgrind: the difference between two runs, so that start-up cancels. */
static double count_instructions(const char *self, const char *plugin) {
  double totals[2];
  for (int i = 0; i < 2; ++i) {
    char command[2 * PATH_MAX + 256];
    snprintf(command, sizeof command,
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' --plugin '%s' --calls %d 2>&1", self,
             plugin, (i + 1) * INSTRUCTION_CALLS);
    totals[i] = number_after(command, "Collected :");
    if (totals[i] < 0) return -1;
  }
  return (totals[1] - totals[0]) / INSTRUCTION_CALLS;
}

static double time_pytorch(const char *python) {
  char command[PATH_MAX + 1024];
  snprintf(command, sizeof command,
           "'%s' -c \"import torch, time\n"
           "torch.set_num_threads(1)\n"
           "a, b, o = torch.ones(1), torch.ones(1), torch.empty(1)\n"
           "n, best = 200000, []\n"
           "for r in range(7):\n"
           "    t = time.perf_counter()\n"
           "    for i in range(n): torch.add(a, b, out=o)\n"
           "    best.append((time.perf_counter() - t) / n * 1e9)\n"
           "print('ns', sorted(best)[3])\" 2>/dev/null",
           python);
  return number_after(command, "ns ");
}

static void usage(FILE *file) {
  fprintf(file,
          "usage: bench-dispatch [--json] [--plugin FILE] [--python PROGRAM] [--calls N]\n"
          "Measures one op call down to an empty kernel.\n"
          "  --json            print JSON\n"
          "  --plugin FILE     the plugin with the empty kernel (default: beside the build)\n"
          "  --python PROGRAM  a Python that may have PyTorch (default: python3)\n"
          "  --calls N         only make N calls, for profilers\n");
}

static void add_number(cJSON *object, const char *name, double value) {
  if (value < 0) {
    cJSON_AddNullToObject(object, name);
  } else {
    cJSON_AddNumberToObject(object, name, value);
  }
}

static void print_row(const char *name, double value, const char *unit) {
  if (value < 0) {
    printf("%-24s %10s\n", name, "not run");
  } else {
    printf("%-24s %10.1f %s\n", name, value, unit);
  }
}

int main(int argc, char **argv) {
  bool json = false;
  const char *python = "python3";
  long calls = 0;
  char self[PATH_MAX], plugin[PATH_MAX + 64];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) {
    fprintf(stderr, "bench-dispatch: cannot find itself: %s\n", strerror(errno));
    return 1;
  }
  self[length] = '\0';
  snprintf(plugin, sizeof plugin, "%.*s/../bench/keyway_bench_empty.so", (int)(strrchr(self, '/') - self), self);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--json") == 0) {
      json = true;
    } else if (strcmp(argv[i], "--plugin") == 0 && i + 1 < argc) {
      snprintf(plugin, sizeof plugin, "%s", argv[++i]);
    } else if (strcmp(argv[i], "--python") == 0 && i + 1 < argc) {
      python = argv[++i];
    } else if (strcmp(argv[i], "--calls") == 0 && i + 1 < argc && (calls = strtol(argv[i + 1], NULL, 10)) > 0) {
      ++i;
    } else {
      bool help = strcmp(argv[i], "--help") == 0;
      if (!help) fprintf(stderr, "bench-dispatch: unexpected '%s'\n", argv[i]);
      usage(help ? stdout : stderr);
      return help ? 0 : 2;
    }
  }
  prepare(plugin);
  call_op(2); /* the first makes the plan */
  if (calls > 0) {
    call_op((uint64_t)calls);
    return 0;
  }

  uint64_t allocations_before = allocations, locks_before = locks;
  call_op(1000);
  double allocated = (double)(allocations - allocations_before), locked = (double)(locks - locks_before);

  double op_times[ROUNDS], indirect_times[ROUNDS];
  for (int round = 0; round < ROUNDS; ++round) {
    op_times[round] = time_calls(call_op, CALLS_PER_ROUND);
    indirect_times[round] = time_calls(call_indirect, CALLS_PER_ROUND);
  }
  double op_ns = kw_median(op_times, ROUNDS), indirect_ns = kw_median(indirect_times, ROUNDS);
  double instructions = count_instructions(self, plugin);
  double torch_ns = time_pytorch(python);

  if (json) {
    cJSON *root = cJSON_CreateObject();
    add_number(root, "op_call_ns", op_ns);
    add_number(root, "op_call_instructions", instructions);
    add_number(root, "locks", locked);
    add_number(root, "allocations", allocated);
    add_number(root, "indirect_call_ns", indirect_ns);
    add_number(root, "pytorch_add_ns", torch_ns);
    add_number(root, "ratio_to_indirect", op_ns / indirect_ns);
    add_number(root, "ratio_pytorch_to_op", torch_ns < 0 ? -1 : torch_ns / op_ns);
    char *text = cJSON_Print(root);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(root);
    return 0;
  }
  print_row("op_call_ns", op_ns, "ns, median");
  print_row("op_call_instructions", instructions, "per call (callgrind)");
  print_row("locks", locked, "in 1000 calls");
  print_row("allocations", allocated, "in 1000 calls");
  print_row("indirect_call_ns", indirect_ns, "ns, median");
  print_row("pytorch_add_ns", torch_ns, "ns, median (torch.add, out=, one element)");
  print_row("op / indirect", op_ns / indirect_ns, "x");
  print_row("pytorch / op", torch_ns < 0 ? -1 : torch_ns / op_ns, "x");
  return 0;
}
