/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway verify`: checks a certification package that `keyway conform --submit` made.
 */
#include "certify/verify.h"
#include "commands.h"
#include "number.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static int refuse(const char *what) {
  kw_cli_complain(&kw_cli_verify, "%s", what);
  return KW_CLI_USAGE;
}

/* "5%", "2.5%" or "100%". */
static bool parse_share(const char *text, double *out_share) {
  char *end;
  *out_share = strtod(text, &end) / 100;
  return end != text && strcmp(end, "%") == 0 && *out_share > 0 && *out_share <= 1;
}

/* A number in an option, which is left alone where the option is not given. False: it is none. */
static bool take_number(const kw_cli_args *args, const char *option, uint64_t min, uint64_t max, uint64_t *io_number) {
  const char *text = kw_cli_args_value(args, option);
  return !text || kw_cli_parse_u64(text, min, max, io_number);
}

/* Each of these returns what is wrong with options, NULL when nothing is. */
static const char *take_rerun(const kw_cli_args *args, kw_run_options *o, double *out_share) {
  const char *share = kw_cli_args_value(args, "--rerun"), *scale = kw_cli_args_value(args, "--timeout-scale");
  uint64_t jobs = kw_cli_jobs();
  o->device = kw_cli_args_value(args, "--device");
  if (share && !parse_share(share, out_share)) return "--rerun takes a share of the cases above 0%: 5%, 100%";
  if (!kw_cli_args_has(args, "--rerun-seed") && getrandom(&o->seed, sizeof o->seed, 0) != sizeof o->seed) {
    return "the system gives no random number; name a seed of your own: --rerun-seed R";
  }
  if (!take_number(args, "--rerun-seed", 0, UINT64_MAX, &o->seed)) {
    return "--rerun-seed takes a number from 0 to 2^64-1";
  }
  if (!take_number(args, "--jobs", 1, KW_CLI_JOBS_MOST, &jobs)) return "--jobs takes a number from 1 to 64";
  o->jobs = (uint32_t)jobs;
  return scale && !kw_cli_parse_scale(scale, &o->timeout_scale)
             ? "--timeout-scale takes a number above 0, at most 10000"
             : NULL;
}

static const char *take_options(const kw_cli_args *args, kw_verify_options *o, char today[KW_DATE_SIZE]) {
  const char *date = kw_cli_args_value(args, "--date");
  const bool ignore_signature = kw_cli_args_has(args, "--unsigned");
  kw_date_today(today);
  o->folder = kw_cli_args_positional(args, 0);
  o->public_key = kw_cli_args_value(args, "--public-key");
  o->date = date ? date : today;
  o->waivers = kw_cli_args_value(args, "--waivers");
  o->plugin = kw_cli_args_value(args, "--plugin");
  o->has_seed = kw_cli_args_has(args, "--seed");
  if (!o->folder) return "which package? keyway verify DIR --public-key KEY";
  if (!o->public_key && !ignore_signature) {
    return "whose signature should it be? --public-key KEY; or --unsigned, to leave that out";
  }
  if (o->public_key && ignore_signature) return "--public-key and --unsigned contradict each other";
  if (!kw_date_is_valid(o->date)) return "--date takes a day, as 2027-01-31";
  if (!take_number(args, "--seed", 0, UINT64_MAX, &o->seed)) return "--seed takes a number from 0 to 2^64-1";
  return take_rerun(args, o->rerun, &o->share);
}

static const char *end_name(kw_check_end end) {
  static const char *const names[] = {[KW_CHECK_GOOD] = "ok",
                                      [KW_CHECK_REFUSED] = "refused",
                                      [KW_CHECK_INCONCLUSIVE] = "inconclusive",
                                      [KW_CHECK_IMPOSSIBLE] = "not possible",
                                      [KW_CHECK_LEFT_OUT] = "left out"};
  return names[end];
}

/* What came out for the package itself. */
static const char *conclusion(const kw_verification *v) {
  return v->exit_code == 1 ? "refused" : v->exit_code == 2 ? "not verified" : "holds";
}

static int print_json(const kw_verify_options *options, const kw_verification *v) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "package", options->folder);
  cJSON_AddStringToObject(json, "conclusion", conclusion(v));
  cJSON_AddItemToObject(json, "verdict", *v->verdict ? cJSON_CreateString(v->verdict) : cJSON_CreateNull());
  cJSON *checks = cJSON_AddArrayToObject(json, "checks");
  for (uint32_t i = 0; i < v->check_count; i++) {
    cJSON *check = cJSON_CreateObject();
    cJSON_AddStringToObject(check, "check", v->checks[i].name);
    cJSON_AddStringToObject(check, "outcome", end_name(v->checks[i].end));
    cJSON_AddStringToObject(check, "text", v->checks[i].text);
    cJSON_AddItemToArray(checks, check);
  }
  return kw_cli_json_print(json) ? v->exit_code : KW_CLI_FAILED;
}

static int print_table(const kw_verify_options *options, const kw_verification *v) {
  for (uint32_t i = 0; i < v->check_count; i++) {
    printf("  %-10s %-12s %s\n", v->checks[i].name, end_name(v->checks[i].end), v->checks[i].text);
  }
  printf("package %s: %s%s%s\n", options->folder, conclusion(v), *v->verdict ? ": " : "", v->verdict);
  return v->exit_code;
}

static int run_verify(const kw_cli_args *args) {
  kw_run_options rerun = {.shard = 1, .shards = 1, .timeout_scale = 1, .no_shrink = true};
  kw_verify_options options = {.rerun = &rerun};
  char today[KW_DATE_SIZE];
  const char *wrong = take_options(args, &options, today);
  if (wrong) return refuse(wrong);
  kw_verification verification;
  kw_verify(&options, &verification);
  const int code =
      kw_cli_args_has(args, "--json") ? print_json(&options, &verification) : print_table(&options, &verification);
  kw_verification_free(&verification);
  return code;
}

static const kw_cli_option options[] = {
    {"--public-key", "KEY", "whose signature it has to be: a public key of minisign, a file or its text"},
    {"--unsigned", NULL, "do not look at the signature"},
    {"--seed", "S", "the seed that was given to the package's maker"},
    {"--waivers", "FILE", "the waivers that were granted: the package has to have these"},
    {"--plugin", "FILE", "the plugin, to hold against its hash and to run cases on; without, the package's copy"},
    {"--rerun", "P%", "run a share of the cases again, such as 5%, and compare"},
    {"--rerun-seed", "R", "picks them, and makes their inputs (default: a random one, which is printed)"},
    {"--device", "NAME", "on this device (default: the package's)"},
    {"--date", "DAY", "the day on which waivers have to hold, as 2027-01-31 (default: today)"},
    {"--jobs", "N", "worker processes at a time (default: CPUs)"},
    {"--timeout-scale", "X", "multiplies all time limits"},
    KW_CLI_OPTION_JSON,
};

const kw_cli_command kw_cli_verify = {
    .name = "verify",
    .synopsis = "DIR (--public-key KEY | --unsigned) [OPTIONS]",
    .summary = "Check a certification package, and run a share of it again",
    .details =
        "A package is what `keyway conform --submit DIR` makes. Checked are its signature, the hash of every file, "
        "the\n"
        "must-pass lists against those installed here, counts and verdict against the cases, that no case is missing\n"
        "or added, seed, plugin and waivers. The first check that fails ends it and says why.\n\n"
        "Exit status: 0 it holds and says conformant, 5 conformant with waivers, 1 it is refused, 2 it could not be\n"
        "checked, 3 it holds, but says not conformant, 4 it holds, but is inconclusive.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .positional_max = 1,
    .main = run_verify,
};
