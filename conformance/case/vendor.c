/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of a vendor's own ops.
 */
#include "case/make.h"
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

#include <stdio.h>
#include <stdlib.h>

/* Whether an argument without a default is of a kind for which any value makes sense. */
static bool has_ordinary_values(const kw_suite_arg *arg) {
  return arg->tag == KW_TAG_TENSOR || arg->tag == KW_TAG_FLOAT || arg->tag == KW_TAG_SCALAR || arg->tag == KW_TAG_INT ||
         arg->tag == KW_TAG_BOOL;
}

char *kw_case_vendor_gap(const kw_suite_op *op) {
  char *text = NULL;
  uint32_t tensors = 0;
  for (uint32_t i = 0; i < op->arg_count; i++) {
    const kw_suite_arg *arg = &op->args[i];
    tensors += arg->tag == KW_TAG_TENSOR;
    if (arg->has_default || arg->optional || has_ordinary_values(arg)) continue;
    if (asprintf(&text, "its argument %s has no default, and only the vendor knows values for it", arg->name) < 0)
      abort();
    return text;
  }
  if (asprintf(&text, tensors > 0 ? "no case fits it" : "it takes no tensor") < 0) abort();
  return text;
}

/* Nothing is known but the schema: tensors of one shape and dtype, attributes at their default or at ordinary values.
 */
bool kw_case_make_vendor(kw_case *c) {
  static const kw_shape prime[] = {{1, {7}}, {2, {13, 5}}, {1, {1021}}, {3, {3, 5, 7}}, {1, {4099}}};
  static const kw_shape one[] = {{1, {1}}, {2, {1, 1}}};
  static const double floats[] = {0.5, -2.0, 1.25, 0.1};
  kw_shape shape = {2, {12, 12}};
  uint32_t n = c->number, count = 4, tensors = 0, tensor_count = 0;
  bool layouts = kw_case_about_layouts(c->class);
  if (c->class == KW_CLASS_ONE) {
    count = COUNT(one);
    if (n < count) shape = one[n];
  } else if (c->class == KW_CLASS_PRIME) {
    count = COUNT(prime);
    if (n < count) shape = prime[n];
  } else if (c->class == KW_CLASS_LARGE) {
    count = 1;
    shape = (kw_shape){2, {257, 263}};
  } else if (c->class != KW_CLASS_ATTRS && !layouts) {
    return false;
  }
  if (!layouts && n >= count) return false;
  kw_case_resize(c, &shape);
  for (uint32_t i = 0; i < c->op->arg_count; i++) tensor_count += c->op->args[i].tag == KW_TAG_TENSOR;
  for (uint32_t i = 0; i < c->op->arg_count; i++) {
    const kw_suite_arg *arg = &c->op->args[i];
    kw_layout layout = KW_LAYOUT_DENSE;
    bool wanted = !arg->has_default || c->class == KW_CLASS_ATTRS;
    if (arg->tag == KW_TAG_TENSOR) {
      if (!kw_case_pick_layout(c->class, n, tensors, tensor_count, &layout)) return false;
      if (arg->mutated) layout = KW_LAYOUT_DENSE;
      kw_case_set_tensor(c, i, c->key, &shape, layout);
      c->tensors[i].output = arg->mutated;
      tensors++;
    } else if (wanted && (arg->tag == KW_TAG_FLOAT || arg->tag == KW_TAG_SCALAR)) {
      c->args[i].value = (kw_value){.tag = arg->tag, .kind = arg->tag == KW_TAG_SCALAR ? KW_SCALAR_F64 : 0};
      c->args[i].value.u.f = floats[n % COUNT(floats)];
      c->arg_count = i + 1;
    } else if (wanted && arg->tag == KW_TAG_INT) {
      c->args[i].value = (kw_value){.tag = KW_TAG_INT};
      c->args[i].value.u.i = (int64_t)(n % 3);
      c->arg_count = i + 1;
    } else if (wanted && arg->tag == KW_TAG_BOOL) {
      kw_case_give(c, i, kw_arg_bool(n % 2));
    } else if (!arg->has_default && !arg->optional) {
      return false; /* strings and lists: only the vendor knows which make sense */
    }
  }
  return tensors > 0;
}
