/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts: how a tensor of a case lies in its storage, and which class and number of a case asks for which.
 */
#ifndef KEYWAY_CONFORMANCE_LAYOUT_H
#define KEYWAY_CONFORMANCE_LAYOUT_H

#include "case/case.h"

typedef enum kw_layout {
  KW_LAYOUT_DENSE,
  KW_LAYOUT_TRANSPOSED, /* first dimension fastest */
  KW_LAYOUT_ROTATED,    /* the last dimension slowest, the others in order */
  /* dimension 1 fastest, the others in order */
  KW_LAYOUT_CHANNELS_LAST,
  /* dimensions 1 and 2 changed, of four or more: attention's heads, whose first and last strides are those of a dense
     tensor */
  KW_LAYOUT_HEADS,
  KW_LAYOUT_STEPPED, /* every second of the first, every third of the last dimension, with an offset */
  KW_LAYOUT_INNER,   /* the inner part of a larger block */
  KW_LAYOUT_PITCHED, /* the same of matrices whose columns are dense: the step between columns is more than a column */
  KW_LAYOUT_EXPAND_FIRST, /* stride 0 in the first dimension */
  KW_LAYOUT_EXPAND_LAST,
  KW_LAYOUT_EXPAND_ALL
} kw_layout;

/* Sets shape, strides, offset, numel and extent; dtype and domain are the caller's. */
void kw_case_layout(kw_case_tensor *tensor, const kw_shape *shape, kw_layout layout);

kw_shape kw_case_shape_of(const kw_case_tensor *tensor);
/* Lays it out densely, in the shape that it has. */
void kw_case_layout_dense(kw_case_tensor *tensor);

/* TRANSPOSED, SLICED and STRIDE0. */
bool kw_case_about_layouts(kw_case_class class);

/* The layout of the only, or of the tensor number `tensor` of `count`: dense, but in the classes about layouts, where
 * it depends on the case number which tensors are odd and how. False when the class has no such number. */
bool kw_case_pick_layout(kw_case_class class, uint32_t number, uint32_t tensor, uint32_t count, kw_layout *out_layout);

/* How many numbers it knows for so many tensors, in a class about layouts. */
uint32_t kw_case_layout_count(kw_case_class class, uint32_t count);

/* Behind those a class about layouts may have one case more, of tensors of many dimensions, no two of which can be
 * walked as one, and TRANSPOSED another, in which only inner dimensions are changed: whether this is one. */
bool kw_case_is_deep(const kw_case *c, uint32_t count);
/* The same where a class has `usual` numbers before these, and the layout of all tensors of such a case. */
bool kw_case_is_behind(const kw_case *c, uint32_t usual);
kw_layout kw_case_deep_layout(const kw_case *c, uint32_t usual);
/* As kw_case_pick_layout, those cases included. */
bool kw_case_pick_deep_layout(const kw_case *c, uint32_t tensor, uint32_t count, kw_layout *out_layout);

/* Of what comes beside the tensors that a class is about, a bias or a scale: stepped in SLICED, dense elsewhere. */
kw_layout kw_case_beside_layout(const kw_case *c);

/* The layout of results: dense, but in the class OUTPUTS, where so many take turns by case number. */
#define KW_CASE_OUT_LAYOUTS 4
kw_layout kw_case_out_layout(const kw_case *c);

#endif /* KEYWAY_CONFORMANCE_LAYOUT_H */
