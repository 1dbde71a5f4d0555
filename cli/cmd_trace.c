/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway trace`: what a trace proves about where device time went.
 */
#include "commands.h"
#include "table.h"
#include "trace_file.h"

#include <stdlib.h>

static double milliseconds(int64_t ns) {
  return (double)ns / 1e6;
}

static cJSON *as_json(const char *name, const kw_trace_verdict *verdict) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "stream", name);
  cJSON_AddNumberToObject(json, "launches", (double)verdict->launches);
  cJSON_AddNumberToObject(json, "recorded", (double)verdict->recorded);
  cJSON_AddNumberToObject(json, "intervals", (double)verdict->intervals);
  cJSON_AddNumberToObject(json, "outside", (double)verdict->outside);
  cJSON_AddNumberToObject(json, "furthest_ns", (double)verdict->furthest);
  cJSON_AddNumberToObject(json, "overlaps", (double)verdict->overlaps);
  cJSON_AddNumberToObject(json, "wall_ns", (double)verdict->wall);
  cJSON_AddNumberToObject(json, "busy_ns", (double)verdict->busy);
  cJSON_AddNumberToObject(json, "building_ns", (double)verdict->building);
  cJSON_AddNumberToObject(json, "waiting_ns", (double)verdict->waiting);
  cJSON_AddNumberToObject(json, "calling_ns", (double)verdict->calling);
  cJSON_AddNumberToObject(json, "idle_ns", (double)verdict->idle);
  cJSON_AddNumberToObject(json, "enqueueing_ns", (double)verdict->enqueueing);
  cJSON_AddNumberToObject(json, "queued_ns", (double)verdict->queued);
  cJSON_AddNumberToObject(json, "unexplained_ns", (double)verdict->unexplained);
  return json;
}

static void add_row(kw_cli_table *table, const char *name, const kw_trace_verdict *verdict) {
  const int64_t times[] = {verdict->wall,    verdict->busy, verdict->building,   verdict->waiting,
                           verdict->calling, verdict->idle, verdict->enqueueing, verdict->queued};
  kw_cli_table_add(table, "%s", name);
  kw_cli_table_add(table, "%llu", (unsigned long long)verdict->launches);
  for (size_t i = 0; i < sizeof times / sizeof times[0]; ++i) kw_cli_table_add(table, "%.3f", milliseconds(times[i]));
}

static double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 100;
}

/* The four things that a trace has to show. */
static void print_figures(const kw_trace_verdict *sum, int64_t slack) {
  static const char *const words[] = {"FAIL", "pass"};
  const double gaps = (double)kw_trace_verdict_gaps(sum);
  printf("%s  %llu of %llu launches have an interval (%.1f %%): at least 99 %%\n", words[kw_trace_recorded_holds(sum)],
         (unsigned long long)sum->recorded, (unsigned long long)sum->launches,
         percent((double)sum->recorded, (double)sum->launches));
  printf(
      "%s  %llu intervals lie outside of enqueueing and the wait's return, the furthest by %.3f us: none by more "
      "than %.0f\n",
      words[kw_trace_inside_holds(sum)], (unsigned long long)sum->outside, (double)sum->furthest / 1e3,
      (double)slack / 1e3);
  printf("%s  %llu of %llu intervals overlap: none\n", words[kw_trace_order_holds(sum)],
         (unsigned long long)sum->overlaps, (unsigned long long)sum->intervals);
  printf(
      "%s  busy %.3f ms and gaps %.3f ms are %.1f %% of the host's %.3f ms, %.3f ms of the gaps unexplained: within "
      "10 %%\n",
      words[kw_trace_accounted_holds(sum)], milliseconds(sum->busy), gaps / 1e6,
      percent((double)sum->busy + gaps, (double)sum->wall), milliseconds(sum->wall), milliseconds(sum->unexplained));
}

/* Prints all streams and their sum; the exit code. */
static int print(const kw_trace_file *trace, int64_t slack, bool as_object) {
  static const char *const headings[] = {"STREAM",   ">LAUNCHES", ">WALL ms",    ">BUSY",   ">BUILDING", ">WAITING",
                                         ">CALLING", ">IDLE",     ">ENQUEUEING", ">QUEUED", NULL};
  kw_trace_verdict sum = {0};
  kw_cli_table *table = as_object ? NULL : kw_cli_table_create(headings);
  cJSON *json = cJSON_CreateObject(), *streams = cJSON_AddArrayToObject(json, "streams");
  for (size_t i = 0; i < trace->row_count; ++i) {
    const kw_trace_verdict verdict = kw_trace_judge(trace, &trace->rows[i], slack);
    kw_trace_verdict_add(&sum, &verdict);
    if (verdict.launches == 0 && verdict.intervals == 0) continue;
    cJSON_AddItemToArray(streams, as_json(trace->rows[i].name, &verdict));
    add_row(table, trace->rows[i].name, &verdict);
  }
  const bool holds = kw_trace_verdict_holds(&sum);
  cJSON_AddItemToObject(json, "all", as_json("all", &sum));
  cJSON_AddBoolToObject(json, "holds", holds);
  add_row(table, "all", &sum);
  bool printed = true;
  if (as_object) {
    printed = kw_cli_json_print(json);
  } else {
    cJSON_Delete(json);
    kw_cli_table_print(table);
    print_figures(&sum, slack);
    printf("verdict: the device's time is %s\n", holds ? "accounted for" : "not accounted for");
  }
  return holds && printed ? KW_CLI_OK : KW_CLI_FAILED;
}

static int run_trace(const kw_cli_args *args) {
  const char *path = kw_cli_args_positional(args, 0), *value = kw_cli_args_value(args, "--slack");
  const kw_cli_command *command = kw_cli_args_command(args);
  char message[512], *end = NULL;
  const double slack = value ? strtod(value, &end) : 50;
  if (value && (end == value || *end || !(slack >= 0 && slack <= 1e9))) {
    kw_cli_complain(command, "--slack %s: microseconds, 0 to 1000000000", value);
    return KW_CLI_USAGE;
  }
  kw_trace_file trace;
  if (!path || !kw_trace_file_read(path, &trace, message, sizeof message)) {
    kw_cli_complain(command, "%s", path ? message : "name a trace: keyway trace FILE");
    return KW_CLI_USAGE;
  }
  int code = KW_CLI_USAGE;
  if (trace.row_count > 0) {
    code = print(&trace, (int64_t)(slack * 1000), kw_cli_args_has(args, "--json"));
  } else {
    kw_cli_complain(command,
                    "%s has no rows of devices: no device was opened, or none of a plugin with activity records "
                    "(keyway doctor)",
                    path);
  }
  kw_trace_file_free(&trace);
  return code;
}

static const kw_cli_option options[] = {
    KW_CLI_OPTION_JSON,
    {"--slack", "US",
     "microseconds that an interval may lie outside, for clocks that are not read at\none moment; "
     "default 50"},
};

const kw_cli_command kw_cli_trace = {
    .name = "trace",
    .synopsis = "FILE [--json] [--slack US]",
    .summary = "Say what a trace proves about where device time went",
    .details =
        "Reads a trace that a program wrote with KEYWAY_TRACE=FILE, and says of each stream of a device that tells "
        "when\n"
        "it worked what its time went to, from the first enqueueing to the return of the last wait: the device was "
        "busy;\n"
        "or it had nothing to do, while the host compiled kernels, waited, was in a call of an op or did something "
        "else\n"
        "(idle), or while the host enqueued; or work was queued. And four figures: how many launches have an interval; "
        "how\n"
        "many intervals lie outside of the time from enqueueing to the return of the wait; how many overlap; and "
        "whether\n"
        "all this is the host's time.\n\n"
        "Exit status: 0 when 99 % of launches have an interval, none lies outside, none overlap, and busy and gaps "
        "are\n"
        "the host's time to 10 %, 90 % of the gaps explained; 1 otherwise; 2 for a file that is no trace or has no "
        "rows of\n"
        "devices.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .positional_max = 1,
    .main = run_trace,
};
