/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON report: one line per op and dtype, and per case, so that two of them can be compared with diff. It holds all
 * of a report; what the other formats show is worked out from it again.
 */
#include "base/need.h"
#include "report/formats.h"

#include "base/text.h"
#include "report/accuracy.h"
#include "report/put_text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1          /* of the file; a reader takes no other */
#define MAX_SHARDS 100000 /* as --shard has it */

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *key, const char *text) {
  fprintf(out, "\"%s\": ", key);
  kw_text_put_json(out, text);
}

/* The same behind another member. */
static void put_next(FILE *out, const char *key, const char *text) {
  fputs(", ", out);
  put_text(out, key, text);
}

/* "key": "text", null for an empty one, and the comma, on a line of its own. */
static void put_member(FILE *out, const char *key, const char *text) {
  fputc('\t', out);
  if (*text) {
    put_text(out, key, text);
  } else {
    fprintf(out, "\"%s\": null", key);
  }
  fputs(",\n", out);
}

/* JSON has no infinity: null. */
static void put_error(FILE *out, const char *key, double error) {
  if (isfinite(error)) {
    fprintf(out, ", \"%s\": %.6g", key, error);
  } else {
    fprintf(out, ", \"%s\": null", key);
  }
}

static void put_counts(const kw_report *report, FILE *out) {
  kw_report_totals t = kw_report_total(report);
  fprintf(out, "\t\"counts\": {\"cases\": %u, \"pass\": %u, \"fail\": %u, \"crash\": %u, \"timeout\": %u, ",
          report->case_count, t.counts[KW_OUTCOME_PASS], t.counts[KW_OUTCOME_FAIL], t.counts[KW_OUTCOME_CRASH],
          t.counts[KW_OUTCOME_TIMEOUT]);
  fprintf(out, "\"unimplemented\": %u, \"not_applicable\": %u, \"expected_fail\": %u, \"unexpected_pass\": %u, ",
          t.counts[KW_OUTCOME_UNIMPLEMENTED], t.counts[KW_OUTCOME_SKIP], t.expected_failures, t.unexpected_passes);
  fprintf(out, "\"inconclusive\": %u, \"not_tried\": %u, \"not_run\": %u, ", t.counts[KW_OUTCOME_INCONCLUSIVE],
          t.counts[KW_OUTCOME_NOT_TRIED], t.counts[KW_OUTCOME_NONE]);
  fprintf(out, "\"self_referenced\": %u, \"unreferenced\": %u, ", t.self_referenced, t.unreferenced);
  fprintf(out, "\"tf32\": %u, \"fast\": %u},\n", t.tf32, t.fast);
}

static void put_line(const kw_report_line *l, FILE *out) {
  fprintf(out, "\"cases\": %u, \"pass\": %u, \"failed\": %u, \"unimplemented\": %u, \"not_applicable\": %u", l->cases,
          l->pass, l->failed, l->unimplemented, l->skipped);
  fprintf(out, ", \"inconclusive\": %u, \"not_tried\": %u, \"not_run\": %u", l->inconclusive, l->untried, l->unrun);
}

static void put_suites(const kw_report *report, FILE *out) {
  uint32_t count;
  kw_report_line *lines = kw_report_lines(report, &count);
  fputs("\t\"suites\": [", out);
  for (uint32_t i = 0; i < count; i++) {
    fprintf(out, "%s\n\t\t{\"suite\": \"%.*s\", ", i ? "," : "", lines[i].length, lines[i].name);
    put_line(&lines[i], out);
    fprintf(out, ", \"seconds\": %.6f}", lines[i].seconds);
  }
  fputs("\n\t],\n", out);
  free(lines);
}

/* "classes": {"scalar": 1, "prime": 8} of the cases [first, end). */
static void put_classes(const kw_report *report, uint32_t first, uint32_t end, FILE *out) {
  fputs(", \"classes\": {", out);
  for (uint32_t i = first; i < end;) {
    int length, other;
    const char *name = kw_report_case_class(&report->cases[i], &length);
    uint32_t next = i + 1;
    for (; next < end; next++) {
      const char *class = kw_report_case_class(&report->cases[next], &other);
      if (other != length || memcmp(class, name, (size_t)length) != 0) break;
    }
    fprintf(out, "%s\"%.*s\": %u", i > first ? ", " : "", length, name, next - i);
    i = next;
  }
  fputc('}', out);
}

static void put_op(const kw_report *report, uint32_t first, uint32_t *out_end, FILE *out) {
  int index = report->cases[first].op;
  const kw_report_op *op = &report->ops[index];
  kw_report_line line = {0};
  double error = 0;
  uint32_t end = first, bins[KW_REPORT_BINS];
  for (; end < report->case_count && report->cases[end].op == index; end++) {
    kw_report_line_add(&line, report, &report->cases[end]);
    if (report->cases[end].error > error) error = report->cases[end].error;
  }
  fputs("\n\t\t{", out);
  put_text(out, "op", op->name);
  put_next(out, "dtype", op->dtype);
  put_next(out, "family", op->family);
  fputs(", ", out);
  put_line(&line, out);
  put_error(out, "max_error", error);
  fprintf(out, ", \"bound\": %.6g", op->bound);
  put_next(out, "unit", op->unit);
  kw_report_histogram(report, index, bins);
  fputs(", \"errors\": [", out);
  for (uint32_t i = 0; i < KW_REPORT_BINS; i++) fprintf(out, i ? ", %u" : "%u", bins[i]);
  fputc(']', out);
  put_classes(report, first, end, out);
  fprintf(out, ", \"seconds\": %.6f}", line.seconds);
  *out_end = end;
}

static void put_ops(const kw_report *report, FILE *out) {
  fputs("\t\"ops\": [", out);
  bool any = false;
  for (uint32_t i = 0; i < report->case_count;) {
    uint32_t end = i + 1;
    if (report->cases[i].op >= 0) {
      if (any) fputc(',', out);
      put_op(report, i, &end, out);
      any = true;
    }
    i = end;
  }
  fputs("\n\t],\n", out);
}

static void put_accuracy(const kw_report *report, FILE *out) {
  uint32_t count;
  kw_accuracy_line *lines = kw_report_accuracy(report, &count);
  if (count > 0) fputs("\t\"accuracy\": [", out);
  for (uint32_t i = 0; i < count; i++) {
    const kw_accuracy_line *l = &lines[i];
    fputs(i ? ",\n\t\t{" : "\n\t\t{", out);
    put_text(out, "op", l->op->name);
    put_next(out, "dtype", l->op->dtype);
    put_next(out, "form", l->form);
    put_next(out, "unit", l->op->unit);
    put_next(out, "promised", l->bound);
    put_next(out, "worst", l->worst);
    fprintf(out, ", \"exhaustive\": %s, \"blocks\": %u, \"failed\": %u, \"patterns\": %" PRIu64 ", \"bound\": %.6g",
            l->patterns && l->blocks == l->of ? "true" : "false", l->blocks, l->failed, (uint64_t)l->blocks * l->size,
            l->op->bound);
    put_error(out, "max_error", l->error);
    fputc('}', out);
  }
  if (count > 0) fputs("\n\t],\n", out);
  free(lines);
}

static void put_case(const kw_report *report, const kw_report_case *c, FILE *out) {
  fputc('{', out);
  put_text(out, "case", c->id);
  fprintf(out, ", \"outcome\": \"%s\"", kw_outcome_name(c->outcome));
  if (c->error != 0) put_error(out, "error", c->error);
  if (c->self_referenced) fputs(", \"self_referenced\": true", out);
  if (c->unreferenced) fputs(", \"unreferenced\": true", out);
  if (c->tf32) fputs(", \"tf32\": true", out);
  if (c->fast) fputs(", \"fast\": true", out);
  if (c->passes_alone) fputs(", \"passes_alone\": true", out);
  const char *const keys[] = {"worst", "defect", "text", "expected", "smallest", "smallest_tensors", "after"};
  const char *const texts[] = {c->worst, c->defect, c->text, c->expected, c->smallest, c->smallest_tensors, c->after};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (texts[i] && *texts[i]) put_next(out, keys[i], texts[i]);
  }
  if (kw_report_case_is_failure(c)) {
    char *replay = kw_report_replay(report, c);
    put_next(out, "replay", replay);
    free(replay);
  }
  fprintf(out, ", \"seconds\": %.6f}", c->seconds);
}

static bool is_unimplemented(const kw_report_case *c) {
  return c->outcome == KW_OUTCOME_UNIMPLEMENTED;
}

/* All cases, or those that are `wanted` once more. */
static void put_cases(const kw_report *report, const char *key, bool (*wanted)(const kw_report_case *), FILE *out) {
  fprintf(out, "\t\"%s\": [", key);
  bool any = false;
  for (uint32_t i = 0; i < report->case_count; i++) {
    if (wanted && !wanted(&report->cases[i])) continue;
    fputs(any ? ",\n\t\t" : "\n\t\t", out);
    put_case(report, &report->cases[i], out);
    any = true;
  }
  fputs("\n\t]", out);
}

static void put_gaps(const kw_report *report, FILE *out) {
  fputs("\t\"no_cases\": [", out);
  for (uint32_t i = 0; i < report->gap_count; i++) {
    fputs(i ? ", {" : "{", out);
    put_text(out, "op", report->gaps[i].op);
    put_next(out, "why", report->gaps[i].why);
    fputc('}', out);
  }
  fputs("],\n", out);
}

void kw_report_put_json(const kw_report *report, FILE *out) {
  fprintf(out, "{\n\t\"format\": %d,\n", FORMAT);
  put_member(out, "suite", report->suite_version);
  put_member(out, "op_set", report->op_set_version);
  put_member(out, "device", report->device);
  put_member(out, "product", report->product);
  fprintf(out, "\t\"emulated\": %s,\n", report->emulated ? "true" : "false");
  put_member(out, "level", report->level);
  put_member(out, "scope", report->scope);
  put_member(out, "chosen", report->chosen);
  put_member(out, "verdict", kw_report_verdict_name(kw_report_total(report).verdict));
  char *summary = kw_report_verdict_text(report);
  put_member(out, "summary", summary);
  free(summary);
  put_member(out, "plugin", report->plugin);
  put_member(out, "plugin_sha256", report->plugin_hash);
  put_member(out, "tolerances_sha256", report->tolerance_hash);
  put_member(out, "cases_sha256", report->case_hash);
  put_member(out, "expect_sha256", report->expect_hash);
  fprintf(out, "\t\"seed\": \"%" PRIu64 "\",\n", report->seed); /* JSON's numbers are too narrow for some */
  fprintf(out, "\t\"shard\": %u,\n\t\"shards\": %u,\n", report->shard, report->shards);
  put_member(out, "replay", report->replay);
  char stopped[16] = "";
  if (report->stopped) snprintf(stopped, sizeof stopped, "SIG%s", sigabbrev_np(report->stopped));
  put_member(out, "stopped", stopped);
  put_counts(report, out);
  fprintf(out, "\t\"table_ops\": %u,\n", report->table_ops);
  fprintf(out, "\t\"expectations\": %" PRIu64 ",\n", report->expectations);
  fprintf(out, "\t\"fallbacks\": %" PRIu64 ",\n\t\"decomposed\": %" PRIu64 ",\n\t\"launches\": %" PRIu64 ",\n",
          report->fallbacks, report->decomposed, report->launches);
  fprintf(out, "\t\"modules_built\": %" PRIu64 ",\n\t\"modules_cached\": %" PRIu64 ",\n", report->modules_built,
          report->modules_cached);
  fprintf(out, "\t\"build_seconds\": %.6f,\n", report->build_seconds);
  fprintf(out, "\t\"seconds\": %.6f,\n", report->seconds);
  put_suites(report, out);
  put_ops(report, out);
  put_accuracy(report, out);
  put_cases(report, "failures", kw_report_case_has_failed, out);
  fputs(",\n", out);
  put_cases(report, "unimplemented", is_unimplemented, out);
  fputs(",\n\t\"unclaimed\": [", out);
  for (uint32_t i = 0; i < report->unclaimed_count; i++) {
    fputs(i ? ", " : "", out);
    kw_text_put_json(out, report->unclaimed[i]);
  }
  fputs("],\n", out);
  put_gaps(report, out);
  put_cases(report, "cases", NULL, out);
  fputs("\n}\n", out);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* A reader that stops at the first member that is not what it should be. */
typedef struct reader {
  const char *bad; /* its name; NULL so far */
} reader;

static const cJSON *member(reader *r, const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  if (!item && !r->bad) r->bad = key;
  return item;
}

/* A string, or null for "". */
static char *read_text(reader *r, const cJSON *object, const char *key) {
  const cJSON *item = member(r, object, key);
  if (item && !cJSON_IsString(item) && !cJSON_IsNull(item) && !r->bad) r->bad = key;
  return kw_text_clean(cJSON_IsString(item) ? item->valuestring : "");
}

/* NULL when it is not there. */
static char *read_optional(reader *r, const cJSON *object, const char *key) {
  return cJSON_HasObjectItem(object, key) ? read_text(r, object, key) : NULL;
}

static void read_hash(reader *r, const cJSON *object, const char *key, char out[KW_DIGEST_SIZE]) {
  char *text = read_text(r, object, key);
  bool good = !*text || (strlen(text) == KW_DIGEST_SIZE - 1 && strspn(text, "0123456789abcdef") == KW_DIGEST_SIZE - 1);
  if (!good && !r->bad) r->bad = key;
  snprintf(out, KW_DIGEST_SIZE, "%s", good ? text : "");
  free(text);
}

static double read_number(reader *r, const cJSON *object, const char *key, double max) {
  const cJSON *item = member(r, object, key);
  bool good = cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= max;
  if (!good && !r->bad) r->bad = key;
  return good ? item->valuedouble : 0;
}

static bool read_flag(reader *r, const cJSON *object, const char *key) {
  const cJSON *item = member(r, object, key);
  if (!cJSON_IsBool(item) && !r->bad) r->bad = key;
  return cJSON_IsTrue(item);
}

static uint64_t read_seed(reader *r, const cJSON *object) {
  char *text = read_text(r, object, "seed"), *end;
  errno = 0;
  uint64_t seed = strtoull(text, &end, 10);
  if ((errno || !*text || *end || strspn(text, "0123456789") != strlen(text)) && !r->bad) r->bad = "seed";
  free(text);
  return seed;
}

static int read_stopped(reader *r, const cJSON *object) {
  char *text = read_text(r, object, "stopped");
  static const struct {
    const char *name;
    int number;
  } signals[] = {{"SIGINT", SIGINT}, {"SIGTERM", SIGTERM}, {"SIGHUP", SIGHUP}};
  int stopped = 0;
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    if (strcmp(text, signals[i].name) == 0) stopped = signals[i].number;
  }
  if (*text && !stopped && !r->bad) r->bad = "stopped";
  free(text);
  return stopped;
}

static const cJSON *read_array(reader *r, const cJSON *object, const char *key, uint32_t *out_count) {
  const cJSON *array = member(r, object, key);
  if (!cJSON_IsArray(array) && !r->bad) r->bad = key;
  *out_count = cJSON_IsArray(array) ? (uint32_t)cJSON_GetArraySize(array) : 0;
  return array;
}

static kw_outcome read_outcome(reader *r, const cJSON *object) {
  char *text = read_text(r, object, "outcome");
  int outcome = 0;
  while (outcome < KW_OUTCOME_COUNT && strcmp(text, kw_outcome_name((kw_outcome)outcome)) != 0) outcome++;
  if (outcome == KW_OUTCOME_COUNT && !r->bad) r->bad = "outcome";
  free(text);
  return outcome == KW_OUTCOME_COUNT ? KW_OUTCOME_NONE : (kw_outcome)outcome;
}

static double read_error(reader *r, const cJSON *object) {
  if (!cJSON_HasObjectItem(object, "error")) return 0;
  return cJSON_IsNull(member(r, object, "error")) ? INFINITY : read_number(r, object, "error", INFINITY);
}

/* Whether the case's id begins with "name/dtype/". */
static bool is_of_op(const char *id, const kw_report_op *op) {
  size_t name = strlen(op->name), dtype = strlen(op->dtype);
  return strncmp(id, op->name, name) == 0 && id[name] == '/' && strncmp(id + name + 1, op->dtype, dtype) == 0 &&
         id[name + 1 + dtype] == '/';
}

/* Ops are listed in the order of their cases: the op of the case before, or the next one. Contract tests, "suite/test"
 * or "suite/op/name", have none. */
static int find_op(reader *r, const kw_report *report, const char *id, int previous) {
  uint32_t slashes = 0;
  for (const char *p = id; *p; p++) slashes += *p == '/';
  if (slashes == 0 && !r->bad) r->bad = "case";
  if (slashes < 3) return -1;
  for (int op = previous < 0 ? 0 : previous; op <= previous + 1 && op < (int)report->op_count; op++) {
    if (is_of_op(id, &report->ops[op])) return op;
  }
  if (!r->bad) r->bad = "case";
  return -1;
}

static void read_ops(reader *r, const cJSON *root, kw_report *report) {
  uint32_t count;
  const cJSON *item, *array = read_array(r, root, "ops", &count);
  report->ops = calloc(count + 1u, sizeof *report->ops);
  if (!report->ops) kw_out_of_memory();
  cJSON_ArrayForEach(item, array) {
    report->ops[report->op_count++] = (kw_report_op){.name = read_text(r, item, "op"),
                                                     .dtype = read_text(r, item, "dtype"),
                                                     .family = read_text(r, item, "family"),
                                                     .bound = read_number(r, item, "bound", INFINITY),
                                                     .unit = read_text(r, item, "unit")};
  }
}

static void read_cases(reader *r, const cJSON *root, kw_report *report) {
  uint32_t count;
  const cJSON *item, *array = read_array(r, root, "cases", &count);
  report->cases = calloc(count + 1u, sizeof *report->cases);
  if (!report->cases) kw_out_of_memory();
  int op = -1;
  cJSON_ArrayForEach(item, array) {
    kw_report_case *c = &report->cases[report->case_count++];
    *c = (kw_report_case){.id = read_text(r, item, "case"),
                          .outcome = read_outcome(r, item),
                          .error = read_error(r, item),
                          .self_referenced = cJSON_HasObjectItem(item, "self_referenced"),
                          .unreferenced = cJSON_HasObjectItem(item, "unreferenced"),
                          .tf32 = cJSON_HasObjectItem(item, "tf32"),
                          .fast = cJSON_HasObjectItem(item, "fast"),
                          .worst = read_optional(r, item, "worst"),
                          .defect = read_optional(r, item, "defect"),
                          .text = read_optional(r, item, "text"),
                          .expected = read_optional(r, item, "expected"),
                          .smallest = read_optional(r, item, "smallest"),
                          .smallest_tensors = read_optional(r, item, "smallest_tensors"),
                          .passes_alone = cJSON_HasObjectItem(item, "passes_alone"),
                          .after = read_optional(r, item, "after"),
                          .seconds = read_number(r, item, "seconds", INFINITY)};
    if (!c->worst) c->worst = kw_text_clean("");
    if (!c->defect) c->defect = kw_text_clean("");
    if (!c->text) c->text = kw_text_clean("");
    if (c->smallest && !c->smallest_tensors) c->smallest_tensors = kw_text_clean("");
    c->op = op = find_op(r, report, c->id, op);
  }
}

static void read_unclaimed(reader *r, const cJSON *root, kw_report *report) {
  uint32_t count;
  const cJSON *item, *array = read_array(r, root, "unclaimed", &count);
  report->unclaimed = calloc(count + 1u, sizeof *report->unclaimed);
  if (!report->unclaimed) kw_out_of_memory();
  cJSON_ArrayForEach(item, array) {
    if (!cJSON_IsString(item) && !r->bad) r->bad = "unclaimed";
    report->unclaimed[report->unclaimed_count++] = kw_text_clean(cJSON_IsString(item) ? item->valuestring : "");
  }
}

static void read_gaps(reader *r, const cJSON *root, kw_report *report) {
  uint32_t count;
  const cJSON *item, *array = read_array(r, root, "no_cases", &count);
  report->gaps = calloc(count + 1u, sizeof *report->gaps);
  if (!report->gaps) kw_out_of_memory();
  cJSON_ArrayForEach(item, array) {
    report->gaps[report->gap_count++] = (kw_report_gap){read_text(r, item, "op"), read_text(r, item, "why")};
  }
}

static void read_report(reader *r, const cJSON *root, kw_report *report) {
  if (read_number(r, root, "format", FORMAT) != FORMAT && !r->bad) r->bad = "format";
  report->suite_version = read_text(r, root, "suite");
  report->op_set_version = read_text(r, root, "op_set");
  report->device = read_text(r, root, "device");
  report->product = read_text(r, root, "product");
  report->emulated = read_flag(r, root, "emulated");
  report->level = read_text(r, root, "level");
  report->scope = read_text(r, root, "scope");
  report->chosen = read_text(r, root, "chosen");
  report->replay = read_text(r, root, "replay");
  report->plugin = read_text(r, root, "plugin");
  read_hash(r, root, "plugin_sha256", report->plugin_hash);
  read_hash(r, root, "tolerances_sha256", report->tolerance_hash);
  read_hash(r, root, "cases_sha256", report->case_hash);
  read_hash(r, root, "expect_sha256", report->expect_hash);
  report->seed = read_seed(r, root);
  report->shard = (uint32_t)read_number(r, root, "shard", MAX_SHARDS);
  report->shards = (uint32_t)read_number(r, root, "shards", MAX_SHARDS);
  report->stopped = read_stopped(r, root);
  report->table_ops = (uint32_t)read_number(r, root, "table_ops", UINT32_MAX);
  report->expectations = (uint64_t)read_number(r, root, "expectations", 0x1p53);
  report->launches = (uint64_t)read_number(r, root, "launches", 0x1p53);
  report->decomposed = (uint64_t)read_number(r, root, "decomposed", 0x1p53);
  report->fallbacks = (uint64_t)read_number(r, root, "fallbacks", 0x1p53);
  report->modules_built = (uint64_t)read_number(r, root, "modules_built", 0x1p53);
  report->modules_cached = (uint64_t)read_number(r, root, "modules_cached", 0x1p53);
  report->build_seconds = read_number(r, root, "build_seconds", INFINITY);
  report->seconds = read_number(r, root, "seconds", INFINITY);
  if ((report->shard < 1 || report->shard > report->shards) && !r->bad) r->bad = "shard";
  read_ops(r, root, report);
  read_cases(r, root, report);
  read_unclaimed(r, root, report);
  read_gaps(r, root, report);
}

bool kw_report_read(const char *path, kw_report *out_report, char *out_message, size_t size) {
  memset(out_report, 0, sizeof *out_report);
  char *text;
  if (!kw_text_read_file(path, &text)) {
    snprintf(out_message, size, "%s cannot be read: %s", path, strerror(errno));
    return false;
  }
  cJSON *root = cJSON_Parse(text);
  free(text);
  if (!cJSON_IsObject(root)) {
    snprintf(out_message, size, "%s is no JSON report; `keyway conform --json` writes one", path);
    cJSON_Delete(root);
    return false;
  }
  reader r = {NULL};
  read_report(&r, root, out_report);
  cJSON_Delete(root);
  if (!r.bad) return true;
  snprintf(out_message, size, "%s is no report of this version of the suite: its member \"%s\" is missing or wrong",
           path, r.bad);
  kw_report_free(out_report);
  return false;
}
