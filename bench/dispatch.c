/* SPDX-License-Identifier: Apache-2.0
 *
 * What one op call costs: add.Tensor on two existing f32 [1] inputs and an existing output, schema checks on, down to
 * an empty kernel of an external plugin; the same as a typed call, into its own argument, with a result that the call
 * allocates, on a second stream, by a plan that the program made; a kernel that may find errors in the data; a tensor
 * made and released, and the share of the allocator in that; what launching a graph costs that the plugin recorded
 * itself, and a node of one that core replays. Beside it an indirect call through a volatile pointer, and PyTorch's own
 * one-element add into an existing tensor where Python finds PyTorch. Times are medians of interleaved rounds in one
 * run.
 */
#include "median.h"

#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <errno.h>
#include <keyway/interop.h>
#include <keyway/ops.h>
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

/* ---- Counting ----------------------------------------------------------------------------------------------------
 *
 * libkeyway's allocations and locks go through these, because the program's symbols come first: those that it shows. */

#define SHOWN __attribute__((visibility("default")))

static _Atomic uint64_t allocations, locks;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);

SHOWN void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

SHOWN void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}

SHOWN void *realloc(void *pointer, size_t size) {
  ++allocations;
  return __libc_realloc(pointer, size);
}

SHOWN int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*next)(pthread_mutex_t *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  ++locks;
  return next(mutex);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static const kw_op *add, *mul, *embedding;
static kw_device *device;
static kw_stream *second;
static kw_tensor *x, *y, *sum;          /* f32 [1] */
static kw_tensor *weight, *ids, *found; /* f32 [1, 1], i64 [1], f32 [1, 1] */
static kw_plan *plan;                   /* of add.Tensor */

static void fail(const char *what) {
  fprintf(stderr, "bench-dispatch: %s failed: %s\n", what, kw_error_message());
  exit(1);
}

static void prepare(const char *plugin) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  const int64_t shape[] = {1, 1};
  if (kw_init(&options) != KW_OK || kw_plugin_load(plugin) != KW_OK) fail("loading the plugin");
  if (kw_device_open("empty:0", &device) != KW_OK) fail("opening the device");
  if (kw_tensor_create(device, KW_F32, 1, shape, &x) != KW_OK ||
      kw_tensor_create(device, KW_F32, 1, shape, &y) != KW_OK ||
      kw_tensor_create(device, KW_F32, 1, shape, &sum) != KW_OK ||
      kw_tensor_create(device, KW_F32, 2, shape, &weight) != KW_OK ||
      kw_tensor_create(device, KW_I64, 1, shape, &ids) != KW_OK ||
      kw_tensor_create(device, KW_F32, 2, shape, &found) != KW_OK) {
    fail("making tensors");
  }
  if (kw_stream_create(device, &second) != KW_OK) fail("making a stream");
  add = kw_op_find("add.Tensor");
  mul = kw_op_find("mul.Tensor");
  embedding = kw_op_find("embedding");
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  if (kw_plan_make(add, NULL, args, 2, &sum, 1, NULL, &plan) != KW_OK) fail("making a plan");
}

/* An op of a and b into *out, where there is one. */
static void call_into(const kw_op *op, kw_stream *stream, kw_tensor *a, kw_tensor *b, kw_tensor **out, uint64_t calls) {
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  for (uint64_t i = 0; i < calls; ++i) {
    if (kw_op_call(op, stream, args, 2, out, 1) != KW_OK) fail("an op");
  }
}

static void call_op(uint64_t calls) {
  call_into(add, NULL, x, y, &sum, calls);
}

/* With arguments made for each call, as a program makes them, and all of them. */
static void call_by_hand(uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) {
    const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y), kw_arg_scalar_i64(1)};
    if (kw_op_call(add, NULL, args, 3, &sum, 1) != KW_OK) fail("an op");
  }
}

static void call_typed(uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) {
    if (kw_add_tensor(x, y, &sum) != KW_OK) fail("an op");
  }
}

static void call_in_place(uint64_t calls) {
  call_into(add, NULL, x, y, &x, calls);
}

static void call_on_second_stream(uint64_t calls) {
  call_into(add, second, x, y, &sum, calls);
}

static void run_plan(uint64_t calls) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  for (uint64_t i = 0; i < calls; ++i) {
    if (kw_plan_run(plan, NULL, args, 2, &sum, 1) != KW_OK) fail("the plan of add.Tensor");
  }
}

/* Of the plan's tensors each is another than at its last run. */
static void run_plan_on_others(uint64_t calls) {
  const kw_value args[][2] = {{kw_arg_tensor(x), kw_arg_tensor(y)}, {kw_arg_tensor(sum), kw_arg_tensor(x)}};
  kw_tensor *outs[] = {sum, y};
  for (uint64_t i = 0; i < calls; ++i) {
    if (kw_plan_run(plan, NULL, args[i % 2], 2, &outs[i % 2], 1) != KW_OK) fail("the plan of add.Tensor");
  }
}

/* With the release of what it allocated. */
static void call_and_allocate(uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) {
    kw_tensor *made = NULL;
    call_into(add, NULL, x, y, &made, 1);
    kw_tensor_release(made);
  }
}

static void make_tensor(uint64_t calls) {
  const int64_t shape[] = {1};
  for (uint64_t i = 0; i < calls; ++i) {
    kw_tensor *made;
    if (kw_tensor_create(device, KW_F32, 1, shape, &made) != KW_OK) fail("making a tensor");
    kw_tensor_release(made);
  }
}

/* Beside those that another tensor has. */
static void make_address(uint64_t calls) {
  static void *other;
  if (other == NULL && kw_address_reserve(x, &other) != KW_OK) fail("reserving addresses");
  for (uint64_t i = 0; i < calls; ++i) {
    void *address;
    if (kw_address_reserve(y, &address) != KW_OK) fail("reserving addresses");
    if (kw_address_release(address) != KW_OK) fail("releasing addresses");
  }
}

static void call_with_data_errors(uint64_t calls) {
  const kw_value args[] = {kw_arg_tensor(weight), kw_arg_tensor(ids)};
  for (uint64_t i = 0; i < calls; ++i) {
    if (kw_op_call(embedding, NULL, args, 2, &found, 1) != KW_OK) fail("embedding");
  }
}

/* What is counted. */
static const struct {
  const char *name;
  void (*run)(uint64_t calls);
} cases[] = {
    {"op_call", call_op},
    {"by_hand", call_by_hand},
    {"typed", call_typed},
    {"in_place", call_in_place},
    {"allocated", call_and_allocate},
    {"second_stream", call_on_second_stream},
    {"data_errors", call_with_data_errors},
    {"plan_run", run_plan},
    {"plan_run_others", run_plan_on_others},
    {"tensor", make_tensor},
    {"address", make_address},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static kw_graph *recorded;

/* Of add.Tensor, whose kernel lets the plugin record it, or of mul.Tensor, whose kernel does not. */
static void record_graph(uint64_t nodes, bool native) {
  kw_stream *stream = kw_stream_default(device);
  if (kw_graph_begin(stream) != KW_OK) fail("recording");
  call_into(native ? add : mul, NULL, x, y, &sum, nodes);
  if (kw_graph_end(stream, &recorded) != KW_OK) fail("recording");
  kw_graph_info info = {.struct_size = sizeof info};
  if (kw_graph_get_info(recorded, &info) != KW_OK) fail("looking at the graph");
  if (info.native != native || info.nodes != nodes) {
    fprintf(stderr, "bench-dispatch: the graph has %u nodes, %s\n", (unsigned)info.nodes,
            info.native ? "recorded by the plugin" : "not recorded by the plugin");
    exit(1);
  }
}

static void launch_graph(uint64_t launches) {
  kw_stream *stream = kw_stream_default(device);
  for (uint64_t i = 0; i < launches; ++i) {
    if (kw_graph_launch(recorded, stream) != KW_OK) fail("launching the graph");
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

/* Instructions per call of what `what` makes ("--case NAME"), by callgrind: the difference between two runs, so that
 * start-up cancels. `options` of callgrind narrow down what is counted. */
static double count_instructions(const char *self, const char *plugin, const char *options, const char *what) {
  double totals[2];
  for (int i = 0; i < 2; ++i) {
    char command[2 * PATH_MAX + 256];
    snprintf(command, sizeof command,
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null %s '%s' --plugin '%s' %s --calls %d 2>&1",
             options, self, plugin, what, (i + 1) * INSTRUCTION_CALLS);
    totals[i] = number_after(command, "Collected :");
    if (totals[i] < 0) return -1;
  }
  const double counted = (totals[1] - totals[0]) / INSTRUCTION_CALLS;
  return counted > 0 ? counted : -1; /* nothing is what the options say */
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

typedef struct result {
  const char *name;
  double value; /* negative: not measured */
  const char *unit;
} result;

static void print_json(const result *results, size_t count) {
  cJSON *root = cJSON_CreateObject();
  for (size_t i = 0; i < count; ++i) {
    if (results[i].value < 0) {
      cJSON_AddNullToObject(root, results[i].name);
    } else {
      cJSON_AddNumberToObject(root, results[i].name, results[i].value);
    }
  }
  char *text = cJSON_Print(root);
  puts(text);
  cJSON_free(text);
  cJSON_Delete(root);
}

static void print_table(const result *results, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (results[i].value < 0) {
      printf("%-28s %10s\n", results[i].name, "not run");
    } else {
      printf("%-28s %10.1f %s\n", results[i].name, results[i].value, results[i].unit);
    }
  }
}

/* Of a node, in a graph that core replays. */
static double count_node(const char *self, const char *plugin) {
  const double one = count_instructions(self, plugin, "", "--replay 1");
  const double many = count_instructions(self, plugin, "", "--replay 64");
  return one < 0 || many < 0 ? -1 : (many - one) / 63;
}

/* What no clock tells. */
static size_t count(const char *self, const char *plugin, result *out) {
  static char names[CASES][3][40];
  size_t rows = 0;
  /* A first run looks at plugins, and the cache has what it saw for all others: a cache of their own, which no other
   * process writes. */
  char cache[] = "/tmp/keyway-dispatch-XXXXXX";
  if (mkdtemp(cache) != NULL) setenv("XDG_CACHE_HOME", cache, 1);
  count_instructions(self, plugin, "", "");
  for (size_t i = 0; i < CASES; ++i) {
    cases[i].run(2); /* the first makes the plan */
    const uint64_t allocations_before = allocations, locks_before = locks;
    cases[i].run(1000);
    const double allocated = (double)(allocations - allocations_before), locked = (double)(locks - locks_before);
    char what[64];
    snprintf(what, sizeof what, "--case %s", cases[i].name);
    snprintf(names[i][0], sizeof names[i][0], "%s_instructions", cases[i].name);
    snprintf(names[i][1], sizeof names[i][1], "%s_locks", cases[i].name);
    snprintf(names[i][2], sizeof names[i][2], "%s_allocations", cases[i].name);
    out[rows++] = (result){names[i][0], count_instructions(self, plugin, "", what), "per call (callgrind)"};
    out[rows++] = (result){names[i][1], locked, "in 1000 calls"};
    out[rows++] = (result){names[i][2], allocated, "in 1000 calls"};
  }
  out[rows++] =
      (result){"allocate_free_instructions",
               count_instructions(self, plugin, "--toggle-collect=kw_buffer_create --toggle-collect=kw_buffer_release",
                                  "--case tensor"),
               "of a tensor's, for its memory"};
  out[rows++] = (result){"graph_1_instructions", count_instructions(self, plugin, "", "--graph 1"),
                         "per launch of a graph of 1 node"};
  out[rows++] = (result){"graph_64_instructions", count_instructions(self, plugin, "", "--graph 64"), "of 64 nodes"};
  out[rows++] = (result){"graph_node_instructions", count_node(self, plugin), "per node that core replays"};
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", cache);
  if (system(command) != 0) fprintf(stderr, "%s stays\n", cache);
  return rows;
}

static size_t measure_times(const char *python, result *out) {
  double op_times[ROUNDS], indirect_times[ROUNDS];
  for (int round = 0; round < ROUNDS; ++round) {
    op_times[round] = time_calls(call_op, CALLS_PER_ROUND);
    indirect_times[round] = time_calls(call_indirect, CALLS_PER_ROUND);
  }
  const double op_ns = kw_median(op_times, ROUNDS), indirect_ns = kw_median(indirect_times, ROUNDS);
  const double torch_ns = time_pytorch(python);
  size_t rows = 0;
  out[rows++] = (result){"op_call_ns", op_ns, "ns, median"};
  out[rows++] = (result){"indirect_call_ns", indirect_ns, "ns, median"};
  out[rows++] = (result){"pytorch_add_ns", torch_ns, "ns, median (torch.add, out=, one element)"};
  out[rows++] = (result){"ratio_to_indirect", op_ns / indirect_ns, "x"};
  out[rows++] = (result){"ratio_pytorch_to_op", torch_ns < 0 ? -1 : torch_ns / op_ns, "x"};
  return rows;
}

static void usage(FILE *file) {
  fprintf(file,
          "usage: bench-dispatch [--json] [--counts] [--plugin FILE] [--python PROGRAM]\n"
          "                      [--calls N [--case NAME | --graph NODES | --replay NODES]]\n"
          "Measures one op call down to an empty kernel.\n"
          "  --json            print JSON\n"
          "  --counts          only what no clock tells: instructions, locks, allocations\n"
          "  --plugin FILE     the plugin with the empty kernel (default: beside the build)\n"
          "  --python PROGRAM  a Python that may have PyTorch (default: python3)\n"
          "  --calls N         only make N calls, for profilers\n"
          "  --case NAME       of those that this row of the counts is about: in_place, ...\n"
          "  --graph NODES     launch a graph of so many calls instead, that the plugin recorded\n"
          "  --replay NODES    the same, one that it did not record\n");
}

static bool read_number(const char *text, long *out) {
  char *end;
  *out = strtol(text, &end, 10);
  return end != text && !*end && *out >= 0;
}

static bool find_case(const char *name, void (**out_run)(uint64_t)) {
  size_t i = 0;
  while (i < CASES && strcmp(cases[i].name, name) != 0) ++i;
  if (i < CASES) *out_run = cases[i].run;
  return i < CASES;
}

int main(int argc, char **argv) {
  bool json = false, counts_only = false, native = true;
  const char *python = "python3";
  long calls = 0, nodes = 0;
  void (*run)(uint64_t) = call_op;
  char self[PATH_MAX], plugin[PATH_MAX + 64];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) {
    fprintf(stderr, "bench-dispatch: cannot find itself: %s\n", strerror(errno));
    return 1;
  }
  self[length] = '\0';
  snprintf(plugin, sizeof plugin, "%.*s/../bench/keyway_bench_empty.so", (int)(strrchr(self, '/') - self), self);
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (strcmp(argv[i], "--json") == 0) {
      json = true;
    } else if (strcmp(argv[i], "--counts") == 0) {
      counts_only = true;
    } else if (strcmp(argv[i], "--plugin") == 0 && more) {
      snprintf(plugin, sizeof plugin, "%s", argv[++i]);
    } else if (strcmp(argv[i], "--python") == 0 && more) {
      python = argv[++i];
    } else if (strcmp(argv[i], "--calls") == 0 && more && read_number(argv[i + 1], &calls)) {
      ++i;
    } else if (strcmp(argv[i], "--case") == 0 && more && find_case(argv[i + 1], &run)) {
      ++i;
    } else if ((strcmp(argv[i], "--graph") == 0 || strcmp(argv[i], "--replay") == 0) && more &&
               read_number(argv[i + 1], &nodes)) {
      native = argv[i][2] == 'g';
      ++i;
    } else {
      bool help = strcmp(argv[i], "--help") == 0;
      if (!help) fprintf(stderr, "bench-dispatch: unexpected '%s'\n", argv[i]);
      usage(help ? stdout : stderr);
      return help ? 0 : 2;
    }
  }
  prepare(plugin);
  run(2); /* the first makes the plan */
  if (nodes > 0) record_graph((uint64_t)nodes, native);
  if (calls > 0) {
    (nodes > 0 ? launch_graph : run)((uint64_t)calls);
    return 0;
  }

  result results[3 * CASES + 9];
  size_t rows = count(self, plugin, results);
  if (!counts_only) rows += measure_times(python, results + rows);
  (json ? print_json : print_table)(results, rows);
  return 0;
}
