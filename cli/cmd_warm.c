/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway warm`: calls ops once, so that their kernels are compiled before an application wants them, and tells what
 * that took. The calls are those that `keyway bench` measures, at their smallest size.
 */
#include "base/need.h"
#include "bench_peer.h"
#include "bench_work.h"
#include "commands.h"
#include "model_trace.h"
#include "table.h"

#include <bench/median.h>
#include <keyway/keyway.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct first_call {
  const kw_bench_work *work;
  kw_dtype dtype;
  char shape[96];
  double wall, processor; /* nanoseconds */
  uint64_t built, cached; /* modules */
  char why[256];          /* why it was not called, "": it was */
} first_call;

typedef struct warming {
  kw_device *device;
  char name[128];
  bool alone; /* each call on a device that was opened anew */
  const kw_cli_args *args;
  kw_model_ops model; /* of --model; none: all */
  kw_dtype dtypes[KW_BENCH_DTYPES];
  uint32_t dtype_count, count;
  first_call *calls;
  bool failed;
} warming;

/* ---- Calling ----------------------------------------------------------------------------------------------------- */

static bool open_device(warming *w) {
  if (kw_device_open(w->name, &w->device) == KW_OK) return true;
  kw_cli_complain(&kw_cli_warm, "%s", kw_error_message());
  return false;
}

static kw_counters counters_of(const kw_device *device) {
  kw_counters counters = {.struct_size = sizeof counters};
  kw_device_get_counters(device, &counters);
  return counters;
}

static kw_status run(kw_device *device, kw_bench_call *call, first_call *out) {
  kw_status status = kw_device_synchronize(device); /* what made the inputs is none of the call's */
  if (status != KW_OK) return status;
  const kw_counters before = counters_of(device);
  const double wall = kw_bench_now(KW_BENCH_WALL), processor = kw_bench_now(KW_BENCH_PROCESSOR);
  status = kw_bench_call_run(call);
  if (status == KW_OK) status = kw_device_synchronize(device);
  out->wall = 1e9 * (kw_bench_now(KW_BENCH_WALL) - wall);
  out->processor = 1e9 * (kw_bench_now(KW_BENCH_PROCESSOR) - processor);
  const kw_counters after = counters_of(device);
  out->built = after.modules_built - before.modules_built;
  out->cached = after.modules_cached - before.modules_cached;
  return status;
}

/* Nothing for a workload that is none of the dtype, or for an op that the device lacks. */
static void call_once(warming *w, const kw_bench_work *work, kw_dtype dtype) {
  kw_bench_call call;
  kw_status status = kw_bench_call_make(w->device, work, kw_bench_usual_sizes(work->scale)->items[0], dtype, &call);
  if (status == KW_ERR_UNSUPPORTED) return;
  first_call *calls = realloc(w->calls, (w->count + 1) * sizeof *calls);
  if (!calls) kw_out_of_memory();
  w->calls = calls;
  first_call *out = &calls[w->count];
  *out = (first_call){.work = work, .dtype = dtype};
  if (status == KW_OK) {
    kw_bench_call_describe(&call, out->shape, sizeof out->shape);
    status = kw_op_can_run(call.op, w->device, call.args, call.arg_count, NULL);
    if (status == KW_OK) status = run(w->device, &call, out);
  }
  if (status != KW_OK) snprintf(out->why, sizeof out->why, "%s", kw_error_message());
  kw_bench_call_release(&call);
  if (status == KW_ERR_NOT_IMPLEMENTED) return;
  w->failed |= status != KW_OK;
  ++w->count;
}

/* What a driver does once for a device (PoCL reads its library of functions) is no op's: *out is set to the first of
 * those. */
static bool start_driver(warming *w, first_call *out) {
  kw_bench_call call;
  const kw_bench_work work = {"neg", "", KW_BENCH_ELEMENTS, "i64[n]<2"};
  first_call start = {0};
  kw_status status = kw_bench_call_make(w->device, &work, 1, KW_F32, &call);
  if (status == KW_OK) status = run(w->device, &call, &start);
  kw_bench_call_release(&call);
  if (out->wall == 0) *out = start;
  if (status == KW_OK || status == KW_ERR_NOT_IMPLEMENTED) return true;
  kw_cli_complain(&kw_cli_warm, "%s", kw_error_message());
  return false;
}

/* ---- Which ------------------------------------------------------------------------------------------------------- */

static bool is_wanted(const warming *w, const kw_bench_work *work, kw_dtype dtype) {
  if (!work->args || !kw_cli_args_want(w->args, "--op", work->name)) return false;
  if (w->model.count == 0) return true;
  const uint64_t dtypes = kw_model_op_dtypes(&w->model, work->name);
  bool has_floats = false;
  for (uint32_t i = 0; i < KW_BENCH_DTYPES; ++i) has_floats |= dtypes >> kw_bench_dtypes[i] & 1;
  return has_floats ? dtypes >> dtype & 1 : dtypes != 0 && dtype == KW_F32;
}

static bool are_known(const kw_cli_args *args) {
  uint32_t cursor = 0;
  for (const char *name; (name = kw_cli_args_next(args, "--op", &cursor)) != NULL;) {
    bool known = false;
    for (uint32_t i = 0; i < kw_bench_work_count && !known; ++i)
      known = kw_bench_works[i].args && strcmp(kw_bench_works[i].name, name) == 0;
    if (known) continue;
    kw_cli_complain(&kw_cli_warm, "there is no call of '%s' to make; 'keyway bench' lists the ops that there is one of",
                    name);
    return false;
  }
  return true;
}

/* Those given; of a model its own; f32 else. */
static bool take_dtypes(const kw_cli_args *args, warming *w) {
  if (!kw_bench_take_dtypes(args, w->dtypes, &w->dtype_count)) return false;
  if (w->dtype_count > 0) return true;
  w->dtype_count = w->model.count > 0 ? KW_BENCH_DTYPES : 1;
  memcpy(w->dtypes, kw_bench_dtypes, w->dtype_count * sizeof w->dtypes[0]);
  return true;
}

static bool take_model(const kw_cli_args *args, warming *w) {
  const char *path = kw_cli_args_value(args, "--model");
  char message[512];
  if (!path || kw_model_ops_read(path, &w->model, message, sizeof message)) return true;
  kw_cli_complain(&kw_cli_warm, "%s", message);
  return false;
}

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

typedef struct summary {
  uint64_t calls, built, cached;
  double wall, median, worst; /* nanoseconds; the last two of calls that compiled something, processor time */
  const first_call *worst_call;
} summary;

static summary summarise(const warming *w) {
  summary sum = {0};
  double *times = calloc(w->count + 1, sizeof *times);
  uint32_t compiled = 0;
  if (!times) kw_out_of_memory();
  for (uint32_t i = 0; i < w->count; ++i) {
    const first_call *call = &w->calls[i];
    sum.calls += call->why[0] == '\0';
    sum.built += call->built;
    sum.cached += call->cached;
    sum.wall += call->wall;
    if (call->built == 0) continue;
    times[compiled++] = call->processor;
    if (!sum.worst_call || call->processor > sum.worst) {
      sum.worst = call->processor;
      sum.worst_call = call;
    }
  }
  if (compiled > 0) sum.median = kw_median(times, compiled);
  free(times);
  return sum;
}

static void print_table(const warming *w, const first_call *driver) {
  kw_cli_table *table = kw_cli_table_create(
      (const char *const[]){"OP", "SHAPE", "DTYPE", ">TIME", ">PROCESSOR", ">BUILT", ">CACHED", NULL});
  for (uint32_t i = 0; i < w->count; ++i) {
    const first_call *call = &w->calls[i];
    kw_cli_table_add(table, "%s", call->work->name);
    kw_cli_table_add(table, "%s", call->shape);
    kw_cli_table_add(table, "%s", kw_dtype_name(call->dtype));
    kw_cli_table_add(table, "%.3f s", call->wall / 1e9);
    kw_cli_table_add(table, "%.3f s", call->processor / 1e9);
    kw_cli_table_add(table, "%llu", (unsigned long long)call->built);
    kw_cli_table_add(table, "%llu", (unsigned long long)call->cached);
    if (call->why[0]) kw_cli_table_note(table, "%s", call->why);
  }
  kw_cli_table_print(table);
  const summary sum = summarise(w);
  if (w->alone)
    printf("the driver's start: %.3f s, %.3f s of a processor\n", driver->wall / 1e9, driver->processor / 1e9);
  printf("%s: %llu calls in %.1f s, %llu programs compiled, %llu from disk", w->name, (unsigned long long)sum.calls,
         sum.wall / 1e9, (unsigned long long)sum.built, (unsigned long long)sum.cached);
  if (sum.worst_call)
    printf("; a call that compiled took %.3f s of a processor, the longest, %s, %.3f s", sum.median / 1e9,
           sum.worst_call->work->name, sum.worst / 1e9);
  printf("\n");
}

static cJSON *as_json(const warming *w, const first_call *driver) {
  const summary sum = summarise(w);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "device", w->name);
  if (w->alone) {
    cJSON *start = cJSON_AddObjectToObject(json, "driver_start");
    cJSON_AddNumberToObject(start, "ns", driver->wall);
    cJSON_AddNumberToObject(start, "processor_ns", driver->processor);
  }
  cJSON_AddNumberToObject(json, "built", (double)sum.built);
  cJSON_AddNumberToObject(json, "cached", (double)sum.cached);
  cJSON_AddNumberToObject(json, "ns", sum.wall);
  cJSON *rows = cJSON_AddArrayToObject(json, "rows");
  for (uint32_t i = 0; i < w->count; ++i) {
    const first_call *call = &w->calls[i];
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "op", call->work->name);
    cJSON_AddStringToObject(row, "family", call->work->family);
    cJSON_AddStringToObject(row, "what", call->shape);
    cJSON_AddStringToObject(row, "dtype", kw_dtype_name(call->dtype));
    if (call->why[0]) cJSON_AddStringToObject(row, "failed", call->why);
    cJSON_AddNumberToObject(row, "ns", call->wall);
    cJSON_AddNumberToObject(row, "processor_ns", call->processor);
    cJSON_AddNumberToObject(row, "built", (double)call->built);
    cJSON_AddNumberToObject(row, "cached", (double)call->cached);
    cJSON_AddItemToArray(rows, row);
  }
  return json;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* False, and said on stderr, when a device does not open or start. */
static bool warm_all(warming *w, first_call *driver) {
  for (uint32_t i = 0; i < kw_bench_work_count; ++i)
    for (uint32_t d = 0; d < w->dtype_count; ++d) {
      if (!is_wanted(w, &kw_bench_works[i], w->dtypes[d])) continue;
      if (!w->device && !open_device(w)) return false;
      if (w->alone && !start_driver(w, driver)) return false;
      if (isatty(STDERR_FILENO)) fprintf(stderr, "%s ...\n", kw_bench_works[i].name);
      call_once(w, &kw_bench_works[i], w->dtypes[d]);
      if (!w->alone) continue;
      kw_device_close(w->device);
      w->device = NULL;
    }
  return true;
}

static int run_warm(const kw_cli_args *args) {
  const char *name = kw_cli_args_value(args, "--device");
  warming w = {.args = args, .alone = kw_cli_args_has(args, "--alone")};
  first_call driver = {0};
  int code = KW_CLI_USAGE;
  if (w.alone) setenv("KEYWAY_MODULE_CACHE", "off", 1); /* the plugins', once they start */
  snprintf(w.name, sizeof w.name, "%s", name ? name : "auto");
  if (are_known(args) && take_model(args, &w) && take_dtypes(args, &w) && kw_cli_load_plugins(args) &&
      open_device(&w)) {
    snprintf(w.name, sizeof w.name, "%s", kw_device_name(w.device));
    if (warm_all(&w, &driver)) {
      bool fine = !w.failed;
      if (kw_cli_args_has(args, "--json")) {
        fine = kw_cli_json_print(as_json(&w, &driver)) && fine;
      } else {
        print_table(&w, &driver);
      }
      code = fine ? KW_CLI_OK : KW_CLI_FAILED;
    }
  }
  if (w.device) kw_device_close(w.device);
  kw_model_ops_free(&w.model);
  free(w.calls);
  return code;
}

static const kw_cli_option options[] = {
    {"--device", "NAME", "the device to compile for; auto unless said"},
    {"--model", "FILE", "only what a run called: its trace (KEYWAY_TRACE=FILE), ops and dtypes"},
    {"--op", "NAME", "call this op only; may be repeated"},
    {"--dtype", "DTYPE", "f32 unless said, or the model's; may be repeated"},
    {"--alone", NULL,
     "open the device anew for each call, with nothing compiled on Keyway's side, so that a row says what the\n"
     "first call of an op costs by itself; nothing is kept then"},
    KW_CLI_OPTION_JSON,
    KW_CLI_OPTION_PLUGIN,
};

const kw_cli_command kw_cli_warm = {
    .name = "warm",
    .synopsis =
        "[--device NAME] [--model FILE] [--op NAME]... [--dtype DTYPE]... [--alone] [--json] [--plugin FILE]...",
    .summary = "Compile a device's kernels ahead",
    .details =
        "Makes one small call of each op, as `keyway bench` does, so that kernels that are compiled when they are\n"
        "first called lie on disk, in KEYWAY_MODULE_CACHE or the driver's own cache, before an application calls\n"
        "them. Compiled once, a program stays: what is interrupted goes on where it was.\n"
        "BUILT counts programs that the driver compiled, CACHED those that came from disk.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .main = run_warm,
};
