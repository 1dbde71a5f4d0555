/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of a made-up run with every outcome in it, read by other people's parsers.
 */
#include "report/files.h"
#include "report/formats.h"
#include "report/made_up.h"
#include "report/merge.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64] = "keyway-report-test-XXXXXX";

static const char *path_of(const char *name) {
  static char paths[8][128];
  static uint32_t next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* ---- A run with everything in it --------------------------------------------------------------------------------- */

#define NASTY "a \x1b[31mred\x07 <tag attr=\"1\"> & 'both' # hash \\ back\nsecond line \xff\xc3\xa9 ]]> \xe2\x82"
#define NASTY_CLEAN "a ?[31mred? <tag attr=\"1\"> & 'both' # hash \\ back\nsecond line ?\xc3\xa9 ]]> ??"

static kw_report everything(void) {
  kw_report report;
  begin(&report, NASTY);
  add_case(&report, "error/op/add.Tensor", -1, KW_OUTCOME_PASS, "");
  add_case(&report, "memory/limits", -1, KW_OUTCOME_SKIP, NASTY);
  add_case(&report, "stream/query", -1, KW_OUTCOME_FAIL, NASTY);
  add_case(&report, "scale/copy", -1, KW_OUTCOME_NOT_TRIED, NASTY);
  add_op(&report, "add.Tensor", "f32", 2);
  add_case(&report, "add.Tensor/f32/scalar/0", 0, KW_OUTCOME_PASS, "");
  report.cases[2].passes_alone = true;
  report.cases[2].after = kw_text_clean("stream/order#0");
  kw_report_case *passed = add_case(&report, "add.Tensor/f32/prime/0", 0, KW_OUTCOME_PASS, "");
  passed->error = 0.7;
  passed->tf32 = true;
  kw_report_case *failed = add_case(&report, "add.Tensor/f32/prime/1", 0, KW_OUTCOME_FAIL, NASTY);
  failed->error = INFINITY;
  failed->smallest = kw_text_clean("add.Tensor/f32/prime/1@2");
  failed->smallest_tensors = kw_text_clean("f32 [2], f32 [2]");
  add_op(&report, "acme::twist", "i8", 0);
  add_case(&report, "acme::twist/i8/one/0", 1, KW_OUTCOME_CRASH, "the worker ended with signal 11 (SIGSEGV)");
  add_case(&report, "acme::twist/i8/prime/0", 1, KW_OUTCOME_TIMEOUT, "no answer");
  add_case(&report, "acme::twist/i8/prime/1", 1, KW_OUTCOME_UNIMPLEMENTED, "")->unreferenced = true;
  add_case(&report, "acme::twist/i8/prime/2", 1, KW_OUTCOME_PASS, "")->self_referenced = true;
  add_gap(&report, "acme::turn", NASTY);
  report.unclaimed[report.unclaimed_count++] = kw_text_clean("add.Tensor/f8e5m2");
  return report;
}

#if defined(KEYWAY_XMLLINT) || defined(KEYWAY_PERL)
/* What a shell command prints, which has to succeed; the caller's to free. */
static char *output_of(const char *command) {
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  char *text = calloc(1, 1 << 16);
  size_t length = fread(text, 1, (1 << 16) - 1, pipe);
  text[length] = 0;
  int status = pclose(pipe);
  if (status != 0) fail_msg("%s: status %d: %s", command, status, text);
  return text;
}
#endif

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void dirty_text_becomes_clean(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {NASTY, NASTY_CLEAN},
      {"tab\there", "tab here"},
      {"\x7f", "?"},
      {"\xc2\x85", "??"},      /* a control character of two bytes */
      {"\xc0\xaf", "??"},      /* '/' in two bytes */
      {"\xed\xa0\x80", "???"}, /* half of a surrogate pair */
      {"\xef\xbf\xbf", "???"}, /* no character, and not in XML */
      {"\xf0\x9f\x94\x91", "\xf0\x9f\x94\x91"},
      {"\xf4\x90\x80\x80", "????"} /* past the last character */
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    char *clean = kw_text_clean(pairs[i][0]);
    assert_string_equal(clean, pairs[i][1]);
    free(clean);
  }
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static void verdict_counts_every_outcome(void **state) {
  (void)state;
  kw_report report = everything();
  kw_report_totals totals = kw_report_total(&report);
  assert_int_equal(totals.counts[KW_OUTCOME_PASS], 4);
  assert_int_equal(totals.counts[KW_OUTCOME_FAIL], 2);
  assert_int_equal(totals.counts[KW_OUTCOME_CRASH], 1);
  assert_int_equal(totals.counts[KW_OUTCOME_TIMEOUT], 1);
  assert_int_equal(totals.counts[KW_OUTCOME_UNIMPLEMENTED], 1);
  assert_int_equal(totals.counts[KW_OUTCOME_SKIP], 1);
  assert_int_equal(totals.counts[KW_OUTCOME_NOT_TRIED], 1);
  assert_int_equal(totals.self_referenced, 1);
  assert_true(totals.tf32 == 1 && totals.fast == 0);
  assert_int_equal(kw_report_exit_code(&report), 1);
  kw_report_free(&report);

  begin(&report, NASTY);
  assert_int_equal(kw_report_exit_code(&report), 2); /* nothing passed */
  add_case(&report, "memory/limits", -1, KW_OUTCOME_SKIP, "");
  assert_int_equal(kw_report_exit_code(&report), 2);
  add_case(&report, "memory/zero_size", -1, KW_OUTCOME_PASS, "");
  assert_int_equal(kw_report_exit_code(&report), 0);
  report.fallbacks = 1;
  assert_int_equal(kw_report_exit_code(&report), 1);
  kw_report_free(&report);
}

static void known_failures_are_no_passes(void **state) {
  (void)state;
  kw_report report;
  begin(&report, NASTY);
  add_case(&report, "memory/zero_size", -1, KW_OUTCOME_PASS, "");
  kw_report_case *c = add_case(&report, "stream/query", -1, KW_OUTCOME_FAIL, "");
  c->expected = kw_text_clean("bug 12");
  kw_report_totals totals = kw_report_total(&report);
  assert_int_equal(totals.counts[KW_OUTCOME_PASS], 1);
  assert_int_equal(totals.counts[KW_OUTCOME_FAIL], 0);
  assert_int_equal(totals.expected_failures, 1);
  assert_int_equal(totals.verdict, KW_VERDICT_EXPECTED);
  assert_string_equal(kw_report_verdict_name(totals.verdict), "not conformant");
  assert_int_equal(kw_report_exit_code(&report), 3);
  char *tap = kw_report_text(&report, kw_report_put_tap), *junit = kw_report_text(&report, kw_report_put_junit);
  char *table = kw_report_text(&report, put_whole_table);
  contains(tap, "not ok 2 - stream/query # TODO bug 12");
  contains(junit, "<skipped message=\"expected failure: bug 12\">");
  contains(table, "expected failure stream/query");
  contains(table, "expected to fail: bug 12");
  contains(table, "1 of 2 cases pass, 1 expected failures");
  free(tap);
  free(junit);
  free(table);

  c->outcome = KW_OUTCOME_PASS;
  assert_int_equal(kw_report_total(&report).unexpected_passes, 1);
  assert_int_equal(kw_report_total(&report).counts[KW_OUTCOME_PASS], 1);
  assert_int_equal(kw_report_exit_code(&report), 1);
  tap = kw_report_text(&report, kw_report_put_tap);
  contains(tap, "not ok 2 - stream/query\n");
  free(tap);
  kw_report_free(&report);
}

/* Where nothing was tried there is nothing to say: neither that the device is right nor that it is wrong. */
static void nothing_tried_is_not_judged(void **state) {
  (void)state;
  kw_report report;
  begin(&report, NASTY);
  add_case(&report, "models/gpt2", -1, KW_OUTCOME_NOT_TRIED, "models need ops that are not there");
  add_case(&report, "models/gpt2_f16", -1, KW_OUTCOME_SKIP, "no f16");
  assert_int_equal(kw_report_total(&report).verdict, KW_VERDICT_NOT_JUDGED);
  assert_int_equal(kw_report_exit_code(&report), 2);
  char *table = kw_report_text(&report, put_whole_table);
  contains(table, "verdict: not judged (");
  free(table);
  add_case(&report, "stream/order", -1, KW_OUTCOME_FAIL, "it did not wait");
  assert_int_equal(kw_report_total(&report).verdict, KW_VERDICT_NOT_CONFORMANT);
  kw_report_free(&report);
}

/* What nothing can be told of is no failure and no pass: a verdict of its own, which any failure overrules. */
static void inconclusive_is_neither(void **state) {
  (void)state;
  kw_report report;
  begin(&report, NASTY);
  add_case(&report, "memory/zero_size", -1, KW_OUTCOME_PASS, "");
  kw_report_case *open = add_case(&report, "stream/order", -1, KW_OUTCOME_INCONCLUSIVE, "no answer within 60 s");
  assert_int_equal(kw_report_total(&report).verdict, KW_VERDICT_INCONCLUSIVE);
  assert_string_equal(kw_report_verdict_name(KW_VERDICT_INCONCLUSIVE), "inconclusive");
  assert_int_equal(kw_report_exit_code(&report), 4);
  char *tap = kw_report_text(&report, kw_report_put_tap), *junit = kw_report_text(&report, kw_report_put_junit);
  char *table = kw_report_text(&report, put_whole_table), *json = kw_report_text(&report, kw_report_put_json);
  char *html = kw_report_text(&report, kw_report_put_html);
  contains(tap, "# verdict: inconclusive");
  contains(tap, "not ok 2 - stream/order\n");
  contains(junit, "<property name=\"verdict\" value=\"inconclusive\"/>");
  contains(junit, "<error message=\"inconclusive\">no answer within 60 s");
  contains(junit, "failures=\"0\" errors=\"1\"");
  contains(table, "inconclusive stream/order");
  contains(table, "verdict: inconclusive (claims, 0 of 303 ops): 1 of 2 cases pass, 1 inconclusive");
  contains(json, "\"verdict\": \"inconclusive\"");
  contains(json, "\"unexpected_pass\": 0, \"inconclusive\": 1");
  contains(json, "\"failed\": 0, \"unimplemented\": 0, \"not_applicable\": 0, \"inconclusive\": 1, \"not_tried\": 0");
  contains(html, "<span class=\"verdict warn\">inconclusive</span>");
  free(tap);
  free(junit);
  free(table);
  free(json);
  free(html);

  open->expected = kw_text_clean("bug 12"); /* it may have failed or not */
  assert_int_equal(kw_report_exit_code(&report), 4);
  add_case(&report, "stream/query", -1, KW_OUTCOME_FAIL, "")->expected = kw_text_clean("bug 13");
  assert_int_equal(kw_report_exit_code(&report), 4);
  add_case(&report, "stream/zero", -1, KW_OUTCOME_TIMEOUT, "");
  assert_int_equal(kw_report_exit_code(&report), 1);
  kw_report_free(&report);
}

static void has_verdict(const kw_report *report, const char *want) {
  char *text = kw_report_verdict_text(report);
  assert_string_equal(text, want);
  free(text);
}

/* What was not tried is no failure; it has a column of its own and stands in the verdict, once for all alike. */
static void untried_stands_in_the_verdict(void **state) {
  (void)state;
  kw_report report;
  begin(&report, NASTY);
  add_case(&report, "memory/zero_size", -1, KW_OUTCOME_PASS, "");
  has_verdict(&report, "conformant (claims, 0 of 303 ops)");
  add_case(&report, "fault/late", -1, KW_OUTCOME_NOT_TRIED, "late errors not tested; npu has no keyway.test/1");
  add_case(&report, "scale/copy", -1, KW_OUTCOME_NOT_TRIED, "scale needs 6 GiB; 3.1 GiB are free");
  add_case(&report, "scale/sum", -1, KW_OUTCOME_NOT_TRIED, "scale needs 12.5 GiB");
  add_case(&report, "scale/sort", -1, KW_OUTCOME_NOT_TRIED, "scale needs 12 GiB");
  has_verdict(&report,
              "conformant (claims, 0 of 303 ops; not tried: late errors not tested, scale needs 12.5 GiB (3 cases))");
  assert_int_equal(kw_report_exit_code(&report), 0);
  char *tap = kw_report_text(&report, kw_report_put_tap), *junit = kw_report_text(&report, kw_report_put_junit);
  char *table = kw_report_text(&report, put_whole_table), *json = kw_report_text(&report, kw_report_put_json);
  char *html = kw_report_text(&report, kw_report_put_html), *markdown = kw_report_text(&report, kw_report_put_markdown);
  contains(tap, "ok 2 - fault/late # SKIP not tried: late errors not tested; npu has no keyway.test/1\n");
  contains(tap, "# summary: conformant (claims, 0 of 303 ops; not tried: late errors");
  contains(junit, "<skipped message=\"not tried\">scale needs 6 GiB; 3.1 GiB are free</skipped>");
  contains(junit, "failures=\"0\" errors=\"0\" skipped=\"4\"");
  contains(table, "not tried scale/copy: scale needs 6 GiB");
  contains(table, "): 1 of 5 cases pass, 4 not tried\n");
  contains(json, "\"inconclusive\": 0, \"not_tried\": 4");
  contains(json, "\"summary\": \"conformant (claims, 0 of 303 ops; not tried: late");
  contains(html, "<th>not tried</th>");
  contains(html, "scale needs 12.5 GiB (3 cases)");
  contains(markdown, "| scale | 3 | 0 | 0 | 3 |");
  char *const texts[] = {tap, junit, table, json, html, markdown};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  add_gap(&report, "acme::turn", "it takes no tensor");
  add_op(&report, "acme::twist", "i8", 0);
  add_op(&report, "keyway::clipped", "f32", 0); /* of the table, too */
  add_op(&report, "neg", "i8", 0);
  add_op(&report, "neg", "f32", 0);
  has_verdict(&report,
              "conformant (claims, 2 of 303 ops and 1 of its own; not tried: late errors not tested, scale needs "
              "12.5 GiB (3 cases); no cases: acme::turn: it takes no tensor)");
  kw_report_free(&report);

  begin(&report, NASTY);
  add_case(&report, "scale/copy", -1, KW_OUTCOME_NOT_TRIED, "scale needs 6 GiB");
  assert_int_equal(kw_report_exit_code(&report), 2); /* nothing passed */
  kw_report_free(&report);
}

/* What a run with --fail-fast ended at may turn out to be inconclusive: then nothing is known of what it did not come
 * to. */
static void ended_by_what_is_inconclusive(void **state) {
  (void)state;
  kw_report report;
  begin(&report, "");
  add_case(&report, "memory/zero_size", -1, KW_OUTCOME_PASS, "");
  add_case(&report, "stream/order", -1, KW_OUTCOME_INCONCLUSIVE, "no answer within 60 s");
  add_case(&report, "stream/query", -1, KW_OUTCOME_NONE, "");
  assert_int_equal(kw_report_total(&report).verdict, KW_VERDICT_INCONCLUSIVE);
  assert_int_equal(kw_report_exit_code(&report), 4);
  has_verdict(&report, "inconclusive (claims, 0 of 303 ops)");
  report.fallbacks = 1;
  assert_int_equal(kw_report_exit_code(&report), 1);
  report.fallbacks = 0;
  add_case(&report, "stream/others_go_on", -1, KW_OUTCOME_FAIL, "they do not");
  assert_int_equal(kw_report_exit_code(&report), 1);
  kw_report_free(&report);
}

/* A run that was stopped has a verdict of its own, and what it did not come to is no failure. */
static void stopped_runs_are_not_finished(void **state) {
  (void)state;
  kw_report report;
  begin(&report, "");
  add_case(&report, "memory/zero_size", -1, KW_OUTCOME_PASS, "");
  add_case(&report, "memory/limits", -1, KW_OUTCOME_NONE, "");
  assert_int_equal(kw_report_exit_code(&report), 1); /* as --fail-fast leaves it */
  report.stopped = SIGINT;
  assert_int_equal(kw_report_exit_code(&report), 130);
  has_verdict(&report, "not finished (claims, 0 of 303 ops)");
  char *tap = kw_report_text(&report, kw_report_put_tap), *junit = kw_report_text(&report, kw_report_put_junit);
  char *table = kw_report_text(&report, put_whole_table), *json = kw_report_text(&report, kw_report_put_json);
  contains(tap, "ok 2 - memory/limits # SKIP not run\nBail out! stopped before it was done\n");
  contains(junit, "<skipped message=\"not run\">");
  contains(table, "): 1 of 2 cases pass, 1 not run\n");
  contains(json, "\"fail\": 0, ");
  contains(json, "\"not_run\": 1");
  assert_null(strstr(table, "fail "));
  char *const texts[] = {tap, junit, table, json};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  report.stopped = SIGTERM;
  assert_int_equal(kw_report_exit_code(&report), 143);
  kw_report_free(&report);
}

/* A failure that is gone when its case runs alone says so, and its replay makes the calls before. */
static void replays_make_the_calls_before(void **state) {
  (void)state;
  static void (*const formats[])(const kw_report *, FILE *) = {kw_report_put_json, kw_report_put_junit,
                                                               kw_report_put_tap, kw_report_put_html, put_whole_table};
  static const char before[] = "--seed 7 --after 'neg/f32/one/0#1' --case 'add.Tensor/f32/prime/1'";
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    kw_report report = everything();
    kw_report_case *c = &report.cases[6];
    assert_string_equal(c->id, "add.Tensor/f32/prime/1");
    c->passes_alone = true;
    char *text = kw_report_text(&report, formats[i]);
    contains(text, formats[i] == kw_report_put_json ? "\"passes_alone\": true" : "it depends on time");
    assert_null(strstr(text, "--after 'neg"));
    free(text);
    c->after = kw_text_clean("neg/f32/one/0#1");
    text = kw_report_text(&report, formats[i]);
    contains(text, before);
    if (formats[i] != kw_report_put_json) contains(text, "passes alone; fails again behind the calls");
    free(text);
    kw_report_free(&report);
  }
}

static void histogram_bins(void **state) {
  (void)state;
  static const double errors[] = {0, 1e-9, 2 * 0x1p-8, 2 * 0x1.1p-8, 2 * 0x1p-7, 1.0, 1.01, 2.0, 2.01, INFINITY};
  static const uint32_t wanted[KW_REPORT_BINS] = {1, 2, 2, 0, 0, 0, 0, 0, 1, 2, 2};
  kw_report report;
  begin(&report, NASTY);
  add_op(&report, "add.Tensor", "f32", 2);
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    add_case(&report, "add.Tensor/f32/prime/0", 0, KW_OUTCOME_PASS, "")->error = errors[i];
  }
  uint32_t bins[KW_REPORT_BINS];
  kw_report_histogram(&report, 0, bins);
  assert_memory_equal(bins, wanted, sizeof bins);
  kw_report_free(&report);
}

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

/* Whether what is read back from JSON is the same report in all formats. */
static void check_read_back(const kw_report *report) {
  kw_report again;
  char message[256] = "";
  char *json = kw_report_text(report, kw_report_put_json);
  assert_true(kw_text_write_file(path_of("report.json"), json));
  if (!kw_report_read(path_of("report.json"), &again, message, sizeof message)) fail_msg("%s", message);
  static void (*const formats[])(const kw_report *, FILE *) = {kw_report_put_json,     kw_report_put_junit,
                                                               kw_report_put_tap,      kw_report_put_html,
                                                               kw_report_put_markdown, put_whole_table};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    char *first = kw_report_text(report, formats[i]), *second = kw_report_text(&again, formats[i]);
    assert_string_equal(first, second);
    free(first);
    free(second);
  }
  free(json);
  kw_report_free(&again);
}

static void json_holds_everything(void **state) {
  (void)state;
  kw_report report = everything();
  check_read_back(&report);
  report.cases[6].smallest_tensors[0] = 0; /* an op without tensors */
  check_read_back(&report);
  kw_report_free(&report);
}

/* Each member of a report is missed, and a wrong value of it is refused by name. */
static void unusable_json_is_refused(void **state) {
  (void)state;
  static const char *const edits[][3] = {
      {"\"format\": 1", "\"format\": 2", "\"format\""},
      {"\"device\"", "\"devise\"", "\"device\""},
      {"\"seed\": \"1", "\"seed\": \"x", "\"seed\""},
      {"\"shard\": 1", "\"shard\": 2", "\"shard\""},
      {"aaaaaa", "aaaaaG", "\"plugin_sha256\""},
      {"\"outcome\": \"crash\"", "\"outcome\": \"crisp\"", "\"outcome\""},
      {"\"bound\": 2", "\"bound\":-2", "\"bound\""},
      {"{\"case\": \"acme::twist/i8/one/0\"", "{\"case\": \"acme::twist/i9/one/0\"", "\"case\""},
      {"{\n", "[\n", "is no JSON report"}};
  kw_report report = everything(), again;
  char *json = kw_report_text(&report, kw_report_put_json), message[256];
  for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
    char *at = NULL; /* the last place, past the list of failures */
    for (char *p = json; (p = strstr(p, edits[i][0])); p++) {
      at = p;
      if (edits[i][0][0] == '{' && edits[i][0][1] == '\n') break;
    }
    assert_non_null(at);
    size_t length = strlen(edits[i][0]);
    char saved[64];
    memcpy(saved, at, length);
    memcpy(at, edits[i][1], length);
    assert_true(kw_text_write_file(path_of("bad.json"), json));
    memcpy(at, saved, length);
    if (kw_report_read(path_of("bad.json"), &again, message, sizeof message)) fail_msg("%s was taken", edits[i][1]);
    contains(message, edits[i][2]);
    contains(message, "bad.json");
  }
  assert_false(kw_report_read(path_of("missing.json"), &again, message, sizeof message));
  contains(message, "No such file");
  free(json);
  kw_report_free(&report);
}

static void junit_follows_its_schema(void **state) {
  (void)state;
#ifdef KEYWAY_XMLLINT
  kw_report report = everything();
  char *junit = kw_report_text(&report, kw_report_put_junit), command[512];
  assert_true(kw_text_write_file(path_of("report.xml"), junit));
  snprintf(command, sizeof command, KEYWAY_XMLLINT " --noout --schema '%s' '%s' 2>&1", KEYWAY_JUNIT_XSD,
           path_of("report.xml"));
  free(output_of(command));
  static const char *const counts[][2] = {{"string(/testsuites/@tests)", "11"},
                                          {"string(/testsuites/@failures)", "3"},
                                          {"string(/testsuites/@errors)", "2"},
                                          {"string(/testsuites/@skipped)", "2"},
                                          {"count(//testcase)", "11"},
                                          {"count(//testcase/failure)", "3"},
                                          {"count(//testcase/error)", "2"},
                                          {"count(//testcase/skipped)", "2"},
                                          {"count(//testsuite)", "6"},
                                          {"count(//property[@name='plugin_sha256'])", "6"},
                                          {"string(//testcase[@name='query']/failure)", NASTY_CLEAN}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    snprintf(command, sizeof command, KEYWAY_XMLLINT " --xpath \"%s\" '%s'", counts[i][0], path_of("report.xml"));
    char *output = output_of(command);
    assert_true(strncmp(output, counts[i][1], strlen(counts[i][1])) == 0);
    free(output);
  }
  contains(junit,
           "replay: keyway conform --device npu:0 --plugin './a&amp;b.so' --seed 7 --after 'stream/order#0' --case "
           "'stream/query'");
  free(junit);
  kw_report_free(&report);
#else
  print_message("xmllint was not found: install libxml2-utils\n");
  skip();
#endif
}

static void tap_is_read_by_its_parser(void **state) {
  (void)state;
#ifdef KEYWAY_PERL
  kw_report report = everything();
  kw_report_case *known = add_case(&report, "acme::twist/i8/prime/3", 1, KW_OUTCOME_FAIL, "");
  known->expected = kw_text_clean(NASTY);
  char *tap = kw_report_text(&report, kw_report_put_tap), command[1024];
  assert_true(kw_text_write_file(path_of("report.tap"), tap));
  snprintf(command, sizeof command,
           KEYWAY_PERL
           " -MTAP::Parser -e 'my $p = TAP::Parser->new({source => $ARGV[0]}); my $y = 0;"
           " while (my $r = $p->next) { $y++ if $r->is_yaml and $r->data->{replay}; }"
           " print join \" \", scalar($p->passed), scalar($p->failed), scalar($p->skipped),"
           " scalar($p->todo), $p->tests_planned, $y, $p->parse_errors' '%s'",
           path_of("report.tap"));
  char *output = output_of(command);
  assert_string_equal(output, "7 5 2 1 12 6"); /* to a parser, what is still to do passes */
  contains(tap, "# plugin sha256: aaaa");
  contains(tap, "ok 2 - memory/limits # SKIP a ?[31mred? <tag attr=\"1\"> & 'both' \\# hash \\\\ back second line");
  free(output);
  free(tap);
  kw_report_free(&report);
#else
  print_message("perl with TAP::Parser was not found: install perl\n");
  skip();
#endif
}

static void table_names_the_verdict(void **state) {
  (void)state;
  kw_report report = everything();
  char *table = kw_report_text(&report, put_whole_table);
  contains(table, "verdict: not conformant (claims, 1 of 303 ops and 1 of its own; not tried: a ?[31mred?");
  contains(table, "; no cases: acme::turn: a ?[31mred? <tag attr=\"1\"> & 'both' # hash \\ back second line");
  contains(table,
           "): 4 of 11 cases pass, 2 fail, 1 crash, 1 timeout, 1 unimplemented, 1 not applicable, 1 not tried\n");
  contains(table, "seed 18446744073709551615");
  contains(table, report.plugin_hash);
  contains(table, report.tolerance_hash);
  contains(table, report.case_hash);
  contains(table, "smallest failing: add.Tensor/f32/prime/1@2, on f32 [2], f32 [2]");
  assert_null(strchr(table, '\x1b'));
  free(table);
  kw_report_free(&report);
}

static void page_stands_alone(void **state) {
  (void)state;
  kw_report report = everything();
  char *html = kw_report_text(&report, kw_report_put_html);
  static const char *const outside[] = {"http", "src=", "<script", "<link", "url(", "@import"};
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) assert_null(strstr(html, outside[i]));
  contains(html, report.plugin_hash);
  contains(html, "<h2>Coverage</h2>");
  contains(html, "<td class=\"bad\">2/3</td>");                  /* add.Tensor in f32 */
  contains(html, "&lt;tag attr=&quot;1&quot;&gt; &amp; 'both'"); /* nothing of a message is markup */
  contains(html, "--case 'add.Tensor/f32/prime/1'");
  contains(html, "<title>beyond the bound: 1</title>");
  contains(html, "<summary>acme::twist: 1 case</summary><p class=\"id\">acme::twist/i8/prime/1 </p>");
#ifdef KEYWAY_XMLLINT
  char command[256];
  assert_true(kw_text_write_file(path_of("report.html"), html));
  snprintf(command, sizeof command, KEYWAY_XMLLINT " --noout '%s' 2>&1", path_of("report.html")); /* it is XML, too */
  free(output_of(command));
#endif
  free(html);
  kw_report_free(&report);
}

/* The cases of `report` that belong to a shard, as a run with --shard would give them. */
static kw_report shard_of(const kw_report *whole, uint32_t shard, uint32_t shards) {
  kw_report report;
  begin(&report, NASTY);
  report.shard = shard;
  report.shards = shards;
  for (uint32_t i = shard - 1; i < whole->case_count; i += shards) {
    const kw_report_case *c = &whole->cases[i];
    const kw_report_op *op = c->op < 0 ? NULL : &whole->ops[c->op];
    kw_report_op *last = report.op_count ? &report.ops[report.op_count - 1] : NULL;
    if (op && (!last || strcmp(last->name, op->name) != 0)) add_op(&report, op->name, op->dtype, op->bound);
    add_case(&report, c->id, op ? (int)report.op_count - 1 : -1, c->outcome, c->text);
  }
  memcpy(report.case_hash, whole->case_hash, KW_DIGEST_SIZE);
  return report;
}

static void shards_merge_in_any_order(void **state) {
  (void)state;
  kw_report whole = everything(), merged;
  char message[256] = "";
  kw_report_hash_cases(&whole, whole.case_hash);
  for (uint32_t shards = 1; shards <= 12; shards++) { /* 12: one has no case */
    kw_report parts[12];
    for (uint32_t s = 0; s < shards; s++) parts[s] = shard_of(&whole, (s + 2) % shards + 1, shards);
    if (!kw_report_merge(parts, shards, &merged, message, sizeof message)) fail_msg("%s", message);
    assert_int_equal(merged.case_count, whole.case_count);
    assert_int_equal(merged.op_count, whole.op_count);
    assert_int_equal(merged.launches, shards * whole.launches);
    assert_int_equal(merged.expectations, shards * whole.expectations);
    for (uint32_t i = 0; i < whole.case_count; i++) {
      assert_string_equal(merged.cases[i].id, whole.cases[i].id);
      assert_string_equal(merged.cases[i].text, whole.cases[i].text);
      assert_int_equal(merged.cases[i].outcome, whole.cases[i].outcome);
      assert_int_equal(merged.cases[i].op, whole.cases[i].op);
    }
    kw_report_free(&merged);
    for (uint32_t s = 0; s < shards; s++) kw_report_free(&parts[s]);
  }
  kw_report_free(&whole);
}

/* Each way in which reports are not the parts of one run. */
static void foreign_shards_are_refused(void **state) {
  (void)state;
  static const char *const wanted[] = {
      "suite version",     "device 'b'", "plugin hash",          "tolerance table hash",
      "case set hash",     "seed '2'",   "number of shards '3'", "shard 1 of 2 is there twice",
      "a file was changed"};
  kw_report whole = everything(), merged;
  kw_report_hash_cases(&whole, whole.case_hash);
  for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    kw_report parts[2] = {shard_of(&whole, 1, 2), shard_of(&whole, 2, 2)};
    char **text = i == 0 ? &parts[1].suite_version : i == 1 ? &parts[1].device : i == 8 ? &parts[1].cases[0].id : NULL;
    if (text) (*text)[0] = 'b', (*text)[1] = 0;
    if (i == 2) parts[1].plugin_hash[0] = '0';
    if (i == 3) parts[1].tolerance_hash[0] = '0';
    if (i == 4) parts[1].case_hash[0] ^= 1;
    if (i == 5) parts[1].seed = 2;
    if (i == 6) parts[1].shards = 3;
    if (i == 7) parts[1].shard = 1;
    char message[256] = "";
    if (kw_report_merge(parts, 2, &merged, message, sizeof message)) fail_msg("merged in spite of %s", wanted[i]);
    contains(message, wanted[i]);
    kw_report_free(&parts[0]);
    kw_report_free(&parts[1]);
  }
  kw_report_free(&whole);
}

static int set_up(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  static const char *const names[] = {"report.json", "bad.json", "report.xml", "report.tap", "report.html"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unlink(path_of(names[i]));
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dirty_text_becomes_clean),
      cmocka_unit_test(verdict_counts_every_outcome),
      cmocka_unit_test(nothing_tried_is_not_judged),
      cmocka_unit_test(known_failures_are_no_passes),
      cmocka_unit_test(histogram_bins),
      cmocka_unit_test(inconclusive_is_neither),
      cmocka_unit_test(untried_stands_in_the_verdict),
      cmocka_unit_test(ended_by_what_is_inconclusive),
      cmocka_unit_test(stopped_runs_are_not_finished),
      cmocka_unit_test(replays_make_the_calls_before),
      cmocka_unit_test(json_holds_everything),
      cmocka_unit_test(unusable_json_is_refused),
      cmocka_unit_test(junit_follows_its_schema),
      cmocka_unit_test(tap_is_read_by_its_parser),
      cmocka_unit_test(table_names_the_verdict),
      cmocka_unit_test(page_stands_alone),
      cmocka_unit_test(shards_merge_in_any_order),
      cmocka_unit_test(foreign_shards_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
