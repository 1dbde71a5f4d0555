/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway bench`: how fast a device runs ops, and how fast another way to the same device runs them.
 *
 * A round runs each side once, one after the other, often enough to last; what is printed are medians over the rounds,
 * and of the ratio the median of each round's own, so that what slows both sides for a while does not count.
 */
#include "base/clock.h"
#include "commands.h"
#include "table.h"

#include <bench/median.h>
#include <bench/peer.h>
#include <keyway/keyway.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What is run ------------------------------------------------------------------------------------------------- */

#define TENSOR_LIMIT 3 /* arguments that are tensors */
#define TAIL_LIMIT 4   /* and those after them */
#define RESULT_LIMIT 3

typedef struct workload {
  const char *op;
  enum { FLAT, ROWS, SQUARE, HEADS } shape; /* [n], [n / 1024, 1024], [n, n], [1, 8, n, 64] */
  uint32_t tensor_count;
  enum { SAME, ONE } result; /* of the tensors' shape, or one element */
  kw_value tail[TAIL_LIMIT]; /* arguments after the tensors */
  uint32_t tail_count;
  uint32_t result_count;
} workload;

#define INT(value) \
  { .tag = KW_TAG_INT, .u.i = (value) }
#define BOOL(value) \
  { .tag = KW_TAG_BOOL, .u.b = (value) }
#define REAL(value) \
  { .tag = KW_TAG_FLOAT, .u.f = (value) }
#define NONE \
  { .tag = KW_TAG_NONE }
#define ROW_LENGTH \
  { .tag = KW_TAG_INT_LIST, .count = 1 } /* of the run: run_make fills it in */

static const workload workloads[] = {
    {"copy_", FLAT, 2, SAME, {{0}}, 0, 1},
    {"add.Tensor", FLAT, 2, SAME, {{0}}, 0, 1},
    {"mul.Tensor", FLAT, 2, SAME, {{0}}, 0, 1},
    {"relu", FLAT, 1, SAME, {{0}}, 0, 1},
    {"exp", FLAT, 1, SAME, {{0}}, 0, 1},
    {"gelu", FLAT, 1, SAME, {{0}}, 0, 1},
    {"sum", FLAT, 1, ONE, {{0}}, 0, 1},
    {"amax", FLAT, 1, ONE, {{0}}, 0, 1},
    {"_softmax", ROWS, 1, SAME, {INT(1), BOOL(false)}, 2, 1},
    {"native_layer_norm", ROWS, 1, SAME, {ROW_LENGTH, NONE, NONE, REAL(1e-5)}, 4, 3},
    {"mm", SQUARE, 2, SAME, {{0}}, 0, 1},
    {"scaled_dot_product_attention", HEADS, 3, SAME, {NONE, REAL(0), BOOL(false)}, 3, 1},
};
enum { WORKLOAD_COUNT = sizeof workloads / sizeof workloads[0] };

/* Elements of a vector, rows of a square matrix, or of each head. */
#define SIZE_LIMIT 16
typedef struct size_list {
  uint32_t count;
  int64_t items[SIZE_LIMIT];
} size_list;

static const size_list flat_sizes = {4, {1 << 10, 1 << 18, 1 << 22, 1 << 24}};
static const size_list square_sizes = {3, {256, 1024, 2048}};
static const size_list head_sizes = {2, {256, 1024}};

/* One workload at one size, with its tensors on the device. */
typedef struct run {
  const workload *work;
  const kw_op *op;
  int64_t size;
  uint32_t rank;
  int64_t shape[4];
  kw_tensor *tensors[TENSOR_LIMIT];
  kw_tensor *outs[RESULT_LIMIT]; /* the first is made at once, others by the first call */
  uint32_t out_count;            /* 0 where the op changes its first argument */
  kw_value args[TENSOR_LIMIT + TAIL_LIMIT];
  uint32_t arg_count;
} run;

static void run_release(run *r) {
  for (uint32_t i = 0; i < TENSOR_LIMIT; ++i) kw_tensor_release(r->tensors[i]);
  for (uint32_t i = 0; i < RESULT_LIMIT; ++i) kw_tensor_release(r->outs[i]);
}

/* Numbers between 0 and 1. */
static kw_status tensor_make(kw_device *device, uint32_t rank, const int64_t *shape, kw_tensor **out_tensor) {
  kw_status status = kw_tensor_create(device, KW_F32, rank, shape, out_tensor);
  if (status != KW_OK) return status;
  const int64_t numel = kw_tensor_describe(*out_tensor)->numel;
  float *numbers = malloc((size_t)numel * sizeof *numbers);
  if (!numbers) return KW_ERR_OUT_OF_MEMORY;
  for (int64_t i = 0; i < numel; ++i) numbers[i] = (float)(i % 251) / 251;
  status = kw_tensor_write(*out_tensor, numbers);
  free(numbers);
  return status;
}

static kw_status run_make(kw_device *device, const workload *work, int64_t size, run *out_run) {
  run *r = out_run;
  *r = (run){.work = work, .op = kw_op_find(work->op), .size = size, .rank = 1, .shape = {size}};
  if (work->shape == HEADS) {
    r->rank = 4;
    memcpy(r->shape, (const int64_t[]){1, 8, size, 64}, sizeof r->shape);
  } else if (work->shape != FLAT) {
    r->rank = 2;
    r->shape[1] = work->shape == SQUARE || size < 1024 ? size : 1024;
    r->shape[0] = size / r->shape[1];
    if (work->shape == SQUARE) r->shape[0] = size;
  }
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < work->tensor_count && status == KW_OK; ++i) {
    status = tensor_make(device, r->rank, r->shape, &r->tensors[i]);
    r->args[r->arg_count++] = kw_arg_tensor(r->tensors[i]);
  }
  for (uint32_t i = 0; i < work->tail_count; ++i) {
    kw_value *value = &r->args[r->arg_count++];
    *value = work->tail[i];
    if (value->tag == KW_TAG_INT_LIST) value->u.ints = &r->shape[1];
  }
  if (kw_op_result_alias(r->op, 0) < 0) {
    r->out_count = work->result_count;
    if (status == KW_OK) status = tensor_make(device, work->result == ONE ? 0 : r->rank, r->shape, &r->outs[0]);
  }
  if (status != KW_OK) run_release(r);
  return status;
}

static double run_numel(const run *r) {
  double numel = 1;
  for (uint32_t d = 0; d < r->rank; ++d) numel *= (double)r->shape[d];
  return numel;
}

/* Operations of a call that is bound by them, n for each element in one product or in two; otherwise 0. */
static double run_flops(const run *r) {
  const int products = r->work->shape == SQUARE ? 1 : r->work->shape == HEADS ? 2 : 0;
  return 2.0 * products * (double)r->size * run_numel(r);
}

/* Bytes that a call has to move at least. */
static double run_bytes(const run *r) {
  const double operand = 4 * run_numel(r);
  bool reads_first = r->out_count > 0;
  return operand * (r->work->tensor_count - (reads_first ? 0 : 1) + (r->work->result == SAME ? 1 : 0));
}

static kw_status run_once(run *r) {
  return kw_op_call(r->op, NULL, r->args, r->arg_count, r->out_count > 0 ? r->outs : NULL, r->out_count);
}

/* ---- The other side ---------------------------------------------------------------------------------------------- */

typedef struct rival {
  const kw_bench_peer_api *api; /* NULL: there is none */
  void *library;
  void *peer;
} rival;

/* KEYWAY's own directory of peers, beside libkeyway's plugins. */
static bool peer_path(const char *key, const char *name, char *path, size_t size) {
  Dl_info info;
  if (!dladdr((void *)(uintptr_t)kw_version, &info)) return false;
  char library[PATH_MAX];
  if (!realpath(info.dli_fname, library)) return false;
  *strrchr(library, '/') = '\0';
  return (size_t)snprintf(path, size, "%s/keyway/peers/keyway_peer_%s_%s.so", library, key, name) < size;
}

static bool rival_open(kw_device *device, const char *name, rival *out_rival) {
  char path[PATH_MAX], key[64], why[1000] = "";
  kw_device_info info = {.struct_size = sizeof info};
  snprintf(key, sizeof key, "%.*s", (int)strcspn(kw_device_name(device), ":"), kw_device_name(device));
  if (!peer_path(key, name, path, sizeof path) || access(path, R_OK) != 0) {
    kw_cli_complain(&kw_cli_bench, "there is no peer '%s' for %s devices: %s is missing", name, key, path);
    return false;
  }
  out_rival->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!out_rival->library) {
    kw_cli_complain(&kw_cli_bench, "the peer '%s' does not load: %s", name, dlerror());
    return false;
  }
  const kw_bench_peer_api *(*query)(void);
  *(void **)&query = dlsym(out_rival->library, "kw_bench_peer_query");
  if (!query) {
    kw_cli_complain(&kw_cli_bench, "'%s' is no peer: it lacks kw_bench_peer_query", path);
    return false;
  }
  const kw_bench_peer_api *api = query();
  if (kw_device_get_info(device, &info) != KW_OK || !api->open(info.name, &out_rival->peer, why, sizeof why)) {
    kw_cli_complain(&kw_cli_bench, "the peer '%s' cannot use %s: %s", name, kw_device_name(device), why);
    return false;
  }
  out_rival->api = api;
  return true;
}

static void rival_close(rival *side) {
  if (side->api) side->api->close(side->peer);
  if (side->library) dlclose(side->library);
}

/* What a tensor is, and not where. */
static kw_tensor_ref without_place(const kw_tensor *tensor) {
  kw_tensor_ref ref = *kw_tensor_describe(tensor);
  ref.mem = NULL;
  ref.offset = 0;
  return ref;
}

/* NULL when the peer cannot do it; *why says so. */
static void *rival_prepare(const rival *side, const run *r, char *why, size_t size) {
  kw_tensor_ref tensors[TENSOR_LIMIT], refs[RESULT_LIMIT];
  kw_value args[TENSOR_LIMIT + TAIL_LIMIT];
  const kw_tensor_ref *outs[RESULT_LIMIT];
  void *job = NULL;
  memcpy(args, r->args, sizeof args);
  for (uint32_t i = 0; i < r->work->tensor_count; ++i) {
    tensors[i] = without_place(r->tensors[i]);
    args[i] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = &tensors[i]};
  }
  for (uint32_t i = 0; i < r->work->result_count; ++i) {
    refs[i] = r->out_count > 0 ? without_place(r->outs[i]) : tensors[0];
    outs[i] = &refs[i];
  }
  const kw_call call = {.struct_size = sizeof call,
                        .arg_count = r->arg_count,
                        .out_count = r->work->result_count,
                        .op = r->work->op,
                        .args = args,
                        .outs = outs};
  return side->api->prepare(side->peer, &call, &job, why, size) ? job : NULL;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

#define ROUND_LIMIT 101
#define BATCH_NS 4e6 /* what one side of a round lasts at least */

/* Nanoseconds of a call, waiting for the last of `calls`; negative when one fails. */
static double time_own(run *r, kw_device *device, uint32_t calls) {
  const double begin = kw_clock_seconds();
  for (uint32_t i = 0; i < calls; ++i)
    if (run_once(r) != KW_OK) return -1;
  if (kw_device_synchronize(device) != KW_OK) return -1;
  return 1e9 * (kw_clock_seconds() - begin) / calls;
}

static double time_rival(const rival *side, void *job, uint32_t calls) {
  const double begin = kw_clock_seconds();
  for (uint32_t i = 0; i < calls; ++i) side->api->run(side->peer, job);
  side->api->wait(side->peer);
  return 1e9 * (kw_clock_seconds() - begin) / calls;
}

typedef struct figures {
  double own, peer, ratio; /* ns of a call; peer is 0 without one */
  char why[300];           /* what the peer cannot do */
} figures;

static bool measure(kw_device *device, const rival *side, run *r, uint32_t rounds, figures *out) {
  double own[ROUND_LIMIT], peer[ROUND_LIMIT], ratio[ROUND_LIMIT];
  memset(out, 0, sizeof *out);
  bool fine = time_own(r, device, 1) >= 0; /* compiles, and makes results */
  void *job = side->api && fine ? rival_prepare(side, r, out->why, sizeof out->why) : NULL;
  double once = time_own(r, device, 3);
  fine = fine && once >= 0;
  uint32_t calls = once > 0 && once < BATCH_NS ? (uint32_t)(BATCH_NS / once) + 1 : 1;
  if (job) time_rival(side, job, calls);
  for (uint32_t i = 0; i < rounds && fine; ++i) {
    own[i] = time_own(r, device, calls);
    peer[i] = job ? time_rival(side, job, calls) : 0;
    ratio[i] = job ? own[i] / peer[i] : 0;
    fine = own[i] >= 0;
  }
  if (job) side->api->discard(side->peer, job);
  if (!fine) return false;
  out->own = kw_median(own, rounds);
  out->peer = kw_median(peer, rounds);
  out->ratio = kw_median(ratio, rounds);
  return true;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

typedef struct printer {
  cJSON *rows; /* or a table */
  kw_cli_table *table;
  double copy_rate[SIZE_LIMIT]; /* bytes per ns that copy_ moved at the size of that index; 0 unknown */
  bool peer;
} printer;

static void print_row(printer *out, const run *r, uint32_t size_index, const figures *f) {
  const double flops = run_flops(r), rate = (flops > 0 ? flops : run_bytes(r)) / f->own;
  if (strcmp(r->work->op, "copy_") == 0) out->copy_rate[size_index] = rate;
  const double copied = flops > 0 ? 0 : out->copy_rate[size_index], of_copy = copied > 0 ? rate / copied : 0;
  char shape[96] = "[";
  double dims[4];
  for (uint32_t d = 0; d < r->rank; ++d) {
    const size_t used = strlen(shape);
    snprintf(shape + used, sizeof shape - used, "%lld%s", (long long)r->shape[d], d + 1 < r->rank ? ", " : "]");
    dims[d] = (double)r->shape[d];
  }
  if (out->rows) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "op", r->work->op);
    cJSON_AddStringToObject(row, "dtype", "f32");
    cJSON_AddItemToObject(row, "shape", cJSON_CreateDoubleArray(dims, (int)r->rank));
    cJSON_AddNumberToObject(row, "ns", f->own);
    cJSON_AddNumberToObject(row, flops > 0 ? "gflops" : "gbps", rate);
    if (of_copy > 0) cJSON_AddNumberToObject(row, "of_copy", of_copy);
    if (f->peer > 0) {
      cJSON_AddNumberToObject(row, "peer_ns", f->peer);
      cJSON_AddNumberToObject(row, "ratio", f->ratio);
    } else if (out->peer) {
      cJSON_AddStringToObject(row, "peer_cannot", f->why);
    }
    cJSON_AddItemToArray(out->rows, row);
    return;
  }
  kw_cli_table_add(out->table, "%s", r->work->op);
  kw_cli_table_add(out->table, "%s", shape);
  kw_cli_table_add(out->table, "%.1f us", f->own / 1e3);
  kw_cli_table_add(out->table, flops > 0 ? "%.1f GFLOP/s" : "%.2f GB/s", rate);
  if (of_copy > 0) {
    kw_cli_table_add(out->table, "%.0f %%", 100 * of_copy);
  } else {
    kw_cli_table_add(out->table, "-");
  }
  if (!out->peer) return;
  if (f->peer > 0) {
    kw_cli_table_add(out->table, "%.1f us", f->peer / 1e3);
    kw_cli_table_add(out->table, "%.3f", f->ratio);
    kw_cli_table_add(out->table, "%+.2f us", (f->own - f->peer) / 1e3);
  } else {
    for (int i = 0; i < 3; ++i) kw_cli_table_add(out->table, "-");
  }
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static bool is_wanted(const kw_cli_args *args, const char *op) {
  uint32_t cursor = 0, given = 0;
  for (const char *name; (name = kw_cli_args_next(args, "--op", &cursor)) != NULL; ++given)
    if (strcmp(name, op) == 0) return true;
  return given == 0;
}

/* False, and said on stderr, for an --op that is not measured. */
static bool ops_are_known(const kw_cli_args *args) {
  uint32_t cursor = 0;
  for (const char *name; (name = kw_cli_args_next(args, "--op", &cursor)) != NULL;) {
    bool known = false;
    for (int i = 0; i < WORKLOAD_COUNT; ++i) known = known || strcmp(workloads[i].op, name) == 0;
    if (known) continue;
    kw_cli_complain(&kw_cli_bench, "'%s' is not among the ops that are measured; 'keyway help bench' lists them", name);
    return false;
  }
  return true;
}

/* --rounds; 0, and said on stderr, when it makes no sense. */
static uint32_t rounds_of(const kw_cli_args *args) {
  const char *text = kw_cli_args_value(args, "--rounds");
  if (!text) return 15;
  char *end;
  errno = 0;
  long rounds = strtol(text, &end, 10);
  if (errno == 0 && *end == '\0' && rounds >= 1 && rounds <= ROUND_LIMIT) return (uint32_t)rounds;
  kw_cli_complain(&kw_cli_bench, "--rounds wants a number from 1 to %d, not '%s'", ROUND_LIMIT, text);
  return 0;
}

/* --size, none where it is not given. False, and said on stderr, when one makes no sense. */
static bool sizes_of(const kw_cli_args *args, size_list *out_sizes) {
  uint32_t cursor = 0;
  size_list given = {0};
  for (const char *text; (text = kw_cli_args_next(args, "--size", &cursor)) != NULL;) {
    char *end;
    errno = 0;
    const long long size = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || size < 1 || size > INT64_C(1) << 32 || given.count == SIZE_LIMIT) {
      kw_cli_complain(&kw_cli_bench, "--size wants a number of elements from 1 to 2^32, %d times at most, not '%s'",
                      SIZE_LIMIT, text);
      return false;
    }
    given.items[given.count++] = size;
  }
  *out_sizes = given;
  return true;
}

static bool bench_one(kw_device *device, const rival *side, const workload *work, const size_list *sizes,
                      uint32_t size_index, uint32_t rounds, printer *out) {
  const int64_t size = sizes->items[size_index];
  run r;
  figures f;
  if (isatty(STDERR_FILENO)) fprintf(stderr, "%s, %lld ...\n", work->op, (long long)size);
  bool made = run_make(device, work, size, &r) == KW_OK, fine = made && measure(device, side, &r, rounds, &f);
  if (fine) {
    print_row(out, &r, size_index, &f);
  } else {
    kw_cli_complain(&kw_cli_bench, "%s at size %lld: %s", work->op, (long long)size, kw_error_message());
  }
  if (made) run_release(&r);
  return fine;
}

static bool bench_all(const kw_cli_args *args, kw_device *device, const rival *side, const size_list *given,
                      uint32_t rounds, printer *out) {
  static const size_list *const usual[] = {
      [FLAT] = &flat_sizes, [ROWS] = &flat_sizes, [SQUARE] = &square_sizes, [HEADS] = &head_sizes};
  bool fine = true;
  for (int w = 0; w < WORKLOAD_COUNT; ++w) {
    if (!is_wanted(args, workloads[w].op)) continue;
    const size_list *sizes = given->count > 0 ? given : usual[workloads[w].shape];
    for (uint32_t s = 0; s < sizes->count; ++s)
      fine = bench_one(device, side, &workloads[w], sizes, s, rounds, out) && fine;
  }
  return fine;
}

/* Prints what was measured, and frees it. */
static bool print_all(printer *out, kw_device *device, const rival *side, const char *against, uint32_t rounds) {
  if (out->table) {
    printf("%s, f32 in math mode %s, medians of %u rounds%s%s\n", kw_device_name(device),
           kw_math_mode_name(kw_math_mode_get()), rounds, side->api ? "; peer: " : "",
           side->api ? side->api->title : "");
    kw_cli_table_print(out->table);
    return true;
  }
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "device", kw_device_name(device));
  if (side->api) cJSON_AddStringToObject(json, "against", against);
  cJSON_AddStringToObject(json, "math_mode", kw_math_mode_name(kw_math_mode_get()));
  cJSON_AddNumberToObject(json, "rounds", rounds);
  cJSON_AddItemToObject(json, "rows", out->rows);
  return kw_cli_json_print(json);
}

static int run_bench(const kw_cli_args *args) {
  const char *const alone[] = {"OP", "SHAPE", ">TIME", ">RATE", ">OF COPY", NULL};
  const char *const paired[] = {"OP", "SHAPE", ">TIME", ">RATE", ">OF COPY", ">PEER", ">RATIO", ">MORE", NULL};
  const char *name = kw_cli_args_value(args, "--device"), *against = kw_cli_args_value(args, "--against");
  const uint32_t rounds = rounds_of(args);
  const bool as_json = kw_cli_args_has(args, "--json");
  size_list sizes;
  kw_device *device = NULL;
  rival side = {0};
  if (rounds == 0 || !ops_are_known(args) || !sizes_of(args, &sizes) || !kw_cli_load_plugins(args)) return KW_CLI_USAGE;
  if (kw_device_open(name ? name : "cpu:0", &device) != KW_OK) {
    kw_cli_complain(&kw_cli_bench, "%s", kw_error_message());
    return KW_CLI_USAGE;
  }
  int code = KW_CLI_USAGE;
  if (!against || rival_open(device, against, &side)) {
    printer out = {.rows = as_json ? cJSON_CreateArray() : NULL,
                   .table = as_json ? NULL : kw_cli_table_create(side.api ? paired : alone),
                   .peer = side.api != NULL};
    bool measured = bench_all(args, device, &side, &sizes, rounds, &out);
    code = print_all(&out, device, &side, against, rounds) && measured ? KW_CLI_OK : KW_CLI_FAILED;
  }
  rival_close(&side);
  kw_device_close(device);
  return code;
}

static const kw_cli_option options[] = {
    {"--device", "NAME", "the device to measure; cpu:0 unless said"},
    {"--against", "PEER",
     "run the same work another way in the same rounds: 'raw', the runtime's own calls, or 'clblast'"},
    {"--op", "NAME", "measure this op only; may be repeated"},
    {"--size", "N", "elements, or rows of mm and attention, instead of the usual sizes; may be repeated"},
    {"--rounds", "N", "rounds to take the median of; 15 unless said"},
    KW_CLI_OPTION_JSON,
    KW_CLI_OPTION_PLUGIN,
};
const kw_cli_command kw_cli_bench = {
    .name = "bench",
    .synopsis =
        "[--device NAME] [--against PEER] [--op NAME]... [--size N]... [--rounds N] [--json] [--plugin FILE]...",
    .summary = "Measure how fast a device runs ops, alone or against a peer",
    .details =
        "Measures copy_, add.Tensor, mul.Tensor, relu, exp, gelu, sum, amax, _softmax, native_layer_norm, mm and\n"
        "scaled_dot_product_attention (8 heads, 64 wide) in f32 at several sizes. A round runs both sides one after\n"
        "the other; times and ratios are medians over the rounds. OF COPY is the rate beside that of copy_ at the\n"
        "same size; MORE is what a call takes beyond the peer's.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .main = run_bench,
};
