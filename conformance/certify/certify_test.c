/* SPDX-License-Identifier: Apache-2.0
 *
 * A certification package made by the program, of a device with failures that are waived; verified, and refused
 * after each of many changes: by somebody without the key, and by a maker who signs what he has changed.
 */
#include "base/text.h"
#include "certify/manifest.h"
#include "certify/minisign.h"
#include "certify/rerun.h"
#include "certify/waiver.h"
#include "report/formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIVED "amin/f32/special/0"

static char folder[] = P_tmpdir "/keyway-certify-XXXXXX";
static char output[1 << 16];
static bool can_sign;

/* Runs a command in the test's folder; its exit code. */
static __attribute__((format(printf, 1, 2))) int shell(const char *format, ...) {
  char command[4096];
  size_t used = (size_t)snprintf(command, sizeof command, "cd %s && { ", folder);
  va_list arguments;
  va_start(arguments, format);
  used += (size_t)vsnprintf(command + used, sizeof command - used, format, arguments);
  va_end(arguments);
  snprintf(command + used, sizeof command - used, "; } 2>&1");
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  output[fread(output, 1, sizeof output - 1, pipe)] = 0;
  const int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void says(int code, int wanted, const char *text) {
  if (code != wanted || !strstr(output, text)) fail_msg("exit %d, wanted %d and '%s':\n%s", code, wanted, text, output);
}

static const char *path(const char *name) {
  static char paths[4][600];
  static unsigned next;
  char *to = paths[next++ % 4];
  snprintf(to, sizeof paths[0], "%s/%s", folder, name);
  return to;
}

/* ---- The package ------------------------------------------------------------------------------------------------- */

static const char waivers[] =
    "[{\"case\": \"amin/f32/special/0\", \"reason\": \"erratum 12: loses NaN\", \"by\": \"A. Certifier\",\n"
    "  \"granted\": \"2026-01-31\", \"until\": \"2099-01-31\"},\n"
    " {\"case\": \"amin/f32/special/[1-9]*\", \"reason\": \"the same\", \"by\": \"A. Certifier\",\n"
    "  \"granted\": \"2026-01-31\", \"until\": \"2098-06-30\"},\n"
    " {\"case\": \"abs/*\", \"reason\": \"not needed\", \"by\": \"A. Certifier\",\n"
    "  \"granted\": \"2026-01-31\", \"until\": \"2098-12-31\"}]\n";

static int set_up(void **state) {
  (void)state;
  char minisign[512];
  if (!mkdtemp(folder)) return -1;
  can_sign = kw_minisign_find(minisign, sizeof minisign);
  if (!can_sign) printf("minisign is not installed: signatures are not tested (Debian package minisign)\n");
  if (can_sign &&
      (shell("minisign -G -W -p key.pub -s key.sec") != 0 || shell("minisign -G -W -p other.pub -s other.sec") != 0)) {
    return -1;
  }
  if (!kw_text_write_file(path("waivers.json"), waivers)) return -1;
  const int code = shell(
      "'%s' conform --device mutant:0 --plugin '%s' --level core --seed 4711 --no-shrink "
      "--submit made --waivers waivers.json --with-plugin %s",
      KEYWAY_PROGRAM, KEYWAY_AMIN_MUTANT, can_sign ? "--sign key.sec" : "");
  if (code != 5) printf("exit %d:\n%s", code, output);
  return code == 5 ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  char command[600];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

static int copy_package(void **state) {
  (void)state;
  return shell("rm -rf it && cp -r made it");
}

/* `key`: of whom; NULL: unsigned. */
static int verify_by(const char *key, const char *options) {
  return shell("'%s' verify it %s%s %s", KEYWAY_PROGRAM, key ? "--public-key " : "--unsigned", key ? key : "", options);
}

static int verify(const char *options) {
  return verify_by(can_sign ? "key.pub" : NULL, options);
}

static void refused(const char *text) {
  says(verify("--seed 4711"), 1, text);
  assert_non_null(strstr(output, "package it: refused\n"));
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

/* Replaces the first `from` in a file of the package. */
static void edit(const char *name, const char *from, const char *to) {
  char file[600], *text, *longer;
  snprintf(file, sizeof file, "%s/it/%s", folder, name);
  assert_true(kw_text_read_file(file, &text));
  const char *place = strstr(text, from);
  if (!place) fail_msg("%s has no '%s'", name, from);
  assert_true(asprintf(&longer, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from)) > 0);
  assert_true(kw_text_write_file(file, longer));
  free(text);
  free(longer);
}

static void sign(void) {
  if (can_sign) assert_int_equal(shell("minisign -S -s key.sec -m it/manifest.json"), 0);
}

/* Hashes all files anew, and signs that. */
static void hash_and_sign(void) {
  char message[512];
  kw_manifest manifest;
  assert_true(kw_manifest_read(path("it"), &manifest, message, sizeof message));
  assert_true(kw_manifest_write(&manifest, path("it"), message, sizeof message));
  kw_manifest_free(&manifest);
  sign();
}

static kw_report read_report(void) {
  char message[512];
  kw_report report;
  assert_true(kw_report_read(path("it/report.json"), &report, message, sizeof message));
  return report;
}

/* Writes all formats of a report, with the verdict in the manifest, and signs that. Frees it. */
static void write_report(kw_report *report) {
  char message[512];
  kw_manifest manifest;
  kw_entry_list granted;
  assert_true(kw_waivers_read(path("waivers.json"), "2026-11-23", &granted, message, sizeof message));
  kw_waived_verdict verdict = kw_waivers_judge(report, &granted);
  static const struct {
    const char *name;
    void (*put)(const kw_report *, FILE *);
  } files[] = {{"it/report.json", kw_report_put_json},
               {"it/report.html", kw_report_put_html},
               {"it/report.txt", kw_report_put_plain_table}};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char *text = kw_report_text(report, files[i].put);
    assert_true(kw_text_write_file(path(files[i].name), text));
    free(text);
  }
  assert_true(kw_manifest_read(path("it"), &manifest, message, sizeof message));
  kw_manifest_set(&manifest, KW_MANIFEST_VERDICT, verdict.text);
  kw_manifest_set(&manifest, KW_MANIFEST_CASES_HASH, report->case_hash);
  assert_true(kw_manifest_write(&manifest, path("it"), message, sizeof message));
  sign();
  kw_manifest_free(&manifest);
  free(verdict.text);
  kw_entry_list_free(&granted);
  kw_report_free(report);
}

static kw_report_case *find_case(kw_report *report, const char *id) {
  for (uint32_t i = 0; i < report->case_count; i++) {
    if (strcmp(report->cases[i].id, id) == 0) return &report->cases[i];
  }
  fail_msg("no case %s", id);
  return NULL;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

#define CERTIFIED "conformant with 2 waivers until 2098-06-30 (core, "

static void a_package_holds(void **state) {
  (void)state;
  const char *given = "--seed 4711 --waivers waivers.json --plugin '" KEYWAY_AMIN_MUTANT "'";
  says(verify(given), 5, "package it: holds: " CERTIFIED);
  says(verify("--json"), 5, "\"verdict\":\t\"" CERTIFIED);
  says(verify("--date 2098-06-30 --seed 04711"), 5, CERTIFIED);
  says(verify("--rerun 1% --rerun-seed 3 --plugin '" KEYWAY_AMIN_MUTANT "'"), 5,
       "cases were run again with seed 3: none contradicts the package");
}

static void somebody_else_changes_it(void **state) {
  (void)state;
  edit("report.json", "\"outcome\": \"fail\"", "\"outcome\": \"pass\"");
  refused("the file report.json was changed: it has not the hash that the manifest names");
  copy_package(NULL);
  edit("report.html", "amin", "amax");
  refused("the file report.html was changed");
  copy_package(NULL);
  edit("waivers.json", "2098", "2099");
  refused("the file waivers.json was changed");
  copy_package(NULL);
  edit("mustpass/core.txt", "op add.Tensor", "op add.Tensot");
  refused("the file mustpass/core.txt was changed");
  copy_package(NULL);
  shell("echo >>it/machine.json");
  refused("the file machine.json was changed");
  copy_package(NULL);
  shell("rm it/machine.json");
  refused("the file machine.json is missing, which the manifest names");
  copy_package(NULL);
  shell("echo more >it/mustpass/notes.txt");
  refused("the file mustpass/notes.txt was added: the manifest does not name it");
  copy_package(NULL);
  shell("ln -s /etc/passwd it/zero");
  refused("is no plain file");
  copy_package(NULL);
  shell("for file in it/plugin/*.so; do echo >>$file; done");
  refused("keyway_mutant_amin_nan_dropped.so was changed");
  copy_package(NULL);
  edit("manifest.json", "\"seed\":", "\"weed\":");
  refused("is not as `keyway conform --submit` writes it");
}

static void signatures(void **state) {
  (void)state;
  if (!can_sign) skip();
  edit("manifest.json", CERTIFIED, "conformant (core, ");
  refused("it/manifest.json or its signature was changed after it was signed");
  copy_package(NULL);
  edit("manifest.json.minisig", "suite", "sweet"); /* the trusted comment */
  refused("it/manifest.json or its signature was changed after it was signed");
  copy_package(NULL);
  shell("rm it/manifest.json.minisig");
  refused("the signature manifest.json.minisig is missing: the package is not signed, or was robbed of it");
  copy_package(NULL);
  shell("minisign -S -s other.sec -m it/manifest.json");
  refused("the signature is of another key than key.pub");
  says(verify_by("other.pub", ""), 5, "of the key other.pub");
  says(verify_by("\"$(tail -n 1 other.pub)\"", ""), 5, CERTIFIED);
  says(verify_by("nobody.pub", ""), 2, "'nobody.pub' is no public key of minisign");
  copy_package(NULL);
  says(shell("PATH=/nowhere '%s' verify it --public-key key.pub", KEYWAY_PROGRAM), 2,
       "the signature was not checked: minisign is not installed; install it (Debian package minisign)");
}

static void the_maker_says_too_much(void **state) {
  (void)state;
  edit("manifest.json", CERTIFIED, "conformant (core, ");
  hash_and_sign();
  refused("the package says 'conformant (core, ");
  assert_non_null(strstr(output, ", but its cases and waivers make it '" CERTIFIED));
  copy_package(NULL);
  edit("report.json", "\"verdict\": \"not conformant\"", "\"verdict\": \"conformant\"");
  hash_and_sign();
  refused("report.json says 'conformant', but its cases make it 'not conformant'");
  copy_package(NULL);
  edit("report.json", "\"fail\": ", "\"fail\": 10");
  hash_and_sign();
  refused("report.json: its \"counts\" are not what its cases add up to");
  copy_package(NULL);
  edit("report.html", "fail", "pass");
  hash_and_sign();
  refused("report.html is not what the cases in report.json make: line ");
  copy_package(NULL);
  edit("report.txt", "not conformant", "conformant");
  hash_and_sign();
  refused("report.txt is not what the cases in report.json make: line ");
  copy_package(NULL);
  shell("printf '\\0<h1>conformant</h1>' >>it/report.html"); /* which ends a text, but no page */
  hash_and_sign();
  refused("report.html is not what the cases in report.json make: line ");
  copy_package(NULL);
  shell("printf '\\0conformant' >>it/manifest.json");
  sign();
  refused("is not as `keyway conform --submit` writes it");
  copy_package(NULL);
  edit("manifest.json", "\"device\":\t\"mutant:0\"", "\"device\":\t\"cpu:0\"");
  hash_and_sign();
  refused("\"device\" is 'cpu:0' in the manifest and 'mutant:0' in the report");
}

static void the_maker_chooses_his_cases(void **state) {
  (void)state;
  kw_report report = read_report();
  kw_report_case *c = find_case(&report, WAIVED);
  kw_report dropped = {.cases = malloc(sizeof *c), .case_count = 1}; /* a report of that case alone, to free it */
  assert_non_null(dropped.cases);
  dropped.cases[0] = *c;
  memmove(c, c + 1, (size_t)(&report.cases[--report.case_count] - c) * sizeof *c);
  kw_report_hash_cases(&report, report.case_hash);
  write_report(&report);
  refused("the case " WAIVED " is missing (1 of ");
  kw_report_free(&dropped);
  copy_package(NULL);

  report = read_report();
  c = find_case(&report, "abs/f32/prime/0");
  free(c->id);
  c->id = strdup("abs/f32/prime/977");
  kw_report_hash_cases(&report, report.case_hash);
  write_report(&report);
  refused("the case abs/f32/prime/0 is missing (1 of ");
  copy_package(NULL);

  edit("report.json", "\n\t]\n}\n", ",\n\t\t{\"case\": \"wait/977\", \"outcome\": \"pass\", \"seconds\": 0}\n\t]\n}\n");
  report = read_report();
  kw_report_hash_cases(&report, report.case_hash);
  write_report(&report);
  refused("the case wait/977 was added (1 were): core of suite 1.0 has no such case");
  copy_package(NULL);

  report = read_report();
  free(report.chosen);
  report.chosen = strdup("--op 'abs'");
  write_report(&report);
  refused("the run left cases out: --op 'abs'");
  copy_package(NULL);

  edit("manifest.json", "\"half\":\t\"f16\"", "\"half\":\t\"bf16\"");
  hash_and_sign();
  refused(" is missing (");
}

/* What only a machine with the device can find. */
static void the_maker_lies_about_a_result(void **state) {
  (void)state;
  char options[600];
  kw_report report = read_report();
  for (uint32_t i = 0; i < report.case_count; i++) {
    if (report.cases[i].outcome == KW_OUTCOME_FAIL) report.cases[i].outcome = KW_OUTCOME_PASS;
  }
  write_report(&report);
  says(verify("--seed 4711"), 0, "package it: holds: conformant (core, ");
  uint64_t seed = 1; /* one that picks the case */
  while (kw_rerun_lot(WAIVED, seed) >= 0.0005) seed++;
  snprintf(options, sizeof options, "--rerun 0.05%% --rerun-seed %llu --plugin '%s'", (unsigned long long)seed,
           KEYWAY_AMIN_MUTANT);
  says(verify(options), 1, "come out otherwise: " WAIVED " is 'pass' in the package and 'fail' with seed ");
  copy_package(NULL);
  report = read_report();
  free(report.scope);
  report.scope = strdup("core/ftz-f32");
  write_report(&report);
  says(verify("--rerun 0.05% --plugin '" KEYWAY_AMIN_MUTANT "'"), 1,
       "the device is judged as 'core' here, and as 'core/ftz-f32' in the package");
  says(verify("--rerun 0.05% --device cpu:0"), 2, "not possible"); /* the copy of the wrapper lacks what it wraps */
  says(verify("--rerun 0.05% --device cpu:0 --plugin '" KEYWAY_AMIN_MUTANT "'"), 1,
       "the device cpu:0 is served by another plugin than the package is about");
}

static void the_maker_changes_the_rules(void **state) {
  (void)state;
  edit("manifest.json", "\"suite\":\t\"1.0\"", "\"suite\":\t\"0.9\"");
  hash_and_sign();
  refused("the package is of suite 0.9, this is 1.0: only a keyway with suite 0.9 can verify it");
  copy_package(NULL);
  edit("mustpass/core.txt", "op add.Tensor", "op add.Tensot");
  hash_and_sign();
  refused("mustpass/core.txt is not the must-pass list of suite 1.0");
  copy_package(NULL);
  shell("rm it/mustpass/contract.txt");
  hash_and_sign();
  refused("mustpass/contract.txt is missing, the must-pass list of suite 1.0");
  copy_package(NULL);
  edit("manifest.json", "\"tolerances_sha256\":\t\"", "\"tolerances_sha256\":\t\"00");
  hash_and_sign();
  refused("the package was judged by other tolerances than those of suite 1.0");
  copy_package(NULL);
  edit("manifest.json", "\"seed\":\t\"4711\"", "\"seed\":\t\"4712\"");
  hash_and_sign();
  refused("contradict each other: \"seed\" is '4712' in the manifest and '4711' in the report");
  copy_package(NULL);
  says(verify("--seed 4712"), 1, "the package was made with seed 4711, not with the 4712 that was given");
}

static void plugins_and_waivers(void **state) {
  (void)state;
  says(verify("--plugin '" KEYWAY_PROGRAM "'"), 1, "is not the plugin that was judged: that one has the hash ");
  shell("cp '%s' it/plugin/*.so", KEYWAY_PROGRAM);
  hash_and_sign();
  refused("is not the plugin that was judged: that one has the hash ");
  copy_package(NULL);
  says(verify("--date 2098-07-01"), 1,
       "it/waivers.json:3: the waiver for 'amin/f32/special/[1-9]*' expired on 2098-06-30; ask A. Certifier for a new "
       "one");
  says(verify("--date 2026-01-30"), 1, "the waiver is granted on 2026-01-31, which is still to come");
  edit("waivers.json", "2098", "2099");
  hash_and_sign();
  refused(", but its cases and waivers make it 'conformant with 2 waivers until 2099-01-31 (core, ");
  says(verify("--waivers waivers.json"), 1, "the package's waivers are not those in waivers.json");
  copy_package(NULL);
  shell("rm it/waivers.json");
  hash_and_sign();
  refused(", but its cases and waivers make it 'not conformant (core, ");
  copy_package(NULL);
  shell("echo '[]' >it/expect.json");
  hash_and_sign();
  refused("expect.json is not the list of known failures that the report names by hash");
}

static void an_honest_failure_holds(void **state) {
  (void)state;
  kw_report report = read_report();
  find_case(&report, "abs/f32/prime/0")->outcome = KW_OUTCOME_FAIL; /* the waiver for abs covers it */
  write_report(&report);
  says(verify(""), 5, "conformant with 3 waivers until 2098-06-30 (core, ");
  copy_package(NULL);
  report = read_report();
  find_case(&report, "neg/f32/prime/0")->outcome = KW_OUTCOME_FAIL;
  write_report(&report);
  says(verify(""), 3, "package it: holds: not conformant (core, ");
  copy_package(NULL);
  report = read_report();
  find_case(&report, "neg/f32/prime/0")->outcome = KW_OUTCOME_INCONCLUSIVE;
  write_report(&report);
  says(verify(""), 4, "package it: holds: inconclusive with 2 waivers until ");
}

static void submit(const char *options, const char *text) {
  const int code = shell("'%s' conform --device cpu:0 --submit new %s", KEYWAY_PROGRAM, options);
  says(code, 2, text);
  assert_int_equal(shell("test -e new"), 1);
}

static void submissions_are_refused(void **state) {
  (void)state;
  submit("--seed 1", "--submit is about a level: --level core");
  submit("--level core", "--submit wants the seed that the certifier gave: --seed S");
  static const char *const partial[] = {"--op abs",    "--case 'abs/*'", "--suite ops", "--shard 1/2",     "--quick",
                                        "--fail-fast", "--budget 3",     "--list",      "--exhaustive f32"};
  for (size_t i = 0; i < sizeof partial / sizeof partial[0]; i++) {
    char options[128];
    snprintf(options, sizeof options, "--level core --seed 1 %s", partial[i]);
    submit(options, " leaves something out");
  }
  submit("--level core --seed 1 --sign nobody.sec", "nobody.sec cannot be read");
  shell("sed 's/2098-06-30/2026-02-29/' waivers.json >odd.json");
  submit("--level core --seed 1 --waivers odd.json", "odd.json:3: '2026-02-29' is no day");
  shell("sed 's/2098-06-30/2026-02-28/' waivers.json >old.json");
  submit("--level core --seed 1 --waivers old.json", "expired on 2026-02-28; ask A. Certifier");
  shell("sed 's/2098-06-30/2025-12-31/' waivers.json >early.json");
  submit("--level core --seed 1 --waivers early.json", "the waiver ends on 2025-12-31, before it is granted");
  shell("sed 's/\"by\"/\"bye\"/' waivers.json >anonymous.json");
  submit("--level core --seed 1 --waivers anonymous.json",
         "anonymous.json:1: this entry has no \"by\": say who answers");
  says(shell("'%s' conform --device cpu:0 --level core --seed 1 --submit it", KEYWAY_PROGRAM), 2,
       "it is there already");
  says(shell("'%s' conform --device cpu:0 --op abs --waivers waivers.json", KEYWAY_PROGRAM), 2,
       "--waivers goes with --submit DIR");
  says(shell(
           "touch key.sec; PATH=/nowhere '%s' conform --device cpu:0 --level core --seed 1 --submit new --sign key.sec",
           KEYWAY_PROGRAM),
       2, "--sign: minisign is not installed; install it (Debian package minisign)");
}

static void wrong_usage(void **state) {
  (void)state;
  says(shell("'%s' verify", KEYWAY_PROGRAM), 2, "which package?");
  says(shell("'%s' verify it", KEYWAY_PROGRAM), 2, "whose signature should it be?");
  says(shell("'%s' verify nothing --unsigned", KEYWAY_PROGRAM), 2, "nothing/manifest.json cannot be read");
  says(verify("--rerun 5"), 2, "--rerun takes a share of the cases above 0%: 5%, 100%");
  says(verify("--date 2027-02-30"), 2, "--date takes a day");
  says(verify("--seed x"), 2, "--seed takes a number");
  says(verify("--rerun-seed x"), 2, "--rerun-seed takes a number");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_package_holds, copy_package),
      cmocka_unit_test_setup(somebody_else_changes_it, copy_package),
      cmocka_unit_test_setup(signatures, copy_package),
      cmocka_unit_test_setup(the_maker_says_too_much, copy_package),
      cmocka_unit_test_setup(the_maker_chooses_his_cases, copy_package),
      cmocka_unit_test_setup(the_maker_lies_about_a_result, copy_package),
      cmocka_unit_test_setup(the_maker_changes_the_rules, copy_package),
      cmocka_unit_test_setup(plugins_and_waivers, copy_package),
      cmocka_unit_test_setup(an_honest_failure_holds, copy_package),
      cmocka_unit_test_setup(submissions_are_refused, copy_package),
      cmocka_unit_test_setup(wrong_usage, copy_package),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
