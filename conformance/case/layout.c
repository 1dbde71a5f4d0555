/* SPDX-License-Identifier: Apache-2.0
 *
 * How the tensors of a case lie in their storage.
 */
#include "case/layout.h"

#include <string.h>

void kw_case_layout(kw_case_tensor *tensor, const kw_shape *shape, kw_layout layout) {
  uint32_t rank = shape->rank;
  tensor->rank = rank;
  tensor->share = -1;
  tensor->numel = 1;
  tensor->offset = 0;
  int64_t room[KW_MAX_RANK], start[KW_MAX_RANK], step[KW_MAX_RANK]; /* of the storage block, per dimension */
  uint32_t order[KW_MAX_RANK];                                      /* dimensions, slowest first */
  for (uint32_t d = 0; d < rank; d++) {
    tensor->shape[d] = shape->dims[d];
    tensor->numel *= shape->dims[d];
    order[d] = layout == KW_LAYOUT_TRANSPOSED ? rank - 1 - d : layout == KW_LAYOUT_ROTATED ? (d + rank - 1) % rank : d;
    if (layout == KW_LAYOUT_CHANNELS_LAST && d > 0) order[d] = d + 1 < rank ? d + 1 : 1;
    if (layout == KW_LAYOUT_HEADS && rank > 3 && (d == 1 || d == 2)) order[d] = 3 - d;
    if (layout == KW_LAYOUT_PITCHED && rank > 1 && d + 2 >= rank) order[d] = 2 * rank - 3 - d;
    room[d] = shape->dims[d];
    start[d] = 0;
    step[d] = 1;
    if (layout == KW_LAYOUT_STEPPED && (d == 0 || d + 1 == rank)) {
      step[d] = d == 0 ? 2 : 3;
      start[d] = 1;
    } else if (layout == KW_LAYOUT_INNER || layout == KW_LAYOUT_PITCHED) {
      start[d] = d + 1 == rank ? 3 : 1;
      room[d] += start[d] + 2;
    }
    room[d] *= step[d];
    bool expanded = layout == KW_LAYOUT_EXPAND_ALL || (layout == KW_LAYOUT_EXPAND_FIRST && d == 0) ||
                    (layout == KW_LAYOUT_EXPAND_LAST && d + 1 == rank);
    if (expanded) step[d] = 0;
    if (expanded) room[d] = 1;
  }
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0;) {
    uint32_t d = order[i];
    tensor->strides[d] = stride * step[d];
    tensor->offset += stride * start[d];
    stride *= room[d];
  }
  if (tensor->numel == 0) {
    tensor->offset = 0;
    tensor->extent = 0;
    return;
  }
  int64_t last = tensor->offset;
  for (uint32_t d = 0; d < rank; d++) last += (shape->dims[d] - 1) * tensor->strides[d];
  tensor->extent = (uint64_t)last + 1;
}

kw_shape kw_case_shape_of(const kw_case_tensor *tensor) {
  kw_shape shape = {.rank = tensor->rank};
  memcpy(shape.dims, tensor->shape, sizeof shape.dims);
  return shape;
}

void kw_case_layout_dense(kw_case_tensor *tensor) {
  const kw_shape shape = kw_case_shape_of(tensor);
  kw_case_layout(tensor, &shape, KW_LAYOUT_DENSE);
}

bool kw_case_about_layouts(kw_case_class class) {
  return class == KW_CLASS_TRANSPOSED || class == KW_CLASS_SLICED || class == KW_CLASS_STRIDE0;
}

static uint32_t layout_kinds(kw_case_class class) {
  return class == KW_CLASS_STRIDE0 ? 3 : 2;
}

bool kw_case_pick_layout(kw_case_class class, uint32_t number, uint32_t tensor, uint32_t count, kw_layout *out_layout) {
  static const kw_layout transposed[] = {KW_LAYOUT_TRANSPOSED, KW_LAYOUT_ROTATED};
  static const kw_layout sliced[] = {KW_LAYOUT_STEPPED, KW_LAYOUT_INNER};
  static const kw_layout stride0[] = {KW_LAYOUT_EXPAND_FIRST, KW_LAYOUT_EXPAND_LAST, KW_LAYOUT_EXPAND_ALL};
  *out_layout = KW_LAYOUT_DENSE;
  if (!kw_case_about_layouts(class)) return true;
  const kw_layout *layouts = class == KW_CLASS_TRANSPOSED ? transposed : class == KW_CLASS_SLICED ? sliced : stride0;
  const uint32_t kinds = layout_kinds(class);
  uint32_t who = number / kinds; /* 0: all tensors; 1: the first only; 2: the last only */
  if (who >= (count > 1 ? 3u : 1u)) return false;
  if (who == 0 || (who == 1 && tensor == 0) || (who == 2 && tensor == count - 1)) *out_layout = layouts[number % kinds];
  return true;
}

uint32_t kw_case_layout_count(kw_case_class class, uint32_t count) {
  return layout_kinds(class) * (count > 1 ? 3 : 1);
}

bool kw_case_is_deep(const kw_case *c, uint32_t count) {
  return kw_case_about_layouts(c->class) && kw_case_is_behind(c, kw_case_layout_count(c->class, count));
}

bool kw_case_is_behind(const kw_case *c, uint32_t usual) {
  return c->number == usual || (c->class == KW_CLASS_TRANSPOSED && c->number == usual + 1);
}

kw_layout kw_case_deep_layout(const kw_case *c, uint32_t usual) {
  return c->class == KW_CLASS_TRANSPOSED ? (c->number == usual ? KW_LAYOUT_TRANSPOSED : KW_LAYOUT_HEADS)
         : c->class == KW_CLASS_SLICED   ? KW_LAYOUT_INNER
                                         : KW_LAYOUT_EXPAND_FIRST;
}

bool kw_case_pick_deep_layout(const kw_case *c, uint32_t tensor, uint32_t count, kw_layout *out_layout) {
  if (!kw_case_is_deep(c, count)) return kw_case_pick_layout(c->class, c->number, tensor, count, out_layout);
  *out_layout = kw_case_deep_layout(c, kw_case_layout_count(c->class, count));
  return true;
}

kw_layout kw_case_beside_layout(const kw_case *c) {
  return c->class == KW_CLASS_SLICED ? KW_LAYOUT_STEPPED : KW_LAYOUT_DENSE;
}

kw_layout kw_case_out_layout(const kw_case *c) {
  static const kw_layout layouts[KW_CASE_OUT_LAYOUTS] = {KW_LAYOUT_TRANSPOSED, KW_LAYOUT_STEPPED, KW_LAYOUT_ROTATED,
                                                         KW_LAYOUT_INNER};
  return c->class == KW_CLASS_OUTPUTS ? layouts[c->number % KW_CASE_OUT_LAYOUTS] : KW_LAYOUT_DENSE;
}
