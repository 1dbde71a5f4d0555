/* SPDX-License-Identifier: Apache-2.0
 *
 * The op table as an array of the rows of ops.def, and the tables beside it: the family of a row, and its policy of
 * casts.
 */
#include "op_table.h"

#include <stdio.h>
#include <string.h>

#define EXACT KW_SPECIAL_EXACT
#define EITHER KW_SPECIAL_EITHER
#define UNSPECIFIED KW_SPECIAL_UNSPECIFIED

const kw_op_row kw_op_table[] = {
#define KW_OP(schema, dtypes, shape, result, compare, ulp, abs, magnitude, nan, inf, zero, sub, level) \
  {schema,                                                                                             \
   KW_DTYPES_##dtypes,                                                                                 \
   KW_SHAPE_##shape,                                                                                   \
   KW_RESULT_##result,                                                                                 \
   KW_CMP_##compare,                                                                                   \
   ulp,                                                                                                \
   abs,                                                                                                \
   magnitude,                                                                                          \
   nan,                                                                                                \
   inf,                                                                                                \
   zero,                                                                                               \
   sub,                                                                                                \
   KW_LEVEL_##level,                                                                                   \
   0},
#include "ops.def"
};
const uint32_t kw_op_table_count = sizeof kw_op_table / sizeof kw_op_table[0];

static const kw_op_family families[] = {
#define KW_OP_FAMILY(name, extension, first) {name, first, KW_EXTENSION_##extension},
#include "ops.def"
};

static bool is_op(const kw_op_row *row, const char *name) {
  size_t length = row->schema ? strcspn(row->schema, "(") : 0;
  return length > 0 && strlen(name) == length && memcmp(name, row->schema, length) == 0;
}

/* A copy of a row has the schema of the table's. */
const kw_op_family *kw_op_row_family(const kw_op_row *row) {
  const kw_op_family *family = NULL;
  for (uint32_t i = 0, next = 0; i < kw_op_table_count; i++) {
    if (next < sizeof families / sizeof families[0] && is_op(&kw_op_table[i], families[next].first)) {
      family = &families[next++];
    }
    if (kw_op_table[i].schema == row->schema) return family;
  }
  return NULL;
}

kw_cast_policy kw_op_row_cast(const kw_op_row *row) {
  static const struct {
    const char *op;
    kw_cast_policy policy;
  } casts[] = {
#define KW_OP_CAST(op, policy) {op, KW_CAST_##policy},
#include "op_casts.def"
  };
  for (size_t i = 0; i < sizeof casts / sizeof casts[0]; i++) {
    if (is_op(row, casts[i].op)) return casts[i].policy;
  }
  return KW_CAST_NONE;
}

static const struct {
  const char *op;
  uint32_t result;
  kw_op_bound bound;
} result_bounds[] = {
    {"", 0, {0}}, /* of no op: the list may be empty otherwise */
#define KW_OP_RESULT(op, index, compare, ulp, abs, magnitude) {op, index, {KW_CMP_##compare, ulp, abs, magnitude, 0}},
#include "ops.def"
};

kw_op_bound kw_op_row_bound(const kw_op_row *row, uint32_t result) {
  for (size_t i = 0; i < sizeof result_bounds / sizeof result_bounds[0]; i++) {
    if (is_op(row, result_bounds[i].op) && result_bounds[i].result == result) return result_bounds[i].bound;
  }
  return (kw_op_bound){row->compare, row->ulp, row->abs, row->magnitude, row->growth};
}

void kw_op_bound_text(const kw_op_bound *bound, char *text, size_t size) {
  static const char *const others[] = {[KW_CMP_BITS] = "the same bits",
                                       [KW_CMP_ULP] = "correctly rounded",
                                       [KW_CMP_ACCUMULATE] = "growth(n) eps of the magnitude",
                                       [KW_CMP_WRITTEN] = "bits of a written value",
                                       [KW_CMP_QUANTUM] = "a quantum",
                                       [KW_CMP_INDEX] = "an index of an equal value"};
  const bool sums = bound->compare == KW_CMP_ACCUMULATE;
  if (bound->compare == KW_CMP_ULP && bound->abs > 0) {
    snprintf(text, size, "%g ulp + %g eps", bound->ulp, bound->abs);
  } else if (bound->compare == KW_CMP_ULP && bound->ulp > 0) {
    snprintf(text, size, "%g ulp", bound->ulp);
  } else if (sums && bound->growth > 0) {
    snprintf(text, size, "%g eps of the magnitude", bound->growth);
  } else if (sums && bound->magnitude && strchr(bound->magnitude, '/')) {
    snprintf(text, size, "%s eps", bound->magnitude);
  } else if (sums && bound->magnitude && *bound->magnitude) {
    snprintf(text, size, "growth(n) eps of %s of absolute values", bound->magnitude);
  } else {
    snprintf(text, size, "%s", others[bound->compare]);
  }
}

static const char *const counted[] = {
    "", /* no op: the list may be empty otherwise */
#define KW_OP_COUNTED(op) op,
#include "ops.def"
};

bool kw_op_row_counted(const kw_op_row *row) {
  for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
    if (is_op(row, counted[i])) return true;
  }
  return false;
}

/* A vendor's op may have this shape and look at other elements all the same. */
bool kw_op_row_pointwise(const kw_op_row *row) {
  return row->shape == KW_SHAPE_BROADCAST && row->level != KW_LEVEL_VENDOR;
}
