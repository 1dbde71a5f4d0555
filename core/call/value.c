/* SPDX-License-Identifier: Apache-2.0
 *
 * When two values of calls are the same.
 */
#include "call/value.h"

bool kw_values_equal(const kw_value *a, const kw_value *b) {
  if (kw_value_head(a) != kw_value_head(b)) return false;
  switch (a->tag) {
    case KW_TAG_NONE:
      return true;
    case KW_TAG_INT_LIST:
      if (a->count == 0) return true;
      return a->u.ints && b->u.ints && memcmp(a->u.ints, b->u.ints, a->count * sizeof(int64_t)) == 0;
    case KW_TAG_STRING:
      return a->u.s && b->u.s && strcmp(a->u.s, b->u.s) == 0;
    case KW_TAG_BOOL:
      return a->u.b == b->u.b;
    case KW_TAG_DTYPE:
      return a->u.dtype == b->u.dtype;
    case KW_TAG_SCALAR:
      if (a->kind == KW_SCALAR_BOOL) return a->u.b == b->u.b;
      if (a->kind == KW_SCALAR_C128) return memcmp(a->u.c, b->u.c, sizeof a->u.c) == 0;
      return a->u.i == b->u.i;
    case KW_TAG_INT:
    case KW_TAG_FLOAT:
      return a->u.i == b->u.i;
    default:
      return false;
  }
}
