/* SPDX-License-Identifier: Apache-2.0
 *
 * What an element was computed from.
 */
#include "judge/operands.h"

#include "judge/compare.h"

#include <inttypes.h>
#include <stdio.h>

bool kw_operands_known(const kw_case *c) {
  const kw_shape_rule rule = c->op->row.shape;
  return !c->op->vendor && (rule == KW_SHAPE_BROADCAST || rule == KW_SHAPE_INPLACE || rule == KW_SHAPE_LIKE);
}

/* Where in its storage a tensor that broadcasts has what element `index` of the result is computed from. */
static uint64_t place_of(const kw_case_tensor *result, const kw_case_tensor *tensor, int64_t index) {
  int64_t at = tensor->offset;
  for (uint32_t d = result->rank; d-- > 0;) {
    const int64_t here = index % result->shape[d];
    const uint32_t behind = result->rank - d; /* dimensions from here on */
    index /= result->shape[d];
    if (behind > tensor->rank) continue;
    const uint32_t own = tensor->rank - behind;
    if (tensor->shape[own] > 1) at += here * tensor->strides[own];
  }
  return (uint64_t)at;
}

static void print_scalar(const kw_value *value, char *text, size_t size) {
  switch (value->kind) {
    case KW_SCALAR_BOOL:
      snprintf(text, size, "%s", value->u.b ? "true" : "false");
      break;
    case KW_SCALAR_I64:
      snprintf(text, size, "%" PRId64, value->u.i);
      break;
    case KW_SCALAR_F64:
      snprintf(text, size, "%.17g", value->u.f);
      break;
    default:
      snprintf(text, size, "%.17g + %.17gi", value->u.c[0], value->u.c[1]);
  }
}

/* False for what is no number and no text, or was not given. */
static bool print_value(const kw_value *value, char *text, size_t size) {
  switch (value->tag) {
    case KW_TAG_SCALAR:
      print_scalar(value, text, size);
      return true;
    case KW_TAG_FLOAT:
      snprintf(text, size, "%.17g", value->u.f);
      return true;
    case KW_TAG_INT:
      snprintf(text, size, "%" PRId64, value->u.i);
      return true;
    case KW_TAG_BOOL:
      snprintf(text, size, "%s", value->u.b ? "true" : "false");
      return true;
    case KW_TAG_STRING:
      snprintf(text, size, "'%s'", value->u.s);
      return true;
    default:
      return false;
  }
}

void kw_operands_print(const kw_case *c, uint64_t seed, uint32_t run, int64_t index, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < c->op->arg_count && used < size; i++) {
    const kw_case_tensor *tensor = &c->tensors[i];
    char operand[96];
    if (tensor->given && (!tensor->output || tensor->read)) {
      _Alignas(16) char element[16];
      const kw_value_key key = kw_case_value_key(c, i, seed, run);
      kw_value_make(&key, tensor->dtype, place_of(&c->outs[0], tensor, index), element);
      kw_compare_print_element(operand, sizeof operand, tensor->dtype, element);
    } else if (tensor->given || !print_value(&c->args[i].value, operand, sizeof operand)) {
      continue;
    }
    used += (size_t)snprintf(text + used, size - used, "%s%s = %s", used ? ", " : "", c->op->args[i].name, operand);
  }
}
