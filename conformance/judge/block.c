/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of bit patterns: the oracle in f64 for all, the one in 113 bits for those that might matter.
 */
#include "judge/block.h"

#include "base/need.h"
#include "case/make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 16384       /* elements that both oracles have in memory at a time */
#define MOST_WRONG 100000 /* after so many the rest of the block is not looked at */
#define SMALLEST 0x1p-12  /* share of the bound below which errors are not told from 0 */
#define UNIT_SHARE                                                                                  \
  0x1p-27 /* of a bound of at least half a ULP of f32, or of one eps: two units, for the arithmetic \
           */

bool kw_block_bound(const kw_suite_op *op, double *out_units) {
  static const struct {
    const char *base;
    double units;
  } bounds[] = {
#define KW_F64_BOUND(base, units) {base, units},
#include "judge/f64_bounds.def"
  };
  for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
    if (strcmp(bounds[i].base, op->base) != 0) continue;
    *out_units = bounds[i].units;
    return true;
  }
  return false;
}

/* ---- The first stage --------------------------------------------------------------------------------------------- */

/* The least that a ULP of f32 may be around a number that is o up to 2^-40 of it. */
static double least_spacing(double o) {
  const double below = o * (1 - 0x1p-40);
  uint64_t bits;
  memcpy(&bits, &below, sizeof bits);
  const int exponent = (int)(bits >> 52) - 1023;
  return exponent < -126 ? 0x1p-149 : kw_element_pow2(exponent - 23);
}

/* |got - o| as a share of what the rule allows; INFINITY where that is not all that there is to it. */
static double share_of(const kw_rule *rule, float got, double o, double magnitude) {
  const double size = fabs(o);
  double g = (double)got;
  if (isnan(o) || isnan(got)) return isnan(o) && isnan(got) ? 0 : INFINITY;
  if (g == 0 && (signbit(g) != 0) != (signbit(o) != 0)) return o == 0 && rule->zero != KW_SPECIAL_EXACT ? 0 : INFINITY;
  if (isinf(got)) {
    g = copysign(0x1p128, g);
    if (g * o > 0 && size >= 0x1p128) return 0;
  }
  if (g == o) return 0;
  if (rule->compare == KW_CMP_ULP && rule->ulp == 0 && rule->abs == 0) return INFINITY;
  const double allowed = rule->compare == KW_CMP_ULP ? rule->ulp * least_spacing(size) + rule->abs * 0x1p-23
                                                     : kw_growth(rule->terms) * 0x1p-23 * magnitude;
  const double share = fabs(g - o) / allowed;
  return isnan(share) ? INFINITY : share;
}

/* ---- A block ----------------------------------------------------------------------------------------------------- */

typedef struct block {
  const kw_case *c;
  uint64_t seed;
  uint32_t run;
  uint64_t flush;
  double slack;                      /* what the oracle's own error may add to a share */
  void *inputs[KW_CASE_TENSORS];     /* of the whole block */
  const void *part[KW_CASE_TENSORS]; /* of the chunk */
  double shares[CHUNK];
  uint32_t suspects[CHUNK]; /* places in the chunk */
  uint32_t suspect_count;
} block;

static size_t result_size(const block *b) {
  return kw_element_size(b->c->outs[0].dtype);
}

/* "0.5 (0x3f000000), 2 (0x40000000)": the operands of an element of the block. */
static void print_operands(const block *b, int64_t index, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < KW_CASE_TENSORS && used < size; i++) {
    const kw_case_tensor *tensor = &b->c->tensors[i];
    if (!b->inputs[i]) continue;
    char element[80];
    const int64_t at = tensor->rank == 0 ? 0 : index;
    kw_compare_print_element(element, sizeof element, tensor->dtype,
                             (const char *)b->inputs[i] + (size_t)at * kw_element_size(tensor->dtype));
    used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", element);
  }
}

/* The same case on `count` elements only; its values are not used. */
static bool make_part(const block *b, uint32_t count, kw_case *out) {
  return kw_case_shrink(b->c, &(kw_shape){1, {count}}, out);
}

/* Which elements of a chunk the first stage cannot settle. Results that are no floats judged by distance are right, or
 * are looked at again. */
static void find_suspects(block *b, const kw_block_side *side, const kw_oracle_result *expected, int64_t first,
                          uint32_t count) {
  const size_t size = result_size(b);
  const char *got = (const char *)side->got + (size_t)first * size;
  b->suspect_count = 0;
  if (expected->dtype != KW_DTYPE_WIDE) {
    const char *values = expected->values;
    if (memcmp(got, values, count * size) == 0) return;
    for (uint32_t i = 0; i < count; i++) {
      if (memcmp(got + i * size, values + i * size, size) != 0) b->suspects[b->suspect_count++] = i;
    }
    return;
  }
  const kw_wide *values = expected->values, *magnitudes = expected->magnitude;
  double largest = side->found.error / (side->rule.compare == KW_CMP_ULP && side->rule.ulp > 0 ? side->rule.ulp : 1);
  for (uint32_t i = 0; i < count; i++) {
    float element;
    memcpy(&element, got + i * size, sizeof element);
    b->shares[i] = share_of(&side->rule, element, values[i].hi, magnitudes ? magnitudes[i].hi : 0);
    if (b->shares[i] - b->slack > largest && b->shares[i] < 1) largest = b->shares[i] - b->slack;
  }
  if (largest < SMALLEST) largest = SMALLEST;
  if (largest > 1 - 2 * b->slack) largest = 1 - 2 * b->slack;
  for (uint32_t i = 0; i < count; i++) {
    if (b->shares[i] * (1 + 0x1p-40) + b->slack >= largest) b->suspects[b->suspect_count++] = i;
  }
}

static void note_wrong(const block *b, kw_block_side *side, const kw_oracle_result *expected, uint32_t suspect,
                       int64_t index, const void *got, double bound) {
  char operands[KW_WORST_TEXT], what[360];
  if (side->found.wrong++ > 0) return;
  side->found.index = index;
  print_operands(b, index, operands, sizeof operands);
  kw_compare_describe(what, sizeof what, b->c->outs[0].dtype, expected, suspect, got, bound);
  snprintf(side->found.text, sizeof side->found.text, "element [%lld], of %s: %s", (long long)index, operands, what);
}

/* The second stage: the suspects by 113 bits. */
static bool settle(block *b, kw_block_side *side, int64_t first) {
  kw_case part;
  kw_oracle_results oracle;
  void *inputs[KW_CASE_TENSORS] = {NULL};
  const uint32_t count = b->suspect_count;
  if (count == 0) return true;
  bool good = make_part(b, count, &part);
  for (uint32_t i = 0; i < KW_CASE_TENSORS && good; i++) {
    const kw_case_tensor *tensor = &b->c->tensors[i];
    const size_t size = kw_element_size(tensor->dtype);
    if (!b->inputs[i]) continue;
    inputs[i] = malloc(count * size);
    if (!inputs[i]) kw_out_of_memory();
    const char *from = b->inputs[i];
    if (tensor->rank == 0) memcpy(inputs[i], from, size);
    for (uint32_t s = 0; s < count && tensor->rank > 0; s++) {
      memcpy((char *)inputs[i] + s * size, from + ((size_t)first + b->suspects[s]) * size, size);
    }
  }
  good = good && kw_oracle_run_wide(&part, b->seed, b->run, b->flush, (const void *const *)inputs, &oracle) == KW_OK;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(inputs[i]);
  if (!good) return false;
  for (uint32_t s = 0; s < count; s++) {
    const int64_t index = first + b->suspects[s];
    const char *got = (const char *)side->got + (size_t)index * result_size(b);
    double error, bound;
    const bool pass =
        kw_compare_at(&part, b->c->outs[0].dtype, &side->rule, &oracle.results[0], s, got, &error, &bound);
    if (!pass) note_wrong(b, side, &oracle.results[0], s, index, got, bound);
    if (error <= side->found.error) continue;
    side->found.error = error;
    print_operands(b, index, side->worst, sizeof side->worst);
  }
  side->wide += count;
  kw_oracle_free(&oracle);
  return true;
}

static bool judge_chunk(block *b, kw_block_side *sides, uint32_t count, int64_t first, uint32_t length,
                        const kw_case *part) {
  kw_oracle_results oracle;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    const kw_case_tensor *tensor = &b->c->tensors[i];
    const size_t skipped = tensor->rank == 0 ? 0 : (size_t)first * kw_element_size(tensor->dtype);
    b->part[i] = b->inputs[i] ? (const char *)b->inputs[i] + skipped : NULL;
  }
  if (kw_oracle_run_on(part, b->seed, b->run, 0, b->part, &oracle) != KW_OK) return false;
  bool good = true;
  for (uint32_t s = 0; s < count && good; s++) {
    if (!sides[s].got || sides[s].found.wrong > MOST_WRONG) continue;
    find_suspects(b, &sides[s], &oracle.results[0], first, length);
    good = settle(b, &sides[s], first);
  }
  kw_oracle_free(&oracle);
  return good;
}

static void end_side(kw_block_side *side, int64_t count) {
  kw_comparison *found = &side->found;
  const size_t used = strlen(found->text);
  found->pass = found->wrong == 0;
  if (found->pass) return;
  snprintf(found->text + used, sizeof found->text - used, "; %s%lld of %lld elements are wrong",
           found->wrong > MOST_WRONG ? "at least " : "", (long long)found->wrong, (long long)count);
}

bool kw_block_judge(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, kw_block_side *sides,
                    uint32_t count) {
  double units;
  block *b = calloc(1, sizeof *b);
  kw_case *part = malloc(sizeof *part);
  if (!b || !part) kw_out_of_memory();
  bool good = kw_block_bound(c->op, &units);
  *b = (block){.c = c, .seed = seed, .run = run, .flush = flush, .slack = good ? units * UNIT_SHARE : 0};
  for (uint32_t i = 0; i < KW_CASE_TENSORS && good; i++) {
    if (!c->tensors[i].given) continue;
    b->inputs[i] = calloc(c->tensors[i].extent + 1, kw_element_size(c->tensors[i].dtype));
    if (!b->inputs[i]) kw_out_of_memory();
    kw_case_fill(c, i, seed, run, false, b->inputs[i]);
  }
  for (uint32_t s = 0; s < count; s++) {
    sides[s].found = (kw_comparison){.pass = true};
    sides[s].worst[0] = 0;
    sides[s].wide = 0;
  }
  const int64_t numel = c->outs[0].numel;
  uint32_t length = 0;
  for (int64_t first = 0; first < numel && good; first += CHUNK) {
    const uint32_t left = numel - first < CHUNK ? (uint32_t)(numel - first) : CHUNK;
    if (left != length) good = make_part(b, length = left, part);
    good = good && judge_chunk(b, sides, count, first, length, part);
  }
  for (uint32_t s = 0; s < count; s++) end_side(&sides[s], numel);
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(b->inputs[i]);
  free(part);
  free(b);
  return good;
}
