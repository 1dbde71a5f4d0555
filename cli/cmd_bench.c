/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway bench`: how fast a device runs ops, and how fast others do the same work.
 *
 * A round runs each side once, one after the other, often enough to last; what is printed are medians over the rounds,
 * and of the ratio the median of each round's own, so that what slows both sides for a while does not count.
 */
#include "base/need.h"
#include "bench_limits.h"
#include "bench_peer.h"
#include "bench_program.h"
#include "bench_row.h"
#include "commands.h"
#include "interrupt.h"
#include "number.h"
#include "table.h"

#include <bench/median.h>
#include <keyway/keyway.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUND_LIMIT 101
#define FEWEST_ROUNDS 3
#define BATCH_NS 4e6 /* what one side of a round lasts at least */
#define ROW_NS 4e9   /* what a side of all rounds lasts at most, unless that is too few of them */

typedef struct bench {
  kw_device *device;
  kw_bench_clock clock;
  kw_bench_peer *peers[KW_BENCH_PEERS]; /* NULL: not there */
  kw_bench_peer *bridge;                /* what runs models on the device */
  char no_bridge[KW_BENCH_WHY];
  kw_bench_sizes sizes; /* of --size; none: the usual ones */
  kw_dtype dtypes[KW_BENCH_DTYPES];
  uint32_t dtype_count;
  kw_bench_report report;
  bool failed; /* a call that the device has failed */
} bench;

/* ---- Keyway's side ----------------------------------------------------------------------------------------------- */

/* A call, a program, or a model on the bridge. */
typedef struct own {
  kw_device *device;
  kw_bench_call *call;
  kw_bench_program *program;
  kw_bench_peer *bridge;
} own;

/* Nanoseconds of a call, waiting for the last of `calls`; negative when one fails. */
static double time_own(const own *side, uint32_t calls, kw_bench_clock clock) {
  if (side->bridge) return kw_bench_peer_time(side->bridge, calls, clock);
  const double begin = kw_bench_now(clock);
  for (uint32_t i = 0; i < calls; ++i)
    if ((side->program ? kw_bench_program_run(side->program) : kw_bench_call_run(side->call)) != KW_OK) return -1;
  if (kw_device_synchronize(side->device) != KW_OK) return -1;
  return 1e9 * (kw_bench_now(clock) - begin) / calls;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* How often a side runs in a round of which one run takes `once`. */
static uint32_t runs_for(double once) {
  return once > 0 && once < BATCH_NS ? (uint32_t)(BATCH_NS / once) + 1 : 1;
}

static uint32_t rounds_for(uint32_t wanted, double once) {
  const double room = ROW_NS / once;
  if (room >= wanted) return wanted;
  const uint32_t fewest = wanted < FEWEST_ROUNDS ? wanted : FEWEST_ROUNDS;
  return room > fewest ? (uint32_t)room : fewest;
}

/* Prepares the peers that can do it, and says of the others why not. Bit p: peer p takes part. */
static uint32_t prepare_peers(bench *b, const kw_bench_call *call, kw_bench_row *row) {
  uint32_t part = 0;
  for (uint32_t p = 0; p < b->report.peer_count; ++p) {
    kw_bench_figure *figure = &row->peers[p];
    if (!b->peers[p]) {
      snprintf(figure->why, sizeof figure->why, "not there");
    } else if (kw_bench_peer_prepare(b->peers[p], call, figure->why, sizeof figure->why)) {
      figure->why[0] = '\0';
      part |= 1U << p;
    }
  }
  return part;
}

/* False when Keyway's side fails. */
static bool measure(bench *b, const own *side, const kw_bench_call *call, kw_bench_row *row) {
  double mine[ROUND_LIMIT], theirs[KW_BENCH_PEERS][ROUND_LIMIT], ratios[ROUND_LIMIT];
  uint32_t their_runs[KW_BENCH_PEERS] = {0};
  if (time_own(side, 1, b->clock) < 0) return false; /* compiles, and makes results */
  uint32_t part = prepare_peers(b, call, row);
  const double once = time_own(side, 1, b->clock);
  const uint32_t rounds = rounds_for(b->report.rounds, once), runs = runs_for(once);
  for (uint32_t p = 0; p < b->report.peer_count; ++p) {
    if (!(part >> p & 1)) continue;
    kw_bench_peer_time(b->peers[p], 1, b->clock);
    their_runs[p] = runs_for(kw_bench_peer_time(b->peers[p], 1, b->clock));
  }
  for (uint32_t i = 0; i < rounds; ++i) {
    mine[i] = time_own(side, runs, b->clock);
    if (mine[i] < 0) return false;
    for (uint32_t p = 0; p < b->report.peer_count; ++p)
      if (part >> p & 1) theirs[p][i] = kw_bench_peer_time(b->peers[p], their_runs[p], b->clock);
  }
  for (uint32_t p = 0; p < b->report.peer_count; ++p) {
    bool fine = part >> p & 1;
    for (uint32_t i = 0; i < rounds && fine; ++i) {
      fine = theirs[p][i] > 0;
      if (fine) ratios[i] = mine[i] / theirs[p][i];
    }
    if (fine) {
      row->peers[p].ns = kw_median(theirs[p], rounds);
      row->peers[p].ratio = kw_median(ratios, rounds);
    } else if (!row->peers[p].why[0]) {
      snprintf(row->peers[p].why, sizeof row->peers[p].why, "it failed while it ran");
    }
  }
  row->ns = kw_median(mine, rounds);
  return true;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static kw_bench_row *add_row(bench *b, const kw_bench_work *work, int64_t size, kw_dtype dtype) {
  kw_bench_report *report = &b->report;
  kw_bench_row *rows = realloc(report->rows, (report->row_count + 1) * sizeof *rows);
  if (!rows) kw_out_of_memory();
  report->rows = rows;
  kw_bench_row *row = &rows[report->row_count++];
  *row = (kw_bench_row){.op = work->name, .family = work->family, .size = size, .dtype = dtype};
  return row;
}

static void complete_row(bench *b, const kw_bench_call *call, kw_bench_row *row) {
  row->flops = kw_bench_call_flops(call);
  row->bytes = kw_bench_call_bytes(call);
  if (row->flops > 0 || row->bytes <= 0) return;
  for (uint32_t i = 0; i < b->report.row_count; ++i) {
    const kw_bench_row *copy = &b->report.rows[i];
    if (strcmp(copy->op, "copy_") != 0 || copy->size != row->size || copy->dtype != row->dtype || copy->ns <= 0)
      continue;
    row->of_copy = row->bytes / row->ns / (copy->bytes / copy->ns);
    return;
  }
}

/* The last failure, on one line. */
static void note_failure(kw_bench_row *row) {
  snprintf(row->why, sizeof row->why, "%s", kw_error_message());
  for (char *at = row->why; (at = strchr(at, '\n')) != NULL;) *at = ';';
}

/* What a call costs that other ops serve. */
static void count_launches(const bench *b, const own *side, kw_bench_row *row) {
  kw_counters before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  if (kw_device_get_counters(b->device, &before) != KW_OK || time_own(side, 1, b->clock) < 0) return;
  if (kw_device_get_counters(b->device, &after) != KW_OK || after.decomposed == before.decomposed) return;
  row->launches = after.launches - before.launches;
}

static void run_call(bench *b, kw_bench_call *call, kw_bench_row *row) {
  const own side = {.device = b->device, .call = call};
  const kw_tensor_ref *first = kw_bench_call_shape(call);
  kw_bench_call_describe(call, row->shape, sizeof row->shape);
  if (first) {
    row->rank = first->rank;
    memcpy(row->dims, first->shape, first->rank * sizeof first->shape[0]);
  }
  const kw_status can = kw_op_can_run(call->op, b->device, call->args, call->arg_count, NULL);
  if (can == KW_OK && measure(b, &side, call, row)) {
    complete_row(b, call, row);
    count_launches(b, &side, row);
    return;
  }
  note_failure(row);
  b->failed |= can != KW_ERR_NOT_IMPLEMENTED;
}

/* A program, or a model on the bridge. */
static void run_program(bench *b, kw_bench_call *call, kw_bench_row *row) {
  own side = {.device = b->device, .bridge = b->bridge};
  kw_bench_call_describe(call, row->shape, sizeof row->shape);
  if (kw_bench_program_is_known(call->work->name)) {
    side.bridge = NULL;
    if (kw_bench_program_make(b->device, call->work->name, call->size, &side.program) != KW_OK) note_failure(row);
  } else if (!b->bridge) {
    snprintf(row->why, sizeof row->why, "%.*s", (int)sizeof row->why - 1, b->no_bridge);
    return;
  } else {
    kw_bench_peer_prepare(b->bridge, call, row->why, sizeof row->why);
  }
  if (!row->why[0] && !measure(b, &side, call, row)) note_failure(row);
  b->failed |= row->why[0] != '\0';
  if (side.program) kw_bench_program_release(side.program);
}

static void bench_one(bench *b, const kw_bench_work *work, int64_t size, kw_dtype dtype) {
  kw_bench_call call;
  const kw_status status = kw_bench_call_make(b->device, work, size, dtype, &call);
  if (status == KW_ERR_UNSUPPORTED) return;
  kw_bench_row *row = add_row(b, work, size, dtype);
  if (isatty(STDERR_FILENO)) fprintf(stderr, "%s, %lld ...\n", work->name, (long long)size);
  if (status != KW_OK) {
    note_failure(row);
    b->failed |= status != KW_ERR_NOT_IMPLEMENTED;
  } else if (call.op) {
    run_call(b, &call, row);
  } else {
    run_program(b, &call, row);
  }
  kw_bench_call_release(&call);
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* Programs and models take long: only where they are asked for. */
static bool is_asked_for(const kw_cli_args *args, const kw_bench_work *work) {
  return work->args || kw_cli_args_has(args, "--op") || kw_cli_args_has(args, "--family");
}

static const char *measured(uint32_t index, bool of_family) {
  return of_family ? kw_bench_works[index].family : kw_bench_works[index].name;
}

/* Families are few, each in one piece of the table. */
static void complain_about_family(const char *name) {
  char all[512] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < kw_bench_work_count && used < sizeof all; ++i) {
    if (i > 0 && strcmp(measured(i - 1, true), measured(i, true)) == 0) continue;
    used += (size_t)snprintf(all + used, sizeof all - used, used ? ", %s" : "%s", measured(i, true));
  }
  kw_cli_complain(&kw_cli_bench, "'%s' is not among the families that are measured: %s", name, all);
}

static void complain_about_op(const char *name) {
  const char *near = kw_cli_nearest(name, &kw_bench_works[0].name, kw_bench_work_count, sizeof kw_bench_works[0]);
  kw_cli_complain(&kw_cli_bench, "'%s' is not among the ops that are measured%s%s%s; --family measures all of a kind",
                  name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool are_known(const kw_cli_args *args, const char *option, bool of_family) {
  uint32_t cursor = 0;
  for (const char *name; (name = kw_cli_args_next(args, option, &cursor)) != NULL;) {
    bool known = false;
    for (uint32_t i = 0; i < kw_bench_work_count && !known; ++i) known = strcmp(measured(i, of_family), name) == 0;
    if (known) continue;
    (of_family ? complain_about_family : complain_about_op)(name);
    return false;
  }
  return true;
}

/* The number of an option, from 1 on, or what it is unless said; 0, and said on stderr, when it makes no sense. */
static uint32_t number_of(const kw_cli_args *args, const char *option, uint32_t usual, uint32_t most) {
  const char *text = kw_cli_args_value(args, option);
  uint64_t number;
  if (!text) return usual;
  if (kw_cli_parse_u64(text, 1, most, &number)) return (uint32_t)number;
  kw_cli_complain(&kw_cli_bench, "%s wants a number from 1 to %u, not '%s'", option, most, text);
  return 0;
}

static bool take_sizes(const kw_cli_args *args, kw_bench_sizes *out_sizes) {
  uint32_t cursor = 0;
  for (const char *text; (text = kw_cli_args_next(args, "--size", &cursor)) != NULL;) {
    uint64_t size;
    if (!kw_cli_parse_u64(text, 1, UINT64_C(1) << 32, &size) || out_sizes->count == KW_BENCH_SIZES) {
      kw_cli_complain(&kw_cli_bench, "--size wants a number of elements from 1 to 2^32, %d times at most, not '%s'",
                      KW_BENCH_SIZES, text);
      return false;
    }
    out_sizes->items[out_sizes->count++] = (int64_t)size;
  }
  return true;
}

static bool take_peers(const kw_cli_args *args, kw_bench_report *report) {
  uint32_t cursor = 0;
  for (const char *name; (name = kw_cli_args_next(args, "--against", &cursor)) != NULL;) {
    if (!kw_bench_peer_is_known(name) || report->peer_count == KW_BENCH_PEERS) {
      kw_cli_complain(&kw_cli_bench, "there is no peer '%s'; peers are %s", name, kw_bench_peer_names());
      return false;
    }
    report->peers[report->peer_count++].name = name;
  }
  return true;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static void open_peers(const kw_cli_args *args, bench *b) {
  for (uint32_t p = 0; p < b->report.peer_count; ++p) {
    kw_bench_side *side = &b->report.peers[p];
    b->peers[p] = kw_bench_peer_open(b->device, side->name, side->why, sizeof side->why);
    if (b->peers[p]) side->title = kw_bench_peer_title(b->peers[p]);
  }
  bool models = false;
  for (uint32_t i = 0; i < kw_bench_work_count; ++i) {
    const kw_bench_work *work = &kw_bench_works[i];
    models |= !work->args && !kw_bench_program_is_known(work->name) && is_asked_for(args, work) &&
              kw_cli_args_want(args, "--op", work->name) && kw_cli_args_want(args, "--family", work->family);
  }
  if (models) b->bridge = kw_bench_peer_open(b->device, "bridge", b->no_bridge, sizeof b->no_bridge);
}

static void close_all(bench *b) {
  for (uint32_t p = 0; p < KW_BENCH_PEERS; ++p) kw_bench_peer_close(b->peers[p]);
  kw_bench_peer_close(b->bridge);
  if (b->device) kw_device_close(b->device);
  free(b->report.rows);
}

static bool take_options(const kw_cli_args *args, bench *b) {
  const char *name = kw_cli_args_value(args, "--device");
  char threads[16];
  b->report.rounds = number_of(args, "--rounds", 15, ROUND_LIMIT);
  b->report.threads = number_of(args, "--threads", 1, 1024);
  if (b->report.rounds == 0 || b->report.threads == 0 || !are_known(args, "--op", false) ||
      !are_known(args, "--family", true) || !take_sizes(args, &b->sizes) ||
      !kw_bench_take_dtypes(args, b->dtypes, &b->dtype_count) || !take_peers(args, &b->report))
    return false;
  if (b->dtype_count == 0) b->dtypes[b->dtype_count++] = KW_F32;
  snprintf(threads, sizeof threads, "%u", b->report.threads);
  setenv("KEYWAY_THREADS", threads, 1); /* the library's, once it starts, and the peers' */
  if (!kw_cli_load_plugins(args)) return false;
  if (kw_device_open(name ? name : "cpu:0", &b->device) == KW_OK) return true;
  kw_cli_complain(&kw_cli_bench, "%s", kw_error_message());
  return false;
}

static void bench_all(const kw_cli_args *args, bench *b) {
  for (uint32_t w = 0; w < kw_bench_work_count; ++w) {
    const kw_bench_work *work = &kw_bench_works[w];
    if (!is_asked_for(args, work) || !kw_cli_args_want(args, "--op", work->name) ||
        !kw_cli_args_want(args, "--family", work->family))
      continue;
    const bool given = b->sizes.count > 0 && work->scale != KW_BENCH_ONCE;
    const kw_bench_sizes *sizes = given ? &b->sizes : kw_bench_usual_sizes(work->scale);
    for (uint32_t s = 0; s < sizes->count; ++s)
      for (uint32_t d = 0; d < b->dtype_count; ++d) bench_one(b, work, sizes->items[s], b->dtypes[d]);
  }
}

/* False, and said on stderr, when it cannot be written. */
static bool write_file(const kw_bench_report *report, bool (*put)(const kw_bench_report *, FILE *), const char *path) {
  if (!path) return true;
  kw_cli_interrupt_file(path);
  FILE *file = fopen(path, "w");
  bool good = file && put(report, file);
  if (file) good = fclose(file) == 0 && good;
  kw_cli_interrupt_file(NULL);
  if (good) return true;
  kw_cli_complain(&kw_cli_bench, "%s cannot be written: %s", path, strerror(errno));
  return false;
}

static int run_bench(const kw_cli_args *args) {
  bench b = {.clock = KW_BENCH_WALL};
  int code = KW_CLI_USAGE;
  if (take_options(args, &b)) {
    kw_bench_report *report = &b.report;
    signal(SIGPIPE, SIG_IGN); /* a peer that ends is a row */
    report->device = kw_device_name(b.device);
    report->clock = "wall time";
    if (strncmp(report->device, "cpu:", 4) == 0 && report->threads == 1) {
      const kw_bench_limits limits = kw_bench_measure_limits();
      b.clock = KW_BENCH_PROCESSOR;
      report->clock = "processor time";
      report->bandwidth = limits.bandwidth;
      report->peak = limits.peak;
    }
    open_peers(args, &b);
    bench_all(args, &b);
    bool fine = !b.failed;
    if (kw_cli_args_has(args, "--json")) {
      fine = kw_cli_json_print(kw_bench_as_json(report)) && fine;
    } else {
      kw_bench_print_table(report);
    }
    fine = write_file(report, kw_bench_draw, kw_cli_args_value(args, "--svg")) && fine;
    fine = write_file(report, kw_bench_put_html, kw_cli_args_value(args, "--html")) && fine;
    code = fine ? KW_CLI_OK : KW_CLI_FAILED;
  }
  close_all(&b);
  return code;
}

static const kw_cli_option options[] = {
    {"--device", "NAME", "the device to measure; cpu:0 unless said"},
    {"--against", "PEER",
     "run the same work another way in the same rounds; may be repeated: 'raw', plain loops or the runtime's own\n"
     "calls, 'onednn', 'openblas', 'clblast', 'numpy', 'torch', and 'bridge', PyTorch on Keyway's device"},
    {"--op", "NAME", "measure this op, program or model only; may be repeated"},
    {"--family", "NAME", "measure this family only; may be repeated"},
    {"--dtype", "DTYPE", "f32 unless said; may be repeated"},
    {"--size", "N", "elements, or rows of mm, tokens, channels, instead of the usual sizes; may be repeated"},
    {"--threads", "N", "threads of Keyway's and of the peers; 1 unless said"},
    {"--rounds", "N", "rounds to take the median of; 15 unless said"},
    {"--svg", "FILE", "draw the ratios, too"},
    {"--html", "FILE", "write all of it as a page to look at, too"},
    KW_CLI_OPTION_JSON,
    KW_CLI_OPTION_PLUGIN,
};
const kw_cli_command kw_cli_bench = {
    .name = "bench",
    .synopsis =
        "[--device NAME] [--against PEER]... [--op NAME]... [--family NAME]... [--dtype DTYPE]... [--size N]...\n"
        "       [--threads N] [--rounds N] [--svg FILE] [--html FILE] [--json] [--plugin FILE]...",
    .summary = "Measure how fast a device runs ops, alone or against peers",
    .details =
        "Measures the ops of a table, in families: moves, pointwise, reductions, 'softmax and norms', products,\n"
        "convolutions, indexing, random, sort, attention and gradients, at three sizes each; and if they are named,\n"
        "programs (kmeans, chain, chain_graph) and models (minilm, gpt2, resnet18, decode, and sentence and image,\n"
        "with '_constant' behind them with constant weights). A round runs all sides one after the other; times and\n"
        "ratios are medians over the rounds, of processor time where one thread of a cpu device computes. 'chain' is\n"
        "eight pointwise calls, 'chain_graph' the same as a graph.\n"
        "OF LIMIT is the rate beside the memory's or the arithmetic units', measured at the start; OF COPY that\n"
        "beside copy_ at the same size. What is not there, a peer or a kernel, is a row that says so.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .main = run_bench,
};
