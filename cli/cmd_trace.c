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
  cJSON_AddNumberToObject(json, "busy_ns", (double)verdict->busy);
  cJSON_AddNumberToObject(json, "idle_ns", (double)verdict->idle);
  cJSON_AddNumberToObject(json, "enqueueing_ns", (double)verdict->enqueueing);
  cJSON_AddNumberToObject(json, "queued_ns", (double)verdict->queued);
  cJSON_AddNumberToObject(json, "unexplained_ns", (double)verdict->unexplained);
  return json;
}

static void add_row(kw_cli_table *table, const char *name, const kw_trace_verdict *verdict) {
  kw_cli_table_add(table, "%s", name);
  kw_cli_table_add(table, "%llu", (unsigned long long)verdict->launches);
  kw_cli_table_add(table, "%llu", (unsigned long long)verdict->recorded);
  kw_cli_table_add(table, "%llu", (unsigned long long)verdict->outside);
  kw_cli_table_add(table, "%llu", (unsigned long long)verdict->overlaps);
  kw_cli_table_add(table, "%.3f ms", milliseconds(verdict->busy));
  kw_cli_table_add(table, "%.3f ms", milliseconds(verdict->idle));
  kw_cli_table_add(table, "%.3f ms", milliseconds(verdict->enqueueing));
  kw_cli_table_add(table, "%.3f ms", milliseconds(verdict->queued));
  kw_cli_table_add(table, "%.3f ms", milliseconds(verdict->unexplained));
}

/* Prints all streams and their sum; the exit code. */
static int print(const kw_trace_file *trace, int64_t slack, bool as_object) {
  static const char *const headings[] = {"STREAM", ">LAUNCHES",   ">RECORDED", ">OUTSIDE",     ">OVERLAPS", ">BUSY",
                                         ">IDLE",  ">ENQUEUEING", ">QUEUED",   ">UNEXPLAINED", NULL};
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
        "it worked: how many launches have an interval; how many intervals lie outside of the time from enqueueing to\n"
        "the return of the wait; how many overlap; and what the stream's time went to: the device was busy, idle "
        "since\n"
        "the host had enqueued nothing, waiting while the host enqueued, held up with work queued, or not explained "
        "by\n"
        "anything in the trace.\n\n"
        "Exit status: 0 when 99 % of launches have an interval, none lies outside, none overlap, and 90 % of the gaps\n"
        "are explained; 1 otherwise; 2 for a file that is no trace or has no rows of devices.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .positional_max = 1,
    .main = run_trace,
};
