/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway conform`: runs the conformance suite on a device and reports what came of it.
 */
#include "commands.h"
#include "base/need.h"
#include "conform_submit.h"
#include "contract/contract_suites.h"
#include "number.h"
#include "program/order.h"
#include "report/files.h"
#include "report/formats.h"
#include "report/make.h"
#include "report/resume.h"
#include "run/known_failures.h"
#include "report_paths.h"
#include "run/process.h"
#include "run/state.h"
#include "run/stop.h"
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTED(suite) "," #suite

static int refuse(const char *what, const char *why) {
  kw_cli_complain(&kw_cli_conform, "%s: %s", what, why);
  return KW_CLI_USAGE;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static bool parse_shard(const char *text, kw_run_options *options) {
  char first[16];
  const char *slash = strchr(text, '/');
  uint64_t index, count;
  if (!slash || (size_t)(slash - text) >= sizeof first) return false;
  memcpy(first, text, (size_t)(slash - text));
  first[slash - text] = 0;
  if (!kw_cli_parse_u64(slash + 1, 1, 100000, &count) || !kw_cli_parse_u64(first, 1, count, &index)) return false;
  options->shard = (uint32_t)index;
  options->shards = (uint32_t)count;
  return true;
}

/* Names of suites are checked here, so that a typing error is not taken for an empty suite. */
static bool known_suites(const char *list, char *text, size_t size) {
#define NAME(suite) , #suite
  static const char *const names[] = {"ops", "programs" KW_CONTRACT_SUITES(NAME)};
  for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    size_t length = strcspn(p, ","), i = 0;
    while (i < sizeof names / sizeof names[0] && (strlen(names[i]) != length || memcmp(names[i], p, length) != 0)) i++;
    if (i < sizeof names / sizeof names[0]) continue;
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)length, p);
    const char *near = kw_cli_nearest(name, names, sizeof names / sizeof names[0], sizeof names[0]);
    snprintf(text, size,
             "there is no suite '%s'%s%s%s; --suite takes a comma-separated list of: ops,programs" KW_CONTRACT_SUITES(
                 LISTED),
             name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
  }
  return true;
}

static bool complain(const char *what) {
  kw_cli_complain(&kw_cli_conform, "%s", what);
  return false;
}

/* A number; left alone where the option is not given. */
static bool take_number(const kw_cli_args *args, const char *option, uint64_t min, uint64_t max, const char *help,
                        uint64_t *io_number) {
  const char *text = kw_cli_args_value(args, option);
  return !text || kw_cli_parse_u64(text, min, max, io_number) || complain(help);
}

static bool take_plugins(const kw_cli_args *args, kw_run_options *o) {
  const char *path;
  for (uint32_t cursor = 0; (path = kw_cli_args_next(args, "--plugin", &cursor)) != NULL;) {
    if (o->plugin_count == sizeof o->plugins / sizeof o->plugins[0])
      return complain("--plugin is given at most 16 times");
    o->plugins[o->plugin_count++] = path;
  }
  return true;
}

/* False, and said, when an option that chooses cases is given again: what the first one names would not run. */
static bool take_once(const kw_cli_args *args, const char *option, const char *again, const char **out_value) {
  uint32_t cursor = 0;
  *out_value = kw_cli_args_next(args, option, &cursor);
  return !*out_value || !kw_cli_args_next(args, option, &cursor) || complain(again);
}

/* Which cases. */
static bool take_choice(const kw_cli_args *args, kw_run_options *o) {
  const char *level = kw_cli_args_value(args, "--level"), *shard = kw_cli_args_value(args, "--shard");
  o->after = kw_cli_args_value(args, "--after");
  o->list = kw_cli_args_has(args, "--list");
  if (!take_once(args, "--op", "--op is given once; it takes several, comma-separated: 'add.*,mul.*'", &o->op_globs) ||
      !take_once(args, "--suite", "--suite is given once; it takes several, comma-separated: stream,event",
                 &o->suites) ||
      !take_once(args, "--case", "--case is given once; a pattern chooses several: 'stream/*'", &o->case_id)) {
    return false;
  }
  if (level && !kw_level_parse(level, &o->level)) {
    return complain(
        "--level takes core, inference or training, and extensions: +f64, +complex, +fp8, +int4, +sparse, "
        "+fft, +detection, +paged (core+f64+fp8)");
  }
  char text[512];
  if (o->suites && !known_suites(o->suites, text, sizeof text)) return complain(text);
  return !shard || parse_shard(shard, o) || complain("--shard takes I/N with 1 <= I <= N");
}

static bool take_effort(const kw_cli_args *args, kw_run_options *o) {
  const bool quick = kw_cli_args_has(args, "--quick"), thorough = kw_cli_args_has(args, "--thorough");
  o->effort = quick ? KW_EFFORT_QUICK : thorough ? KW_EFFORT_THOROUGH : KW_EFFORT_NORMAL;
  return !(quick && thorough) || complain("--quick and --thorough contradict each other; give one of them");
}

static bool take_timeout(const kw_cli_args *args, kw_run_options *o) {
  const char *text = kw_cli_args_value(args, "--timeout-scale");
  return !text || kw_cli_parse_scale(text, &o->timeout_scale) ||
         complain("--timeout-scale takes a number above 0, at most 10000");
}

/* "200", or "30s". */
static bool take_budget(const kw_cli_args *args, kw_run_options *o) {
  const char *text = kw_cli_args_value(args, "--budget");
  char number[24];
  uint64_t count;
  if (!text) return true;
  const size_t length = strlen(text), digits = strspn(text, "0123456789");
  const bool seconds = length == digits + 1 && text[digits] == 's';
  if (digits >= sizeof number || (length != digits && !seconds)) return complain("--budget takes N programs or Ns");
  snprintf(number, sizeof number, "%.*s", (int)digits, text);
  if (!kw_cli_parse_u64(number, 1, 100000, &count)) return complain("--budget takes a number from 1 to 100000");
  if (seconds) {
    o->program_seconds = (double)count;
  } else {
    o->programs = (uint32_t)count;
  }
  return true;
}

/* "f32,f16", or "f32/256": one pattern of 256. */
static bool take_exhaustive(const kw_cli_args *args, kw_run_options *o) {
  const char *text = kw_cli_args_value(args, "--exhaustive");
  o->state = kw_cli_args_value(args, "--state");
  o->share = 1;
  if (!text) return !o->state || complain("--state goes with --exhaustive");
  bool good = true;
  for (const char *p = text; p && good; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    char item[16], *slash;
    uint64_t share = 1;
    snprintf(item, sizeof item, "%.*s", (int)strcspn(p, ","), p);
    if ((slash = strchr(item, '/')) != NULL) *slash++ = 0;
    const kw_dtype dtype = kw_element_from_name(item, strlen(item));
    good = dtype == KW_F32 || ((dtype == KW_F16 || dtype == KW_BF16) && !slash);
    if (slash) good = good && kw_cli_parse_u64(slash, 2, 1024, &share) && !(share & (share - 1));
    if (good) o->exhaustive |= KW_DTYPE_BIT(dtype);
    if (dtype == KW_F32) o->share = (uint32_t)share;
  }
  if (!good) return complain("--exhaustive takes f32, f16 and bf16, and f32/N with a power of two from 2 to 1024");
  return !o->suites || complain("--exhaustive is a suite of its own: leave out --suite");
}

static bool take_options(const kw_cli_args *args, kw_run_options *o) {
  uint64_t jobs = kw_cli_jobs();
  *o = (kw_run_options){.device = kw_cli_args_value(args, "--device"),
                        .seed = 1,
                        .shard = 1,
                        .shards = 1,
                        .timeout_scale = 1,
                        .expect = kw_cli_args_value(args, "--expect"),
                        .no_shrink = kw_cli_args_has(args, "--no-shrink"),
                        .fail_fast = kw_cli_args_has(args, "--fail-fast")};
  bool good = take_plugins(args, o) && take_choice(args, o) && take_effort(args, o) && take_timeout(args, o) &&
              take_budget(args, o) && take_exhaustive(args, o) &&
              take_number(args, "--seed", 0, UINT64_MAX, "--seed takes a number from 0 to 2^64-1", &o->seed) &&
              take_number(args, "--jobs", 1, KW_CLI_JOBS_MOST, "--jobs takes a number from 1 to 64", &jobs);
  o->jobs = (uint32_t)jobs;
  if (good && !o->device) return complain("no device: name one with --device NAME; `keyway list` shows what there is");
  return good;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* Every worker loads the plugin anew: a verdict is about one file, so it must not change meanwhile. */
static bool same_plugin(const kw_run *run) {
  char hash[KW_DIGEST_SIZE];
  return kw_digest_file(run->facts.plugin_path, hash) && strcmp(hash, run->plugin_hash) == 0;
}

/* The one program that was chosen, as C. */
static int print_source(const kw_run *run) {
  const kw_run_options *o = run->options;
  kw_program *program = malloc(sizeof *program);
  kw_program_order *order = malloc(sizeof *order);
  if (!program || !order) kw_out_of_memory();
  const bool there = run->case_count == 1 && kw_program_make(run->cases[0].id, o->seed, &run->facts, program);
  if (there) {
    kw_program_order_make(program, order);
    char *source =
        kw_program_source(program, order, o->device, run->facts.second, o->plugin_count > 0 ? o->plugins[0] : NULL);
    fputs(source, stdout);
    free(source);
    kw_program_free(program);
  }
  free(program);
  free(order);
  return there ? 0 : refuse("nothing was printed", "--source takes one program: --case programs/17");
}

/* Takes what an earlier run has done, where there is one to go on with. What is submitted is one run. */
static bool resume(kw_run *run, const kw_cli_args *args, char *text, size_t size) {
  const char *path = kw_cli_args_value(args, "--resume");
  kw_report before;
  if (!path) return true;
  if (kw_cli_args_has(args, "--submit")) {
    snprintf(text, size, "it does not go with --submit: what is submitted is one run");
    return false;
  }
  if (!kw_report_read(path, &before, text, size)) return false;
  const bool good = kw_report_resume(&before, run, text, size);
  kw_report_free(&before);
  return good;
}

/* `submission`: NULL where none is made. */
static int run_and_report(kw_run *run, const kw_cli_args *args, kw_submission *submission) {
  const kw_run_options *o = run->options;
  if (o->list) {
    for (uint32_t i = 0; i < run->case_count; i++) puts(run->cases[i].id);
    return 0;
  }
  if (kw_cli_args_has(args, "--source")) return print_source(run);
  const kw_report_paths paths = kw_cli_report_paths(args);
  if (!kw_report_can_write(&paths, "keyway conform")) return KW_CLI_USAGE;
  if (!kw_digest_file(run->facts.plugin_path, run->plugin_hash)) return refuse(run->facts.plugin_path, strerror(errno));
  char text[1024];
  if (o->state && !kw_state_open(run, o->state, text, sizeof text)) return refuse("nothing was run", text);
  if (!resume(run, args, text, sizeof text)) return refuse("nothing was run: --resume", text);
  kw_stop_listen();
  kw_run_cases(run);
  if (!kw_state_close(run)) return refuse(o->state, "it could not be written to the end; is there room on its disk?");
  if (!same_plugin(run)) {
    return refuse(run->facts.plugin_path, "the plugin's file changed during the run; run again when it is built");
  }
  kw_report report;
  kw_report_make(run, &report);
  FILE *out = kw_report_takes_stdout(&paths) ? stderr : stdout;
  kw_report_put_table(&report, out, isatty(fileno(out)),
                      kw_cli_args_has(args, "--verbose") || kw_cli_args_has(args, "-v"));
  fflush(out);
  int code = kw_report_write_files(&report, &paths, "keyway conform") ? kw_report_exit_code(&report) : KW_CLI_USAGE;
  if (submission && code != KW_CLI_USAGE && !report.stopped) code = kw_cli_submit(args, submission, run, &report, out);
  kw_report_free(&report);
  return code;
}

/* Takes the file of known failures, if there is one. */
static bool read_known_failures(kw_run *run, kw_entry_list *out_known, char *text, size_t size) {
  const char *path = run->options->expect;
  if (!path) return true;
  if (!kw_known_failures_read(path, out_known, text, size)) return false;
  if (kw_digest_file(path, run->expect_hash)) return kw_known_failures_apply(out_known, run, text, size);
  snprintf(text, size, "%s cannot be read: %s", path, strerror(errno));
  return false;
}

static int run_conform(const kw_cli_args *args) {
  kw_run_options options;
  if (!take_options(args, &options)) return KW_CLI_USAGE;
  if (kw_cli_args_has(args, "--watch")) return kw_cli_watch(args);
  kw_run run = {.options = &options};
  kw_entry_list known = {0};
  kw_submission submission = {.folder = kw_cli_args_value(args, "--submit")};
  char text[4096] = "";
  bool ready = kw_cli_submission_begin(args, &submission, text, sizeof text) &&
               kw_process_ask(&options, &run.facts, text, sizeof text) && kw_run_select(&run, text, sizeof text) &&
               (!submission.folder || kw_submission_takes(&submission, &run, text, sizeof text)) &&
               read_known_failures(&run, &known, text, sizeof text);
  int code =
      ready ? run_and_report(&run, args, submission.folder ? &submission : NULL) : refuse("nothing was run", text);
  kw_submission_end(&submission);
  kw_run_free(&run);
  kw_entry_list_free(&known);
  return code;
}

static const kw_cli_option options[] = {
    {"--device", "NAME", "the device: npu:0, acme.npu:1"},
    KW_CLI_OPTION_PLUGIN,
    {"--level", "LEVEL",
     "judge the op set of a level instead of what the device claims: core, inference,\n"
     "training; with more dtypes: core+f64, core+complex+fp8"},
    {"--quick", NULL, "a sample of all, in seconds: one case of each class, op and dtype"},
    {"--thorough", NULL, "all that the suite can do, in minutes to hours: what a certifier may ask for"},
    {"--suite", "LIST", "only some of these, comma-separated:\nops,programs" KW_CONTRACT_SUITES(LISTED)},
    {"--budget", "N",
     "how many random programs, or with an s as many as can be begun in N seconds (default 300,\n"
     "with --quick 12, with --thorough 3000)"},
    {"--exhaustive", "f32",
     "instead of the cases all 2^32 patterns of f32, for ops of one tensor, and a dense share for\n"
     "others; f32/256: one pattern of 256; f32,f16,bf16: of those, too"},
    {"--state", "FILE", "with --exhaustive: notes what passed, and goes on from there when it is run again"},
    {"--op", "GLOBS", "only ops whose whole name matches one of these globs, comma-separated: 'add.*,pow.Tensor_*'"},
    {"--case", "GLOB", "only this case, as a report names it; or all that match: '*/f32/prime/1'"},
    {"--after", "LIST", "with --case: runs these in its process first, comma-separated: 'neg/f32/one/0#1'"},
    {"--list", NULL, "print the ids of all chosen cases and run none"},
    {"--source", NULL, "of a program (--case programs/17): print it as C and run none"},
    {"--seed", "S", "seed of inputs and order (default 1)"},
    {"--watch", NULL, "run again whenever a file of --plugin is built anew, until Ctrl-C"},
    {"--fail-fast", NULL, "stop after the first failure; the other cases count as not run"},
    {"--jobs", "N", "worker processes at a time (default: CPUs)"},
    {"--shard", "I/N", "the I-th of N equal parts of the cases, I from 1"},
    {"--resume", "FILE", "go on with a run that was stopped: FILE is the JSON report that it left"},
    {"--expect", "FILE", "known failures with a reason each; they never count as passes"},
    {"--submit", "DIR",
     "make a certification package of the run in a new folder, for `keyway verify`; wants --level\nand --seed"},
    {"--sign", "KEY", "sign the package with this secret key of minisign"},
    {"--waivers", "FILE", "failures that somebody answers for until a day; the package's verdict names them"},
    {"--with-plugin", NULL, "put a copy of the plugin into the package, not its hash alone"},
    {"--no-shrink", NULL, "do not look for the smallest variants of failing cases"},
    {"--timeout-scale", "X", "multiplies all time limits, which do not count waiting for a processor: for simulators"},
    {"--json", "FILE", "write a report to a file; - is stdout, and the table then goes to stderr"},
    {"--junit", "FILE", "the same, as JUnit XML"},
    {"--tap", "FILE", "the same, in the Test Anything Protocol"},
    {"--html", "FILE", "the same, as a page to look at"},
    {"--verbose", NULL, "show all failures, what is unimplemented, and why tests do not apply"},
    {"-v", NULL, "the same"},
};

const kw_cli_command kw_cli_conform = {
    .name = "conform",
    .synopsis = "--device NAME [--plugin FILE]... [OPTIONS]",
    .summary = "Check a device against the conformance suite",
    .details =
        "Every op that the device claims is judged against a wider reference that never shares a process with a "
        "plugin,\n"
        "and so are the contract suites. With KEYWAY_TRACE=FILE every worker process writes a trace of its own:\n"
        "FILE.worker1, FILE.worker2, ...\n\n"
        "Exit status: 0 conformant, 1 not conformant, 2 nothing could be run or judged, 3 not conformant, but only as "
        "--expect\n"
        "says, 4 inconclusive: no failure, but cases that gave no answer in time on a machine that was busy,\n"
        "5 with --submit: conformant with waivers, 130, 143 and 129 stopped by SIGINT, SIGTERM and SIGHUP: reports of "
        "what was done\n"
        "are written all the same, and --resume goes on.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .main = run_conform,
};
