/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway report`: reads the JSON reports of `keyway conform`, shows them, compares two, and puts those of shards
 * together.
 */
#include "commands.h"
#include "report/files.h"
#include "report/formats.h"
#include "report/merge.h"
#include "report_diff.h"
#include "report_paths.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

/* Prints the report, writes the files, and frees it. Returns the exit code. */
static int finish(const kw_cli_args *args, kw_report *report) {
  const kw_report_paths paths = kw_cli_report_paths(args);
  FILE *out = kw_report_takes_stdout(&paths) ? stderr : stdout;
  if (kw_cli_args_has(args, "--markdown")) {
    kw_report_put_markdown(report, out);
  } else {
    kw_report_put_table(report, out, out == stdout && kw_cli_colour(),
                        kw_cli_args_has(args, "--verbose") || kw_cli_args_has(args, "-v"));
  }
  fflush(out);
  int code = kw_report_write_files(report, &paths, "keyway report") ? kw_report_exit_code(report) : KW_CLI_USAGE;
  kw_report_free(report);
  return code;
}

static int merge(const kw_cli_args *args) {
  uint32_t count = 0, read = 0;
  while (kw_cli_args_positional(args, count + 1)) count++;
  kw_report *reports = calloc(count + 1u, sizeof *reports), merged;
  char message[512] = "name the JSON reports of all shards: keyway report merge FILE... --json FILE";
  bool good = reports && count > 0;
  while (good && read < count) {
    good = kw_report_read(kw_cli_args_positional(args, read + 1), &reports[read], message, sizeof message);
    read += good;
  }
  good = good && kw_report_merge(reports, count, &merged, message, sizeof message);
  for (uint32_t i = 0; i < read; i++) kw_report_free(&reports[i]);
  free(reports);
  if (good) return finish(args, &merged);
  kw_cli_complain(kw_cli_args_command(args), "%s", message);
  return KW_CLI_USAGE;
}

static int show(const kw_cli_args *args) {
  kw_report report;
  char message[512] = "name one report: keyway report show FILE";
  const char *path = kw_cli_args_positional(args, 1);
  bool one = path && !kw_cli_args_positional(args, 2);
  if (one && kw_report_read(path, &report, message, sizeof message)) return finish(args, &report);
  kw_cli_complain(kw_cli_args_command(args), "%s", message);
  return KW_CLI_USAGE;
}

static int run_report(const kw_cli_args *args) {
  const char *what = kw_cli_args_positional(args, 0);
  if (what && strcmp(what, "merge") == 0) return merge(args);
  if (what && strcmp(what, "show") == 0) return show(args);
  if (what && strcmp(what, "diff") == 0) return kw_cli_report_diff(args);
  kw_cli_complain(kw_cli_args_command(args),
                  "what to do? 'keyway report show FILE', 'keyway report diff BEFORE AFTER' "
                  "or 'keyway report merge FILE...'");
  return KW_CLI_USAGE;
}

static const kw_cli_option options[] = {
    {"--json", "FILE", "write the report as JSON; - is stdout, and the table then goes to stderr"},
    {"--junit", "FILE", "write it as JUnit XML"},
    {"--tap", "FILE", "write it in the Test Anything Protocol"},
    {"--html", "FILE", "write it as a page to look at"},
    {"--markdown", NULL, "print numbers of cases and times instead of the report; of --exhaustive the table of errors"},
    {"--verbose", NULL, "show all failures, what is unimplemented, and why tests do not apply"},
    {"-v", NULL, "the same"},
};

const kw_cli_command kw_cli_report = {
    .name = "report",
    .synopsis = "show FILE | diff BEFORE AFTER | merge FILE... [OPTIONS]",
    .summary = "Show the JSON report of a conformance run, compare two, or merge those of its shards",
    .details =
        "show prints a report as 'keyway conform' did. merge takes the reports of all shards of one run (--shard I/N), "
        "in\nany order, and makes the report that the run would have given in one piece; it refuses when they are not\n"
        "of one run, or a shard is missing or there twice.\n\n"
        "diff says what is different: the verdict, ops that came or went, cases with another outcome, and how large "
        "errors\nare. Times, hashes and seeds do not count. Of the options it takes --json and --verbose.\n\n"
        "Exit status: of diff 0 nothing is different, 1 something is; otherwise as 'keyway conform': 0 conformant, 1 "
        "not conformant, 3 only known failures, 4 inconclusive, "
        "130 and\n143 of a run that was stopped; 2 unusable reports.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .positional_max = 100001,
    .main = run_report,
};
