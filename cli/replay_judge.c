/* SPDX-License-Identifier: Apache-2.0
 *
 * The suite's own comparison of elements, with another device in the oracle's place.
 */
#include "replay_judge.h"

#include "case/element.h"
#include "case/signature.h"
#include "judge/compare.h"

#include <math.h>
#include <stdio.h>

static const kw_suite_op *find_op(const char *name) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; ++i)
    if (strcmp(ops[i].name, name) == 0) return &ops[i];
  return NULL;
}

kw_replay_bound kw_replay_bound_of(const char *name, uint32_t result) {
  const kw_suite_op *op = find_op(name);
  if (op) {
    const kw_op_bound bound = kw_op_row_bound(&op->row, result);
    const bool accumulates = bound.compare == KW_CMP_ACCUMULATE;
    const bool named = accumulates && bound.magnitude && !strchr(bound.magnitude, '/'); /* those are the suite's own */
    return (kw_replay_bound){.bits = bound.compare != KW_CMP_ULP && !accumulates,
                             .magnitude = named ? bound.magnitude : NULL,
                             .ulp = bound.ulp,
                             .absolute = bound.abs,
                             .growth = bound.growth,
                             .accumulates = accumulates};
  }
  kw_op_info info = {.struct_size = sizeof info};
  const kw_op *vendor = kw_op_find(name);
  if (!vendor || kw_op_get_info(vendor, &info) != KW_OK) return (kw_replay_bound){.bits = true};
  const bool accumulates = strcmp(info.comparator, "accumulate") == 0;
  return (kw_replay_bound){.bits = !accumulates && strcmp(info.comparator, "ulp") != 0,
                           .ulp = info.max_ulp,
                           .absolute = info.absolute,
                           .growth = info.growth,
                           .accumulates = accumulates};
}

static kw_rule rule_of(const char *name, const kw_replay_bound *bound, kw_dtype dtype, uint64_t terms) {
  const kw_suite_op *op = find_op(name);
  kw_rule rule = {.compare = bound->accumulates ? KW_CMP_ACCUMULATE : KW_CMP_ULP,
                  .ulp = bound->ulp,
                  .abs = bound->absolute,
                  .terms = terms,
                  .growth = bound->growth,
                  .zero = KW_SPECIAL_EITHER,
                  .subnormal = KW_SPECIAL_EITHER,
                  .flush = true,
                  .compute = kw_element_compute(dtype),
                  .more = 1};
  if (op) {
    rule.nan = op->row.nan;
    rule.inf = op->row.inf;
  }
  return rule;
}

static double largest(kw_dtype dtype, const unsigned char *elements, int64_t count, size_t size) {
  double most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = fabs(kw_element_load(dtype, elements + (size_t)i * size));
    if (isfinite(value) && value > most) most = value;
  }
  return most;
}

static void describe(kw_replay_verdict *verdict, kw_dtype dtype, const unsigned char *expected,
                     const unsigned char *got) {
  char one[72], other[72];
  kw_compare_print_element(one, sizeof one, dtype, got);
  kw_compare_print_element(other, sizeof other, dtype, expected);
  snprintf(verdict->text, sizeof verdict->text, "got %.64s, expected %.64s", one, other);
}

kw_replay_verdict kw_replay_judge(const char *op, const kw_replay_bound *bound, const kw_capture_place *place,
                                  uint64_t terms, const void *magnitudes, const void *expected, const void *got) {
  const bool complex = kw_element_is_complex(place->dtype);
  const kw_dtype dtype = complex ? kw_element_part(place->dtype) : place->dtype;
  const size_t size = kw_dtype_size(dtype);
  const unsigned char *theirs = expected, *ours = got, *sizes = magnitudes;
  kw_replay_verdict verdict = {.pass = true, .count = (int64_t)(place->size / size)};
  const bool bits = bound->bits || !kw_element_is_float(dtype);
  const kw_rule rule = rule_of(op, bound, dtype, terms);
  const double most = bits || sizes || !bound->accumulates ? 0 : largest(dtype, theirs, verdict.count, size);
  for (int64_t i = 0; i < verdict.count; ++i) {
    const unsigned char *one = theirs + (size_t)i * size, *other = ours + (size_t)i * size;
    if (memcmp(one, other, size) == 0) continue;
    double error = INFINITY, allowed = 0;
    bool pass = false;
    if (!bits) {
      const double magnitude = sizes ? fabs(kw_element_load(dtype, sizes + (size_t)i * size)) : most;
      pass = kw_compare_element(&rule, dtype, other, kw_element_load_wide(dtype, one), magnitude, &error, &allowed);
      if (!bound->accumulates && bound->ulp > 0) error /= bound->ulp;
    }
    if (error > verdict.error) verdict.error = error;
    if (pass) continue;
    if (verdict.wrong++ == 0) {
      verdict.index = i;
      describe(&verdict, dtype, one, other);
    }
  }
  verdict.pass = verdict.wrong == 0;
  return verdict;
}

int64_t kw_replay_count_nan(const kw_capture_place *place, const void *elements, int64_t *out_first) {
  const bool complex = kw_element_is_complex(place->dtype);
  const kw_dtype dtype = complex ? kw_element_part(place->dtype) : place->dtype;
  const size_t size = kw_dtype_size(dtype);
  const unsigned char *all = elements;
  int64_t count = 0;
  if (!kw_element_is_float(dtype)) return 0;
  for (int64_t i = 0; i < (int64_t)(place->size / size); ++i) {
    if (isnan(kw_element_load(dtype, all + (size_t)i * size)) && count++ == 0) *out_first = complex ? i / 2 : i;
  }
  return count;
}
