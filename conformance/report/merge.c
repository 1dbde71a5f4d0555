/* SPDX-License-Identifier: Apache-2.0
 *
 * One report from those of all shards. Case number i of the whole run is in shard i % shards + 1 (select.c); the hash
 * of all ids, which every shard names, shows that nothing is missing.
 */
#include "report/merge.h"

#include "base/need.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool differ(kw_report_difference *out, const char *what, const char *first, const char *second) {
  out->what = what;
  snprintf(out->first, sizeof out->first, "%s", first);
  snprintf(out->second, sizeof out->second, "%s", second);
  return false;
}

bool kw_report_same_run(const kw_report *a, const kw_report *b, kw_report_difference *out_difference) {
  const struct {
    const char *what, *first, *second;
  } texts[] = {{"suite version", a->suite_version, b->suite_version},
               {"op set version", a->op_set_version, b->op_set_version},
               {"device", a->device, b->device},
               {"product", a->product, b->product},
               {"level", a->level, b->level},
               {"scope", a->scope, b->scope},
               {"choice of cases", a->chosen, b->chosen},
               {"plugin", a->plugin, b->plugin},
               {"plugin hash", a->plugin_hash, b->plugin_hash},
               {"tolerance table hash", a->tolerance_hash, b->tolerance_hash},
               {"case set hash", a->case_hash, b->case_hash},
               {"hash of known failures", a->expect_hash, b->expect_hash}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (strcmp(texts[i].first, texts[i].second) != 0) {
      return differ(out_difference, texts[i].what, texts[i].first, texts[i].second);
    }
  }
  char first[32], second[32];
  snprintf(first, sizeof first, "%" PRIu64, a->seed);
  snprintf(second, sizeof second, "%" PRIu64, b->seed);
  if (a->seed != b->seed) return differ(out_difference, "seed", first, second);
  snprintf(first, sizeof first, "%u", a->shards);
  snprintf(second, sizeof second, "%u", b->shards);
  return a->shards == b->shards || differ(out_difference, "number of shards", first, second);
}

static bool can_merge(const kw_report *first, const kw_report *report, uint32_t number, char *message, size_t size) {
  kw_report_difference difference;
  if (!kw_report_same_run(first, report, &difference)) {
    snprintf(message, size, "the reports are not of one run: report %u has %s '%s', report 1 has '%s'", number + 1,
             difference.what, difference.second, difference.first);
    return false;
  }
  if (!report->stopped) return true;
  snprintf(message, size, "report %u is of a run that was stopped; `keyway conform --resume` finishes it", number + 1);
  return false;
}

/* Puts the reports in order. */
static bool sort_shards(const kw_report *reports, uint32_t count, const kw_report **shards, char *message,
                        size_t size) {
  for (uint32_t i = 0; i < count; i++) {
    const kw_report *report = &reports[i];
    if (!can_merge(&reports[0], report, i, message, size)) return false;
    if (shards[report->shard - 1]) {
      snprintf(message, size, "shard %u of %u is there twice", report->shard, report->shards);
      return false;
    }
    shards[report->shard - 1] = report;
  }
  for (uint32_t s = 0; s < reports[0].shards; s++) {
    if (shards[s]) continue;
    snprintf(message, size, "shard %u of %u is missing; `keyway conform --shard %u/%u --json FILE` makes it", s + 1,
             reports[0].shards, s + 1, reports[0].shards);
    return false;
  }
  return true;
}

static char *copy_of(const char *text) {
  return text ? kw_text_clean(text) : NULL;
}

static void copy_head(const kw_report *from, kw_report *to) {
  *to = *from; /* hashes and numbers; everything else is made anew */
  to->suite_version = copy_of(from->suite_version);
  to->op_set_version = copy_of(from->op_set_version);
  to->device = copy_of(from->device);
  to->product = copy_of(from->product);
  to->level = copy_of(from->level);
  to->scope = copy_of(from->scope);
  to->chosen = copy_of(from->chosen);
  to->replay = copy_of(from->replay);
  to->plugin = copy_of(from->plugin);
  to->unclaimed = calloc(from->unclaimed_count + 1u, sizeof *to->unclaimed);
  if (!to->unclaimed) kw_out_of_memory();
  for (uint32_t i = 0; i < from->unclaimed_count; i++) to->unclaimed[i] = copy_of(from->unclaimed[i]);
  to->gaps = calloc(from->gap_count + 1u, sizeof *to->gaps);
  if (!to->gaps) kw_out_of_memory();
  for (uint32_t i = 0; i < from->gap_count; i++) {
    to->gaps[i] = (kw_report_gap){copy_of(from->gaps[i].op), copy_of(from->gaps[i].why)};
  }
  to->shard = to->shards = 1;
  to->op_count = to->case_count = 0;
  to->launches = to->decomposed = to->fallbacks = to->expectations = 0;
  to->modules_built = to->modules_cached = 0;
  to->seconds = to->build_seconds = 0;
}

/* Ops come in the order of their cases: the last one, or a new one. */
static int take_op(kw_report *to, const kw_report_op *op) {
  kw_report_op *last = to->op_count ? &to->ops[to->op_count - 1] : NULL;
  if (last && strcmp(last->name, op->name) == 0 && strcmp(last->dtype, op->dtype) == 0) return (int)to->op_count - 1;
  to->ops[to->op_count] = (kw_report_op){.name = copy_of(op->name),
                                         .dtype = copy_of(op->dtype),
                                         .family = copy_of(op->family),
                                         .bound = op->bound,
                                         .unit = copy_of(op->unit)};
  return (int)to->op_count++;
}

static void take_case(kw_report *to, const kw_report *shard, const kw_report_case *c) {
  kw_report_case *copy = &to->cases[to->case_count++];
  *copy = *c;
  copy->op = c->op < 0 ? -1 : take_op(to, &shard->ops[c->op]);
  copy->id = copy_of(c->id);
  copy->worst = copy_of(c->worst);
  copy->defect = copy_of(c->defect);
  copy->text = copy_of(c->text);
  copy->expected = copy_of(c->expected);
  copy->smallest = copy_of(c->smallest);
  copy->smallest_tensors = copy_of(c->smallest_tensors);
  copy->after = copy_of(c->after);
}

static void take_cases(kw_report *to, const kw_report **shards, uint32_t count) {
  uint32_t total = 0;
  for (uint32_t s = 0; s < count; s++) {
    total += shards[s]->case_count;
    to->launches += shards[s]->launches;
    to->expectations += shards[s]->expectations;
    to->decomposed += shards[s]->decomposed;
    to->fallbacks += shards[s]->fallbacks;
    to->modules_built += shards[s]->modules_built;
    to->modules_cached += shards[s]->modules_cached;
    to->build_seconds += shards[s]->build_seconds;
    to->seconds += shards[s]->seconds;
  }
  to->cases = calloc(total + 1u, sizeof *to->cases);
  to->ops = calloc(total + 1u, sizeof *to->ops);
  if (!to->cases || !to->ops) kw_out_of_memory();
  for (uint32_t i = 0; i < total; i++) {
    const kw_report *shard = shards[i % count];
    if (i / count < shard->case_count) take_case(to, shard, &shard->cases[i / count]);
  }
}

static bool same_group(const kw_report_case *a, const kw_report_case *b) {
  if (a->op >= 0 || b->op >= 0) return a->op == b->op;
  size_t length = strcspn(a->id, "/");
  return strcspn(b->id, "/") == length && memcmp(a->id, b->id, length) == 0;
}

/* A run tries the first failure of an op and dtype, or of a contract suite, again and looks for a smaller variant
 * (coordinator.c), and so did each shard. */
static void keep_first_tries(kw_report *report) {
  const kw_report_case *last = NULL;
  for (uint32_t i = 0; i < report->case_count; i++) {
    kw_report_case *c = &report->cases[i];
    if (c->outcome != KW_OUTCOME_FAIL && c->outcome != KW_OUTCOME_CRASH) continue;
    if (last && same_group(last, c)) {
      free(c->smallest);
      free(c->smallest_tensors);
      free(c->after);
      c->smallest = c->smallest_tensors = c->after = NULL;
      c->passes_alone = false;
    }
    last = c;
  }
}

static bool is_complete(const kw_report *report) {
  char hash[KW_DIGEST_SIZE];
  kw_report_hash_cases(report, hash);
  return strcmp(hash, report->case_hash) == 0;
}

bool kw_report_merge(const kw_report *reports, uint32_t count, kw_report *out_report, char *out_message, size_t size) {
  memset(out_report, 0, sizeof *out_report);
  uint32_t shards = count ? reports[0].shards : 0;
  const kw_report **sorted = calloc(shards + 1u, sizeof *sorted);
  if (!sorted) kw_out_of_memory();
  bool good = sort_shards(reports, count, sorted, out_message, size);
  if (good) {
    copy_head(sorted[0], out_report);
    take_cases(out_report, sorted, shards);
    keep_first_tries(out_report);
    good = is_complete(out_report);
    if (!good) {
      snprintf(out_message, size, "the cases in the reports are not those that they name by hash: a file was changed");
      kw_report_free(out_report);
    }
  }
  free(sorted);
  return good;
}
