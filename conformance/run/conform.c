/* SPDX-License-Identifier: Apache-2.0
 *
 * Options, and the order of events.
 */
#include "run/conform.h"

#include "contract/contract_suites.h"
#include "judge/known_failures.h"
#include "run/process.h"
#include "run/run.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTED(suite) "," #suite

void kw_conform_usage(FILE *out) {
  fputs(
      "usage: keyway conform --device NAME [options]\n"
      "\n"
      "Runs the conformance suite on a device: every op that it claims, judged against a wider reference that never\n"
      "shares a process with a plugin, and the contract suites.\n"
      "\n"
      "  --device NAME        the device: npu:0, acme.npu:1\n"
      "  --plugin FILE        load this plugin too (may be repeated)\n"
      "  --level LEVEL        judge the op set of a level instead of what the device claims: core, inference,\n"
      "                       training; with more dtypes: core+f64, core+complex+fp8\n"
      "  --suite LIST         only some of these, comma-separated:\n"
      "                       ops" KW_CONTRACT_SUITES(LISTED) "\n"
      "  --op GLOBS           only ops whose name matches, comma-separated: 'add.*,mul.*'\n"
      "  --case GLOB          only this case, as a report names it; or all that match: '*/f32/prime/1'\n"
      "  --list               print the ids of all chosen cases and run none\n"
      "  --seed S             seed of inputs and order (default 1)\n"
      "  --fail-fast          stop after the first failure; the other cases count as not run\n"
      "  --jobs N             worker processes at a time (default: CPUs)\n"
      "  --shard I/N          the I-th of N equal parts of the cases, I from 1\n"
      "  --expect FILE        known failures with a reason each; they never count as passes\n"
      "  --no-shrink          do not look for the smallest variants of failing cases\n"
      "  --timeout-scale X    multiplies all time limits: for simulators\n"
      "  --json FILE          write a report to a file; - is stdout, and the table then goes to stderr\n"
      "  --junit FILE         the same, as JUnit XML\n"
      "  --tap FILE           the same, in the Test Anything Protocol\n"
      "  --html FILE          the same, as a page to look at\n"
      "  -v, --verbose        show all failures and all that is unclaimed\n"
      "  -h, --help           print this\n"
      "\n"
      "With KEYWAY_TRACE=FILE every worker process writes a trace of its own: FILE.worker1, FILE.worker2, ...\n"
      "\n"
      "exit code: 0 conformant, 1 not conformant, 2 nothing could be run, 3 not conformant, but only as --expect says\n",
      out);
}

static int refuse(const char *what, const char *why) {
  fprintf(stderr, "keyway conform: %s%s%s\n", what, *why ? ": " : "", why);
  return 2;
}

static uint32_t cpu_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return (uint32_t)CPU_COUNT(&set);
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (uint32_t)count : 1;
}

static bool parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno || end == text || *end || *text == '-' || value < min || value > max) return false;
  *out = value;
  return true;
}

static bool parse_shard(const char *text, kw_run_options *options) {
  char first[16];
  const char *slash = strchr(text, '/');
  uint64_t index, count;
  if (!slash || (size_t)(slash - text) >= sizeof first) return false;
  memcpy(first, text, (size_t)(slash - text));
  first[slash - text] = 0;
  if (!parse_u64(slash + 1, 1, 100000, &count) || !parse_u64(first, 1, count, &index)) return false;
  options->shard = (uint32_t)index;
  options->shards = (uint32_t)count;
  return true;
}

enum {
  OPT_DEVICE = 1000,
  OPT_PLUGIN,
  OPT_LEVEL,
  OPT_SUITE,
  OPT_OP,
  OPT_CASE,
  OPT_LIST,
  OPT_SEED,
  OPT_FAIL_FAST,
  OPT_JOBS,
  OPT_SHARD,
  OPT_TIMEOUT,
  OPT_NO_SHRINK,
  OPT_EXPECT,
  OPT_JSON,
  OPT_JUNIT,
  OPT_TAP,
  OPT_HTML
};

static const struct option long_options[] = {{"device", required_argument, NULL, OPT_DEVICE},
                                             {"plugin", required_argument, NULL, OPT_PLUGIN},
                                             {"level", required_argument, NULL, OPT_LEVEL},
                                             {"suite", required_argument, NULL, OPT_SUITE},
                                             {"op", required_argument, NULL, OPT_OP},
                                             {"case", required_argument, NULL, OPT_CASE},
                                             {"list", no_argument, NULL, OPT_LIST},
                                             {"seed", required_argument, NULL, OPT_SEED},
                                             {"fail-fast", no_argument, NULL, OPT_FAIL_FAST},
                                             {"jobs", required_argument, NULL, OPT_JOBS},
                                             {"shard", required_argument, NULL, OPT_SHARD},
                                             {"timeout-scale", required_argument, NULL, OPT_TIMEOUT},
                                             {"expect", required_argument, NULL, OPT_EXPECT},
                                             {"no-shrink", no_argument, NULL, OPT_NO_SHRINK},
                                             {"json", required_argument, NULL, OPT_JSON},
                                             {"junit", required_argument, NULL, OPT_JUNIT},
                                             {"tap", required_argument, NULL, OPT_TAP},
                                             {"html", required_argument, NULL, OPT_HTML},
                                             {"verbose", no_argument, NULL, 'v'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

/* Names of suites are checked here, so that a typing error is not taken for an empty suite. */
static bool known_suites(const char *list) {
#define NAME(suite) , #suite
  static const char *const names[] = {"ops" KW_CONTRACT_SUITES(NAME)};
  for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    size_t length = strcspn(p, ","), i = 0;
    while (i < sizeof names / sizeof names[0] && (strlen(names[i]) != length || memcmp(names[i], p, length) != 0)) i++;
    if (i == sizeof names / sizeof names[0]) return false;
  }
  return true;
}

/* One option. False: its value is wrong, *out_help says what it should be. */
static bool take_option(int option, kw_run_options *o, const char **out_help) {
  uint64_t number = 0;
  char *end;
  switch (option) {
    case OPT_DEVICE:
      o->device = optarg;
      return true;
    case OPT_PLUGIN:
      *out_help = "at most 16 plugins";
      if (o->plugin_count == 16) return false;
      o->plugins[o->plugin_count++] = optarg;
      return true;
    case OPT_LEVEL:
      *out_help =
          "--level takes core, inference or training, and extensions: +f64, +complex, +fp8, +int4, "
          "+sparse, +fft, +detection, +paged (core+f64+fp8)";
      return kw_level_parse(optarg, &o->level);
    case OPT_SUITE:
      *out_help = "--suite takes a comma-separated list of: ops" KW_CONTRACT_SUITES(LISTED);
      o->suites = optarg;
      return known_suites(optarg);
    case OPT_OP:
      *out_help = "--op is given once; it takes several, comma-separated: 'add.*,mul.*'";
      if (o->op_globs) return false;
      o->op_globs = optarg;
      return true;
    case OPT_CASE:
      o->case_id = optarg;
      return true;
    case OPT_LIST:
      o->list = true;
      return true;
    case OPT_SEED:
      *out_help = "--seed takes a number from 0 to 2^64-1";
      return parse_u64(optarg, 0, UINT64_MAX, &o->seed);
    case OPT_FAIL_FAST:
      o->fail_fast = true;
      return true;
    case OPT_JOBS:
      *out_help = "--jobs takes a number from 1 to 64";
      if (!parse_u64(optarg, 1, 64, &number)) return false;
      o->jobs = (uint32_t)number;
      return true;
    case OPT_SHARD:
      *out_help = "--shard takes I/N with 1 <= I <= N";
      return parse_shard(optarg, o);
    case OPT_TIMEOUT:
      *out_help = "--timeout-scale takes a number above 0, at most 10000";
      o->timeout_scale = strtod(optarg, &end);
      return end != optarg && !*end && o->timeout_scale > 0 && o->timeout_scale <= 10000;
    case OPT_EXPECT:
      o->expect = optarg;
      return true;
    case OPT_NO_SHRINK:
      o->no_shrink = true;
      return true;
    case OPT_JSON:
      o->reports.json = optarg;
      return true;
    case OPT_JUNIT:
      o->reports.junit = optarg;
      return true;
    case OPT_TAP:
      o->reports.tap = optarg;
      return true;
    case OPT_HTML:
      o->reports.html = optarg;
      return true;
    case 'v':
      o->verbose = true;
      return true;
    default:
      *out_help = "`keyway conform --help` lists the options";
      return false;
  }
}

/* 0: go on; otherwise the exit code plus one. */
static int parse(int argc, char **argv, kw_run_options *o) {
  int option;
  optind = 1;
  while ((option = getopt_long(argc, argv, "vh", long_options, NULL)) != -1) {
    const char *help = "";
    if (option == 'h') {
      kw_conform_usage(stdout);
      return 1;
    }
    if (!take_option(option, o, &help)) return 1 + refuse("wrong option", help);
  }
  if (optind < argc) return 1 + refuse("unexpected argument", argv[optind]);
  if (!o->device) return 1 + refuse("no device", "name one with --device NAME; `keyway list` shows what there is");
  return 0;
}

/* A worker that only tells what the device is. */
static bool ask_device(const kw_run_options *options, kw_facts *out_facts, char *text, size_t size) {
  kw_process process = {0};
  if (!kw_process_start(options, &process, out_facts, text, size)) return false;
  kw_process_stop(&process);
  return true;
}

/* Every worker loads the plugin anew: a verdict is about one file, so it must not change meanwhile. */
static bool same_plugin(const kw_run *run) {
  char hash[KW_DIGEST_SIZE];
  return kw_digest_file(run->facts.plugin_path, hash) && strcmp(hash, run->plugin_hash) == 0;
}

static int run_and_report(kw_run *run) {
  const kw_run_options *o = run->options;
  if (o->list) {
    for (uint32_t i = 0; i < run->case_count; i++) puts(run->cases[i].id);
    return 0;
  }
  if (!kw_digest_file(run->facts.plugin_path, run->plugin_hash)) return refuse(run->facts.plugin_path, strerror(errno));
  kw_run_cases(run);
  if (!same_plugin(run)) {
    return refuse(run->facts.plugin_path, "the plugin's file changed during the run; run again when it is built");
  }
  kw_report report;
  kw_report_make(run, &report);
  FILE *out = kw_report_takes_stdout(&o->reports) ? stderr : stdout;
  kw_report_put_table(&report, out, isatty(fileno(out)), o->verbose);
  fflush(out);
  int code = kw_report_write_files(&report, &o->reports, "keyway conform") ? kw_report_exit_code(&report) : 2;
  kw_report_free(&report);
  return code;
}

/* Takes the file of known failures, if there is one. */
static bool read_expectations(kw_run *run, kw_expect *out_expect, char *text, size_t size) {
  const char *path = run->options->expect;
  if (!path) return true;
  if (!kw_expect_read(path, out_expect, text, size)) return false;
  if (kw_digest_file(path, run->expect_hash)) return kw_expect_apply(out_expect, run, text, size);
  snprintf(text, size, "%s cannot be read: %s", path, strerror(errno));
  return false;
}

int kw_conform_main(int argc, char **argv) {
  kw_run_options options = {.seed = 1, .jobs = cpu_count(), .shard = 1, .shards = 1, .timeout_scale = 1};
  if (options.jobs > 64) options.jobs = 64;
  int stop = parse(argc, argv, &options);
  if (stop) return stop - 1;
  kw_run run = {.options = &options};
  kw_expect expect = {0};
  char text[4096] = "";
  bool ready = ask_device(&options, &run.facts, text, sizeof text) && kw_run_select(&run, text, sizeof text) &&
               read_expectations(&run, &expect, text, sizeof text);
  int code = ready ? run_and_report(&run) : refuse("nothing was run", text);
  kw_run_free(&run);
  kw_expect_free(&expect);
  return code;
}
