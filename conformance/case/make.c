/* SPDX-License-Identifier: Apache-2.0
 *
 * Which maker makes the cases of an op, and what it leaves to all of them: ids, shrunken variants, defaults.
 */
#include "case/make.h"

#include "case/makers.h"
#include "case/parts.h"
#include "case/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two shape rules have ops of several kinds. */
bool kw_case_make_along_dim(kw_case *c) {
  if (c->op->row.result == KW_RESULT_CHOICE) return kw_case_make_sort(c);
  return c->op->row.result == KW_RESULT_SOFTMAX ? kw_case_make_softmax(c) : kw_case_make_scan(c);
}

bool kw_case_make_scatter(kw_case *c) {
  return c->op->row.compare == KW_CMP_ACCUMULATE ? kw_case_make_scatter_sum(c) : kw_case_make_lines(c);
}

/* Which maker makes the cases of ops with this shape rule. */
static kw_case_maker *const makers[] = {
#define KW_SHAPE_RULE(name, infer, cases, text) [KW_SHAPE_##name] = kw_case_make_##cases,
#include "shape_rules.def"
    [KW_SHAPE_CUSTOM] = kw_case_make_vendor,
};

/* An op with a generator is random: its shape rule, which it shares with ops that are not, does not say how its values
 * come about. */
static bool is_random(const kw_suite_op *op) {
  return !op->vendor && kw_suite_op_generator(op) >= 0;
}

static bool make_kind(kw_case *c) {
  const kw_shape_rule rule = c->op->row.shape;
  if (rule >= COUNT(makers)) return false;
  if (!is_random(c->op) || makers[rule] == kw_case_make_sample) return makers[rule](c);
  return rule == KW_SHAPE_SAME ? kw_case_make_sample(c) : kw_case_make_random(c);
}

/* "add.Tensor/f32/prime/3", and "@2x1" for a shrunken one. */
static void name_case(kw_case *c) {
  size_t size = sizeof c->id;
  size_t used = (size_t)snprintf(c->id, size, "%s/%s/%s/%u", c->op->name, kw_element_name(c->key),
                                 kw_case_class_name(c->class), c->number);
  for (uint32_t d = 0; d < c->sizes.rank && used < size; d++) {
    used += (size_t)snprintf(c->id + used, size - used, "%c%" PRId64, d ? 'x' : '@', c->sizes.dims[d]);
  }
  c->hash = kw_hash(KW_HASH_START, c->id);
}

/* What a case is before its maker fills it. */
static void start_case(const kw_suite_op *op, kw_dtype key, kw_case_class class, uint32_t number, const kw_shape *sizes,
                       kw_case *c) {
  memset(c, 0, sizeof *c);
  c->op = op;
  c->key = key;
  c->class = class;
  c->number = number;
  c->terms = 2;
  c->shrunk = sizes != NULL;
  if (sizes) c->sizes = *sizes;
  name_case(c);
  c->result_count = op->result_count;
  for (uint32_t r = 0; r < op->result_count; r++) c->bounds[r] = kw_op_row_bound(&op->row, r);
}

static bool make_sizes_from(const kw_suite_op *op, kw_dtype key, uint32_t number, uint32_t attempt,
                            const kw_shape *sizes, kw_case *c) {
  start_case(op, key, KW_CLASS_SIZES, number, sizes, c);
  kw_case_sweep_start(c, attempt);
  const bool made = make_kind(c) && c->resizable && kw_case_sweep_fits(c);
  c->class = KW_CLASS_SIZES;
  c->number = number;
  return made;
}

/* A case of the class SIZES is one of another class, made from other sizes. Where that has no such number, or no case
 * of these sizes, the next one is tried; a shrunken one is a variant of what is found so. */
static bool make_sizes(const kw_suite_op *op, kw_dtype key, uint32_t number, const kw_shape *sizes, kw_case *c) {
  uint32_t attempt = 0;
  if (number >= kw_case_sweep_count(op, key)) return false;
  while (attempt < KW_SWEEP_BASES && !make_sizes_from(op, key, number, attempt, NULL, c)) attempt++;
  if (attempt == KW_SWEEP_BASES) return false;
  return !sizes || make_sizes_from(op, key, number, attempt, sizes, c);
}

/* A case, or its variant made from `sizes`. */
static bool make_case(const kw_suite_op *op, kw_dtype key, kw_case_class class, uint32_t number, const kw_shape *sizes,
                      kw_case *c) {
  if (key >= KW_KEY_DTYPE_COUNT || !(kw_suite_op_keys(op) & KW_DTYPE_BIT(key))) return false;
  start_case(op, key, class, number, sizes, c);
  const bool made = class == KW_CLASS_SIZES  ? make_sizes(op, key, number, sizes, c)
                    : class < KW_CLASS_COUNT ? make_kind(c)
                                             : kw_case_make_block(c);
  if (!made || (c->shrunk && !c->resizable)) return false;
  const int generator = kw_suite_op_generator(op); /* every other case names one */
  if (generator >= 0 && number % 2) kw_case_give(c, (uint32_t)generator, (kw_value){.tag = KW_TAG_GENERATOR});
  kw_case_give_defaults(c);
  return true;
}

bool kw_case_make(const kw_suite_op *op, kw_dtype key, kw_case_class class, uint32_t number, kw_case *out_case) {
  return make_case(op, key, class, number, NULL, out_case);
}

bool kw_case_shrink(const kw_case *c, const kw_shape *sizes, kw_case *out_case) {
  return sizes->rank > 0 && make_case(c->op, c->key, c->class, c->number, sizes, out_case);
}

/* A whole number from 0 to max; *io_text is moved behind it. */
static bool read_number(const char **io_text, int64_t max, int64_t *out_number) {
  char *end;
  errno = 0;
  long long number = **io_text >= '0' && **io_text <= '9' ? strtoll(*io_text, &end, 10) : -1;
  if (number < 0 || number > max || errno) return false;
  *io_text = end;
  *out_number = number;
  return true;
}

/* The end of an id: "" or "@2x1". */
static bool read_sizes(const char *text, kw_shape *out_sizes) {
  out_sizes->rank = 0;
  for (char mark = '@'; *text == mark && out_sizes->rank < KW_MAX_RANK; mark = 'x') {
    text++;
    if (!read_number(&text, INT32_MAX, &out_sizes->dims[out_sizes->rank++])) return false;
  }
  return *text == 0;
}

bool kw_case_from_id(const char *id, const kw_suite_op *ops, uint32_t op_count, kw_case *out_case) {
  const char *slash[3];
  const char *p = id;
  for (int i = 0; i < 3; i++) {
    slash[i] = strchr(p, '/');
    if (!slash[i]) return false;
    p = slash[i] + 1;
  }
  const kw_suite_op *op = NULL;
  for (uint32_t i = 0; i < op_count && !op; i++) {
    size_t length = strlen(ops[i].name);
    if (length == (size_t)(slash[0] - id) && memcmp(ops[i].name, id, length) == 0) op = &ops[i];
  }
  kw_dtype key = kw_element_from_name(slash[0] + 1, (size_t)(slash[1] - slash[0] - 1));
  size_t length = (size_t)(slash[2] - slash[1] - 1);
  int64_t number;
  kw_shape sizes = {0};
  if (!op || !read_number(&p, UINT32_MAX, &number) || !read_sizes(p, &sizes)) return false;
  for (int class = 0; class < KW_CLASS_END; class ++) {
    const char *name = kw_case_class_name((kw_case_class) class);
    if (strlen(name) == length && memcmp(name, slash[1] + 1, length) == 0) {
      return make_case(op, key, (kw_case_class) class, (uint32_t)number, sizes.rank ? &sizes : NULL, out_case);
    }
  }
  return false;
}
