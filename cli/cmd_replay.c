/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway replay`: a captured run again, as it was or beside another device.
 */
#include "commands.h"
#include "replay.h"
#include "table.h"

#include <inttypes.h>
#include <math.h>

static const char *const outcomes[] = {"same", "differs", "nan", "failed", "refused"};

static void print_json(const kw_replay_result *result) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "outcome", outcomes[result->outcome]);
  cJSON_AddNumberToObject(json, "calls", (double)result->calls);
  cJSON_AddNumberToObject(json, "launches", (double)result->launches);
  cJSON_AddNumberToObject(json, "reads", (double)result->reads);
  cJSON_AddNumberToObject(json, "in_bounds", (double)result->in_bounds);
  cJSON_AddBoolToObject(json, "complete", result->complete);
  if (result->outcome != KW_REPLAY_SAME) {
    cJSON_AddNumberToObject(json, "call", (double)result->call);
    cJSON_AddStringToObject(json, "op", result->op);
    cJSON_AddStringToObject(json, "text", result->text);
  }
  if (result->outcome == KW_REPLAY_DIFFERS || result->outcome == KW_REPLAY_NAN) {
    cJSON_AddNumberToObject(json, "wrong", (double)result->wrong);
    cJSON_AddNumberToObject(json, "elements", (double)result->count);
    if (isfinite(result->error)) cJSON_AddNumberToObject(json, "bounds", result->error);
  }
  kw_cli_json_print(json);
}

static void print_text(const kw_replay_result *result, const kw_replay_options *options) {
  printf("%" PRIu64 " calls", result->calls);
  if (result->launches > 0) printf(", %" PRIu64 " launches of graphs", result->launches);
  if (result->reads > 0) printf(", %" PRIu64 " reads", result->reads);
  if (options->against && !options->nan)
    printf(" on %s beside %s, %" PRIu64 " results within their bounds by other bits\n", options->device,
           options->against, result->in_bounds);
  else
    printf(" on %s\n", options->device);
  switch (result->outcome) {
    case KW_REPLAY_SAME:
      printf(options->nan       ? "no result has NaN\n"
             : options->against ? "no result differs\n"
                                : "all as it was, bit for bit\n");
      break;
    case KW_REPLAY_DIFFERS:
      printf(options->against ? "call %" PRIu64 " differs: %s\n" : "after call %" PRIu64 ": %s\n", result->call,
             result->text);
      break;
    default:
      printf("call %" PRIu64 ": %s\n", result->call, result->text);
      break;
  }
  if (result->cut_bytes > 0)
    printf("%s has that call alone, with its arguments (%" PRIu64 " bytes): keyway replay %s --device %s\n",
           options->cut, result->cut_bytes, options->cut, options->device);
}

static int run_replay(const kw_cli_args *args) {
  const kw_cli_command *command = kw_cli_args_command(args);
  const char *path = kw_cli_args_positional(args, 0), *device = kw_cli_args_value(args, "--device");
  kw_replay_options options = {.device = device ? device : "cpu:0",
                               .against = kw_cli_args_value(args, "--against"),
                               .nan = kw_cli_args_has(args, "--nan"),
                               .cut = kw_cli_args_value(args, "--cut")};
  if (options.nan && !options.against) options.against = options.device; /* call by call, on the same one */
  char message[512];
  if (!path || (options.cut && !options.against)) {
    kw_cli_complain(command, path ? "--cut FILE needs --against NAME or --nan, which say what is wrong"
                                  : "name a capture: keyway replay FILE");
    return KW_CLI_USAGE;
  }
  kw_capture_reader reader;
  if (!kw_cli_load_plugins(args)) return KW_CLI_USAGE;
  if (!kw_capture_reader_open(&reader, path, message, sizeof message)) {
    kw_cli_complain(command, "%s", message);
    return KW_CLI_USAGE;
  }
  const kw_replay_result result = kw_capture_replay(&reader, &options);
  kw_capture_reader_close(&reader);
  if (result.outcome == KW_REPLAY_REFUSED) {
    kw_cli_complain(command, "%s: %s", path, result.text);
    return KW_CLI_USAGE;
  }
  if (!result.complete || result.full)
    kw_cli_complain(command, "%s %s: what is there was run", path,
                    result.full ? "ends at its limit (KEYWAY_CAPTURE_LIMIT)" : "is cut off");
  if (kw_cli_args_has(args, "--json")) {
    print_json(&result);
  } else {
    print_text(&result, &options);
  }
  return result.outcome == KW_REPLAY_SAME ? KW_CLI_OK : KW_CLI_FAILED;
}

static const kw_cli_option options[] = {
    {"--device", "NAME", "the device to run on; cpu:0 unless said"},
    {"--against", "NAME",
     "run each call on this device as well, with the same arguments, and stop at the first\n"
     "result that differs by more than the conformance suite allows the two together"},
    {"--nan", NULL, "run call by call, and stop at the first result that has NaN"},
    {"--cut", "FILE", "write a capture of that call alone"},
    KW_CLI_OPTION_JSON,
    KW_CLI_OPTION_PLUGIN,
};

const kw_cli_command kw_cli_replay = {
    .name = "replay",
    .synopsis = "FILE [--device NAME] [--against NAME] [--nan] [--cut FILE] [--json] [--plugin FILE]...",
    .summary = "Run a captured program again, and find where a device goes wrong or NaN begins",
    .details =
        "Runs what an application called, with its data, as KEYWAY_LAYERS=capture KEYWAY_CAPTURE=FILE wrote it down.\n"
        "Without --against or --nan everything that the application read has to come out again, bit for bit. With it, "
        "calls of\n"
        "graphs run one by one.\n\n"
        "Exit status: 0 when all is as it was, or as on the other device; 1 when something differs, has NaN or fails;\n"
        "2 for a file that is no capture or is damaged, or a device that does not open.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .positional_max = 1,
    .main = run_replay,
};
