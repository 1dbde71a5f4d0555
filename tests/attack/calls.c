/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls by chance: any op, with arguments that fit its schema or nearly do, on tensors of any dtype, shape and layout.
 * A call is refused with a documented status and a text, or it gives the same bits again: at a second call, in results
 * that are given and strided, and from a graph. Nothing is touched by a call that is refused, and nothing is left.
 */
#include "random.h"

#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: attack_calls --device NAME [OPTION]...\n"
    "\n"
    "Calls random ops of a device with random arguments.\n"
    "\n"
    "  --device NAME    \"npu:0\"\n"
    "  --plugin FILE    its plugin; may be repeated\n"
    "  --seed N         1 when it is not given\n"
    "  --calls N        how many; 10000 when it is not given\n"
    "  --seconds N      and no longer than this\n"
    "  --call N         only this one of them, and show it: what a finding names\n"
    "  --op GLOB        only these ops\n";

static struct {
  const char *device, *op;
  uint64_t seed, calls, seconds, call;
} options = {.op = "*", .seed = 1, .calls = 10000, .seconds = UINT64_MAX, .call = UINT64_MAX};

static kw_device *device;
static kw_stream *stream;
static kw_generator *generator;

/* ---- What is being called ---------------------------------------------------------------------------------------- */

#define TIME_LIMIT 60 /* seconds for a call */
#define ARGS_MOST 65  /* one more than any op has */
#define RESULTS_MOST 16
#define LIST_MOST 8

static uint64_t number; /* of the call */
static char shown[16384];
static size_t shown_length;

static void show(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void show(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(shown + shown_length, sizeof shown - shown_length, format, arguments);
  va_end(arguments);
  shown_length += (size_t)length;
  if (shown_length >= sizeof shown) shown_length = sizeof shown - 1;
}

static void show_tensor(const kw_tensor *tensor) {
  if (tensor == NULL) {
    show("NULL");
    return;
  }
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  show("%s[", kw_dtype_name(ref->dtype));
  for (uint32_t d = 0; d < ref->rank; d++) show("%s%lld", d > 0 ? "," : "", (long long)ref->shape[d]);
  show("]/(");
  for (uint32_t d = 0; d < ref->rank; d++) show("%s%lld", d > 0 ? "," : "", (long long)ref->strides[d]);
  show(")");
}

static unsigned long refused, done, findings;

static void find(const char *what) {
  findings++;
  fprintf(stderr, "--seed %llu --call %llu: %s: %s\n  message: %.300s\n", (unsigned long long)options.seed,
          (unsigned long long)number, what, shown, kw_error_message());
}

static void tell_of_death(void) {
  find("dies");
}

static void on_signal(int signal) {
  find(signal == SIGALRM ? "hangs" : "crashes");
  _exit(1);
}

void __sanitizer_set_death_callback(void (*function)(void)) __attribute__((weak));

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* All tensors of the call, and what lists point at. */
static kw_tensor *tensors[512];
static uint32_t tensor_count;
static kw_tensor *tensor_lists[ARGS_MOST][LIST_MOST];
static int64_t int_lists[ARGS_MOST][LIST_MOST];

/* What most tensors of the call are like. */
static kw_dtype usual_dtype;
static uint32_t usual_rank;
static int64_t usual_shape[KW_MAX_RANK];

/* Returns the tensor, which is released when the call is over; NULL when there is no room. */
static kw_tensor *keep(kw_tensor *tensor) {
  if (tensor == NULL || tensor_count < sizeof tensors / sizeof tensors[0]) {
    if (tensor != NULL) tensors[tensor_count++] = tensor;
    return tensor;
  }
  kw_tensor_release(tensor);
  return NULL;
}

static void release_all(void) {
  while (tensor_count > 0) kw_tensor_release(tensors[--tensor_count]);
}

static kw_tensor *make(kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  kw_tensor *tensor = NULL;
  if (random_tensor(device, dtype, rank, shape, &tensor) != KW_OK) return NULL;
  if (random_fill(tensor) != KW_OK) find("a tensor cannot be written");
  return keep(tensor);
}

/* Mostly low; the larger, the smaller are the sizes. */
static uint32_t draw_rank(void) {
  return random_below(random_chance(85) ? 5 : KW_MAX_RANK + 1);
}

static int64_t draw_size(uint32_t rank) {
  return rank > 5   ? 1 + (int64_t)random_below(2) - random_chance(2)
         : rank > 3 ? (int64_t)random_below(4)
                    : random_size();
}

static kw_tensor *draw_tensor(bool indices) {
  if (tensor_count > 0 && random_chance(18)) return tensors[random_below(tensor_count)];
  int64_t shape[KW_MAX_RANK];
  uint32_t rank = usual_rank;
  memcpy(shape, usual_shape, sizeof shape);
  if (random_chance(25)) {
    rank = draw_rank();
    for (uint32_t d = 0; d < rank; d++) shape[d] = draw_size(rank);
  } else if (rank > 0 && random_chance(50)) {
    shape[random_below(rank)] = random_chance(50) ? 1 : random_size();
  } else if (rank > 0 && random_chance(15)) {
    rank--;
  }
  const kw_dtype dtype = indices             ? (random_chance(85) ? KW_I64 : KW_I32)
                         : random_chance(85) ? usual_dtype
                                             : random_dtype();
  kw_tensor *tensor = make(dtype, rank, shape);
  for (int views = 0; tensor != NULL && views < 2 && random_chance(35); views++) {
    kw_tensor *view = keep(random_chance(40) ? random_layout(tensor) : random_view(tensor));
    if (view != NULL) tensor = view;
  }
  return tensor;
}

static kw_value draw_tensors(const kw_arg_info *arg, kw_tensor **list) {
  const uint32_t count = random_below(5);
  const bool indices = (arg->flags & KW_ARG_OPTIONAL_ENTRIES) != 0;
  show("[");
  for (uint32_t i = 0; i < count; i++) {
    list[i] = random_chance(indices ? 25 : 2) ? NULL : draw_tensor(indices);
    show_tensor(list[i]);
    show(" ");
  }
  show("]");
  return kw_arg_tensor_list(list, count);
}

static kw_value draw_ints(const kw_arg_info *arg, int64_t *list) {
  const bool mask = strcmp(arg->name, "output_mask") == 0, like = random_chance(40);
  uint32_t count = mask                  ? 2 + random_below(2)
                   : arg->list_size != 0 ? (random_chance(70) ? arg->list_size : random_below(4))
                                         : random_below(usual_rank + 2);
  if (count > LIST_MOST) count = LIST_MOST;
  show("[");
  for (uint32_t i = 0; i < count; i++) {
    list[i] = mask                        ? (int64_t)random_below(2)
              : like && i < usual_rank    ? usual_shape[i]
              : i > 0 && random_chance(8) ? (int64_t)(random_below(5) - (uint64_t)list[i - 1]) /* with it, few again */
              : random_chance(75)         ? (int64_t)random_below(5)
                                          : random_int();
    show("%lld ", (long long)list[i]);
  }
  show("]");
  return kw_arg_int_list(list, count);
}

static kw_value draw_scalar(void) {
  const int64_t whole = random_int();
  const double real = random_float();
  switch (random_below(4)) {
    case 0:
      show("%lld", (long long)whole);
      return kw_arg_scalar_i64(whole);
    case 1:
      show("%g", real);
      return kw_arg_scalar_f64(real);
    case 2:
      show("true");
      return kw_arg_scalar_bool(true);
    default: {
      kw_value value = {KW_TAG_SCALAR, random_chance(90) ? KW_SCALAR_C128 : 9, 0, {0}};
      value.u.c[0] = real;
      value.u.c[1] = random_float();
      show("%g + %gi (kind %u)", value.u.c[0], value.u.c[1], value.kind);
      return value;
    }
  }
}

/* A value for the argument in place `at`; now and then one of another type. */
static kw_value draw_value(const kw_arg_info *arg, uint32_t at, bool strict) {
  if ((arg->flags & KW_ARG_OPTIONAL) != 0 && random_chance(45)) return show("none"), kw_arg_none();
  if ((arg->flags & KW_ARG_HAS_DEFAULT) != 0 && random_chance(50)) return show("default"), arg->default_value;
  const kw_tag tag = strict || random_chance(97) ? arg->tag : (kw_tag)random_below(KW_TAG_GENERATOR + 2);
  const bool indices = strstr(arg->name, "ind") != NULL || strcmp(arg->name, "target") == 0;
  kw_value value = kw_arg_none();
  if (tag == KW_TAG_TENSOR) {
    value = kw_arg_tensor(random_chance(1) ? NULL : draw_tensor(indices));
    show_tensor((const kw_tensor *)(const void *)value.u.tensor);
  } else if (tag == KW_TAG_TENSOR_LIST) {
    value = draw_tensors(arg, tensor_lists[at]);
  } else if (tag == KW_TAG_INT) {
    value = kw_arg_int(random_int());
    show("%lld", (long long)value.u.i);
  } else if (tag == KW_TAG_INT_LIST) {
    value = draw_ints(arg, int_lists[at]);
  } else if (tag == KW_TAG_FLOAT) {
    value = kw_arg_float(random_float());
    show("%g", value.u.f);
  } else if (tag == KW_TAG_BOOL) {
    value = kw_arg_bool(random_chance(50));
    show(value.u.b ? "true" : "false");
  } else if (tag == KW_TAG_STRING) {
    value = kw_arg_string(random_chance(1) ? NULL : random_text());
    show("'%s'", value.u.s != NULL ? value.u.s : "NULL");
  } else if (tag == KW_TAG_SCALAR) {
    value = draw_scalar();
  } else if (tag == KW_TAG_DTYPE) {
    value = kw_arg_dtype(random_chance(95) ? random_dtype() : (kw_dtype)random_below(65536));
    show("dtype %u", value.u.dtype);
  } else if (tag == KW_TAG_GENERATOR) {
    value = kw_arg_generator(random_chance(50) ? generator : NULL);
    show("generator");
  } else {
    value.tag = tag;
    show("tag %u", tag);
  }
  return value;
}

/* ---- A call ------------------------------------------------------------------------------------------------------ */

typedef struct call {
  const kw_op *op;
  kw_op_info info;
  kw_value args[ARGS_MOST];
  uint32_t arg_count, out_count;
  bool repeats; /* with the same results */
} call;

static void draw_call(call *c) {
  c->info.struct_size = sizeof c->info;
  do {
    c->op = kw_op_at(random_below(kw_op_count()));
    kw_op_get_info(c->op, &c->info);
  } while (fnmatch(options.op, c->info.name, 0) != 0);
  usual_dtype = KW_F32;
  for (int tries = 0; tries < 50; tries++) {
    usual_dtype = random_dtype();
    if (random_chance(8) || (c->info.dtypes.bits[0] >> usual_dtype & 1) != 0) break;
  }
  usual_rank = draw_rank();
  for (int d = 0; d < KW_MAX_RANK; d++) {
    usual_shape[d] = usual_rank > 5   ? draw_size(usual_rank)
                     : usual_rank > 2 ? 1 + (int64_t)random_below(4)
                                      : random_size();
  }
  c->arg_count = random_chance(88) ? c->info.arg_count : random_below(c->info.arg_count + 2);
  c->repeats = strstr(c->info.name, "empty") == NULL;
  const bool strict = random_chance(70);
  show("%s(", c->info.name);
  for (uint32_t i = 0; i < c->arg_count; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg, .name = "one more", .tag = KW_TAG_INT};
    if (i < c->info.arg_count) kw_op_get_arg(c->op, i, &arg);
    show("%s%s=", i > 0 ? ", " : "", arg.name);
    c->args[i] = draw_value(&arg, i, strict);
  }
  for (uint32_t i = 0; i < c->info.arg_count; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg};
    kw_op_get_arg(c->op, i, &arg);
    if ((arg.flags & KW_ARG_MUTATED) != 0 || arg.tag == KW_TAG_GENERATOR) c->repeats = false;
  }
  show(")");
  c->out_count = c->info.result_count - (c->info.counted && random_chance(50));
}

static kw_status run(const call *c, kw_stream *on, kw_tensor **outs) {
  memset(outs, 0, RESULTS_MOST * sizeof *outs);
  kw_status status = kw_op_call(c->op, on, c->args, c->arg_count, outs, c->out_count);
  for (uint32_t i = 0; i < c->out_count; i++) {
    if (status != KW_OK && outs[i] != NULL) find("a call that fails gives a result");
    if (status == KW_OK && outs[i] != NULL && kw_op_result_alias(c->op, i) < 0) keep(outs[i]);
  }
  return status;
}

/* Waits for all; a late error of a stream is told once by it. */
static kw_status settle(void) {
  const kw_status first = kw_stream_synchronize(kw_stream_default(device)), second = kw_stream_synchronize(stream);
  const kw_status whole = kw_device_synchronize(device);
  return first != KW_OK ? first : second != KW_OK ? second : whole;
}

static bool is_documented(kw_status status) {
  return status == KW_ERR_INVALID_ARGUMENT || status == KW_ERR_NOT_IMPLEMENTED || status == KW_ERR_UNSUPPORTED ||
         status == KW_ERR_OUT_OF_MEMORY;
}

/* The bytes of a result; NULL when they are too many. */
static unsigned char *read_bytes(const kw_tensor *tensor, size_t *out_size) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  *out_size = (size_t)ref->numel * kw_dtype_size(ref->dtype);
  unsigned char *bytes = *out_size <= 64 << 20 ? malloc(*out_size + 1) : NULL;
  if (bytes == NULL || kw_tensor_read(tensor, bytes) == KW_OK) return bytes;
  find("a result cannot be read");
  free(bytes);
  return NULL;
}

/* Results are the same bits; what of a counted op lies behind the count is anything. */
static void compare(const call *c, kw_tensor *const *a, kw_tensor *const *b, const char *what) {
  for (uint32_t i = 0; i < c->out_count; i++) {
    size_t size = 0, other_size = 0;
    if (a[i] == NULL || b[i] == NULL) {
      if (a[i] != b[i]) find(what);
      continue;
    }
    if (c->info.counted && c->out_count == c->info.result_count) continue;
    unsigned char *bytes = read_bytes(a[i], &size), *other = read_bytes(b[i], &other_size);
    if (bytes != NULL && other != NULL && (size != other_size || memcmp(bytes, other, size) != 0)) find(what);
    free(bytes);
    free(other);
  }
}

/* Every second element of a larger tensor; NULL where that is too large. */
static kw_tensor *make_strided(const kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  if (ref->rank >= KW_MAX_RANK) return NULL;
  int64_t shape[KW_MAX_RANK];
  memcpy(shape, ref->shape, sizeof shape);
  shape[ref->rank] = 2;
  kw_tensor *large = make(ref->dtype, ref->rank + 1u, shape), *half = NULL;
  return large != NULL && kw_tensor_select(large, ref->rank, 1, &half) == KW_OK ? keep(half) : NULL;
}

/* Into tensors that lie otherwise. What is added up first may follow from the order of their dimensions, as it does in
 * variances: bits are the same in the same order. */
static void call_into_strided(const call *c, kw_tensor *const *results) {
  kw_tensor *given[RESULTS_MOST] = {NULL};
  const bool in_order = random_chance(50);
  for (uint32_t i = 0; i < c->out_count; i++) {
    if (results[i] == NULL || kw_op_result_alias(c->op, i) >= 0) continue;
    if (kw_tensor_describe(results[i])->numel > 1 << 16) return;
    given[i] = in_order ? make_strided(results[i]) : keep(random_layout(results[i]));
    if (given[i] == NULL) return;
  }
  if (kw_op_call(c->op, NULL, c->args, c->arg_count, given, c->out_count) != KW_OK) {
    find("refused with given results");
    return;
  }
  settle();
  if (in_order) compare(c, results, given, "given results differ");
}

static void call_in_graph(const call *c, kw_tensor *const *results) {
  kw_tensor *recorded[RESULTS_MOST];
  kw_graph *graph = NULL;
  if (kw_graph_begin(stream) != KW_OK) {
    find("no graph begins");
    return;
  }
  const kw_status status = run(c, stream, recorded);
  if (status != KW_OK && status != KW_ERR_BUSY) find("not recorded");
  if (kw_graph_end(stream, &graph) != KW_OK) find("no graph ends");
  if (status == KW_OK) {
    if (kw_graph_launch(graph, stream) != KW_OK || kw_stream_synchronize(stream) != KW_OK) find("a graph fails");
    compare(c, results, recorded, "a graph's results differ");
  }
  kw_graph_destroy(graph);
}

static void try_call(void) {
  call c = {0};
  kw_tensor *first[RESULTS_MOST], *second[RESULTS_MOST];
  shown_length = 0;
  draw_call(&c);
  if (options.call != UINT64_MAX) printf("%s\n", shown);
  kw_error_clear();
  kw_stream *on = random_chance(75) ? NULL : stream;
  const kw_status status = run(&c, on, first);
  if (status != KW_OK) {
    refused++;
    if (!is_documented(status)) find(kw_status_name(status));
    if (kw_error_message()[0] == '\0') find("no message");
    if (run(&c, on, second) != status) find("another status at the second call");
    settle();
    return;
  }
  done++;
  const kw_status late = settle(); /* an index in the data may be out of range */
  if (late != KW_OK && late != KW_ERR_INVALID_ARGUMENT) find("a late error");
  if (!c.repeats || late != KW_OK) return;
  if (run(&c, on, second) != KW_OK || settle() != KW_OK) {
    find("fails at the second call");
    return;
  }
  compare(&c, first, second, "two calls differ");
  const bool waits = c.info.counted && c.out_count < c.info.result_count;
  if (!waits && random_chance(30)) call_into_strided(&c, first);
  if (!waits && random_chance(30)) call_in_graph(&c, first);
}

/* ---- Many -------------------------------------------------------------------------------------------------------- */

static void require(kw_status status, const char *what) {
  if (status == KW_OK) return;
  fprintf(stderr, "attack_calls: %s: %s\n", what, kw_error_message());
  exit(2);
}

static void parse(int argc, char **argv) {
  static const struct option names[] = {{"device", 1, NULL, 'd'}, {"plugin", 1, NULL, 'p'},  {"seed", 1, NULL, 's'},
                                        {"calls", 1, NULL, 'n'},  {"seconds", 1, NULL, 't'}, {"call", 1, NULL, 'c'},
                                        {"op", 1, NULL, 'o'},     {"help", 0, NULL, 'h'},    {NULL, 0, NULL, 0}};
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    if (option == 'd') options.device = optarg;
    if (option == 'p') require(kw_plugin_load(optarg), "no plugin");
    if (option == 's') options.seed = strtoull(optarg, NULL, 10);
    if (option == 'n') options.calls = strtoull(optarg, NULL, 10);
    if (option == 't') options.seconds = strtoull(optarg, NULL, 10);
    if (option == 'c') options.call = strtoull(optarg, NULL, 10);
    if (option == 'o') options.op = optarg;
    if (option == 'h' || option == '?') {
      fputs(usage, option == 'h' ? stdout : stderr);
      exit(option == 'h' ? 0 : 2);
    }
  }
  if (options.device != NULL) return;
  fputs(usage, stderr);
  exit(2);
}

static void watch_for_death(void) {
  if (__sanitizer_set_death_callback != NULL) {
    __sanitizer_set_death_callback(tell_of_death);
  } else {
    for (size_t i = 0; i < 5; i++) signal((const int[]){SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL}[i], on_signal);
  }
  signal(SIGALRM, on_signal);
}

int main(int argc, char **argv) {
  parse(argc, argv);
  watch_for_death();
  require(kw_device_open(options.device, &device), "no device");
  require(kw_stream_create(device, &stream), "no stream");
  require(kw_generator_create(device, 7, &generator), "no generator");
  kw_memory_stats before = {.struct_size = sizeof before}, after = before;
  kw_memory_get_stats(device, &before);
  const time_t end = options.seconds < UINT32_MAX ? time(NULL) + (time_t)options.seconds : 0;
  const uint64_t from = options.call != UINT64_MAX ? options.call : 0;
  for (number = from; number < (options.call != UINT64_MAX ? from + 1 : options.calls); number++) {
    if (end != 0 && time(NULL) >= end) break;
    random_seed(options.seed << 32 ^ number);
    alarm(TIME_LIMIT);
    try_call();
    release_all();
  }
  alarm(0);
  settle();
  kw_memory_get_stats(device, &after);
  if (after.live != before.live) find("tensors are left");
  kw_generator_destroy(generator);
  kw_stream_destroy(stream);
  kw_device_close(device);
  printf("%s: %lu calls done, %lu refused, %lu findings\n", options.device, done, refused, findings);
  return findings == 0 ? 0 : 1;
}
