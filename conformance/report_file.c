/* SPDX-License-Identifier: Apache-2.0
 *
 * The reports that programs read: JSON and JUnit XML. The same seed gives the same bytes.
 */
#include "compare.h"
#include "run.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes a whole file beside its place first, so that nobody ever reads half of it. "-" is stdout. */
static bool write_file(const char *path, const char *text) {
  if (strcmp(path, "-") == 0) {
    bool good = fputs(text, stdout) >= 0;
    return fflush(stdout) == 0 && good;
  }
  char temporary[PATH_MAX];
  if (snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid()) >= (int)sizeof temporary) {
    errno = ENAMETOOLONG;
    return false;
  }
  FILE *file = fopen(temporary, "w");
  if (!file) return false;
  bool good = fputs(text, file) >= 0;
  good = fclose(file) == 0 && good;
  if (good && rename(temporary, path) == 0) return true;
  int error = errno;
  unlink(temporary);
  errno = error;
  return false;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void add_counts(const kw_run *run, cJSON *root) {
  kw_run_totals totals = kw_run_total(run);
  cJSON *counts = cJSON_AddObjectToObject(root, "counts");
  cJSON_AddNumberToObject(counts, "pass", totals.counts[KW_OUTCOME_PASS]);
  cJSON_AddNumberToObject(counts, "fail", totals.counts[KW_OUTCOME_FAIL]);
  cJSON_AddNumberToObject(counts, "crash", totals.counts[KW_OUTCOME_CRASH]);
  cJSON_AddNumberToObject(counts, "timeout", totals.counts[KW_OUTCOME_TIMEOUT]);
  cJSON_AddNumberToObject(counts, "unimplemented", totals.counts[KW_OUTCOME_UNIMPLEMENTED]);
  cJSON_AddNumberToObject(counts, "expected_fail", 0); /* no list of known failures was given */
  cJSON_AddNumberToObject(counts, "unexpected_pass", 0);
  cJSON_AddNumberToObject(counts, "not_applicable", totals.counts[KW_OUTCOME_SKIP]);
  cJSON_AddNumberToObject(counts, "self_referenced", totals.self_referenced);
}

/* Cases of one op and dtype are neighbours: [first, *io_end). */
static void add_op(const kw_run *run, uint32_t first, uint32_t *io_end, cJSON *ops) {
  const kw_run_case *c = &run->cases[first];
  uint32_t pass = 0, end = first;
  double error = 0;
  for (; end < run->case_count && run->cases[end].op == c->op && run->cases[end].dtype == c->dtype; end++) {
    pass += run->cases[end].outcome == KW_OUTCOME_PASS;
    if (run->cases[end].error > error) error = run->cases[end].error;
  }
  cJSON *op = cJSON_CreateObject();
  cJSON_AddItemToArray(ops, op);
  cJSON_AddStringToObject(op, "op", c->op->op.name);
  cJSON_AddStringToObject(op, "dtype", kw_datum_name(c->dtype));
  cJSON_AddNumberToObject(op, "cases", end - first);
  cJSON_AddNumberToObject(op, "pass", pass);
  if (isfinite(error)) {
    cJSON_AddNumberToObject(op, "max_error", error);
  } else {
    cJSON_AddNullToObject(op, "max_error"); /* a wrong value where only one is right */
  }
  cJSON_AddNumberToObject(op, "bound", kw_rule_bound(&c->op->op.row));
  cJSON_AddStringToObject(op, "unit", kw_rule_unit(&c->op->op.row));
  *io_end = end;
}

static void add_failure(const kw_run *run, const kw_run_case *c, cJSON *failures) {
  char replay[1024];
  kw_run_replay(run, c, replay, sizeof replay);
  cJSON *failure = cJSON_CreateObject();
  cJSON_AddItemToArray(failures, failure);
  cJSON_AddStringToObject(failure, "case", c->id);
  cJSON_AddStringToObject(failure, "outcome", kw_outcome_name(c->outcome));
  cJSON_AddStringToObject(failure, "defect", c->defect);
  cJSON_AddStringToObject(failure, "text", c->text ? c->text : "");
  cJSON_AddStringToObject(failure, "replay", replay);
}

static void add_contract(const kw_run_case *c, cJSON *contract) {
  cJSON *test = cJSON_CreateObject();
  cJSON_AddItemToArray(contract, test);
  cJSON_AddStringToObject(test, "test", c->id);
  cJSON_AddStringToObject(test, "outcome", kw_outcome_name(c->outcome));
  if (c->text) cJSON_AddStringToObject(test, "text", c->text);
}

bool kw_report_json(const kw_run *run, const char *path) {
  kw_run_totals totals = kw_run_total(run);
  char text[64], level[128];
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "suite", KEYWAY_VERSION);
  cJSON_AddStringToObject(root, "device", run->facts.device);
  cJSON_AddStringToObject(root, "product", run->facts.product);
  cJSON_AddBoolToObject(root, "emulated", run->facts.emulated);
  if (run->options->level.text) {
    cJSON_AddStringToObject(root, "level", run->options->level.text);
  } else {
    cJSON_AddNullToObject(root, "level");
  }
  kw_report_level(run, level, sizeof level);
  cJSON_AddStringToObject(root, "scope", level);
  cJSON_AddStringToObject(root, "verdict", totals.conformant ? "conformant" : "not conformant");
  add_counts(run, root);
  cJSON_AddNumberToObject(root, "fallbacks", (double)run->fallbacks);
  cJSON_AddNumberToObject(root, "decomposed", (double)run->decomposed);
  cJSON_AddNumberToObject(root, "launches", (double)run->launches);
  snprintf(text, sizeof text, "%016" PRIx64, run->case_set_hash);
  cJSON_AddStringToObject(root, "case_set_hash", text);
  snprintf(text, sizeof text, "%" PRIu64, run->options->seed);
  cJSON_AddRawToObject(root, "seed", text);
  cJSON *ops = cJSON_AddArrayToObject(root, "ops");
  cJSON *contract = cJSON_AddArrayToObject(root, "contract");
  cJSON *failures = cJSON_AddArrayToObject(root, "failures");
  cJSON *unclaimed = cJSON_AddArrayToObject(root, "unclaimed");
  for (uint32_t i = 0; i < run->case_count;) {
    uint32_t end = i + 1;
    if (run->cases[i].op) {
      add_op(run, i, &end, ops);
    } else {
      add_contract(&run->cases[i], contract);
    }
    i = end;
  }
  for (uint32_t i = 0; i < run->case_count; i++) {
    const kw_run_case *c = &run->cases[i];
    if (c->outcome != KW_OUTCOME_PASS && c->outcome != KW_OUTCOME_SKIP) add_failure(run, c, failures);
  }
  for (uint32_t i = 0; i < run->unclaimed_count; i++) {
    cJSON_AddItemToArray(unclaimed, cJSON_CreateString(run->unclaimed[i]));
  }
  char *printed = cJSON_Print(root);
  cJSON_Delete(root);
  if (!printed) {
    errno = ENOMEM;
    return false;
  }
  size_t length = strlen(printed);
  char *whole = realloc(printed, length + 2);
  if (whole) memcpy(whole + length, "\n", 2);
  bool good = whole && write_file(path, whole);
  free(whole ? whole : printed);
  return good;
}

/* ---- JUnit ------------------------------------------------------------------------------------------------------- */

/* Text for an attribute or an element: markup escaped, what XML 1.0 has no room for replaced. */
static void put_escaped(FILE *out, const char *text) {
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    switch (*p) {
      case '&':
        fputs("&amp;", out);
        break;
      case '<':
        fputs("&lt;", out);
        break;
      case '>':
        fputs("&gt;", out);
        break;
      case '"':
        fputs("&quot;", out);
        break;
      case '\n':
      case '\t':
        fputc(' ', out);
        break;
      default:
        fputc(*p < 0x20 || *p > 0x7e ? '?' : *p, out);
    }
  }
}

static void put_case(const kw_run *run, const kw_run_case *c, FILE *out) {
  const char *slash = strchr(c->id, '/');
  fprintf(out, "    <testcase classname=\"%.*s\" name=\"", (int)(slash - c->id), c->id);
  put_escaped(out, slash + 1);
  if (c->outcome == KW_OUTCOME_PASS) {
    fputs("\"/>\n", out);
    return;
  }
  bool error = c->outcome == KW_OUTCOME_CRASH || c->outcome == KW_OUTCOME_TIMEOUT;
  const char *tag = c->outcome == KW_OUTCOME_SKIP ? "skipped" : error ? "error" : "failure";
  fprintf(out, "\">\n      <%s message=\"", tag);
  put_escaped(out, *c->defect ? c->defect : kw_outcome_name(c->outcome));
  fputs("\">", out);
  put_escaped(out, c->text ? c->text : "");
  if (c->outcome != KW_OUTCOME_SKIP) {
    char replay[1024];
    kw_run_replay(run, c, replay, sizeof replay);
    fputs(" | ", out);
    put_escaped(out, replay);
  }
  fprintf(out, "</%s>\n    </testcase>\n", tag);
}

bool kw_report_junit(const kw_run *run, const char *path) {
  kw_run_totals totals = kw_run_total(run);
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return false;
  uint32_t errors = totals.counts[KW_OUTCOME_CRASH] + totals.counts[KW_OUTCOME_TIMEOUT];
  uint32_t failures = totals.counts[KW_OUTCOME_FAIL] + totals.counts[KW_OUTCOME_UNIMPLEMENTED];
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
  fputs("  <testsuite name=\"keyway conform ", out);
  put_escaped(out, run->facts.device);
  fprintf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n", run->case_count, failures, errors,
          totals.counts[KW_OUTCOME_SKIP]);
  for (uint32_t i = 0; i < run->case_count; i++) put_case(run, &run->cases[i], out);
  fputs("  </testsuite>\n</testsuites>\n", out);
  bool good = fclose(out) == 0 && write_file(path, text);
  free(text);
  return good;
}
