/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the case generator.
 */
#ifndef KEYWAY_CONFORMANCE_CASE_MAKE_H
#define KEYWAY_CONFORMANCE_CASE_MAKE_H

#include "case.h"

typedef struct kw_shape {
  uint32_t rank;
  int64_t dims[KW_MAX_RANK];
} kw_shape;

typedef enum kw_layout {
  KW_LAYOUT_DENSE,
  KW_LAYOUT_TRANSPOSED,   /* first dimension fastest */
  KW_LAYOUT_ROTATED,      /* the last dimension slowest, the others in order */
  KW_LAYOUT_STEPPED,      /* every second of the first, every third of the last dimension, with an offset */
  KW_LAYOUT_INNER,        /* the inner part of a larger block */
  KW_LAYOUT_EXPAND_FIRST, /* stride 0 in the first dimension */
  KW_LAYOUT_EXPAND_LAST,
  KW_LAYOUT_EXPAND_ALL
} kw_layout;

/* Sets shape, strides, offset, numel and extent; dtype and domain are the caller's. */
void kw_case_layout(kw_case_tensor *tensor, const kw_shape *shape, kw_layout layout);

/* Makes argument `arg` a tensor. */
void kw_case_set_tensor(kw_case *c, uint32_t arg, kw_dtype dtype, const kw_shape *shape, kw_layout layout);

/* The layout of the only, or of the tensor number `tensor` of `count`, in the classes about layouts: which of them is
 * odd depends on the case number. False when the class has no such number. */
bool kw_case_pick_layout(kw_case_class class, uint32_t number, uint32_t tensor, uint32_t count, kw_layout *out_layout);

/* Fills the arguments that are no tensors. False when the case number asks for a combination that does not exist. */
bool kw_case_set_attrs(kw_case *c);

/* The domain of an argument's values in classes that are not about values. */
kw_domain kw_case_domain(const kw_case *c, uint32_t arg);

bool kw_case_make_elementwise(kw_case *c);
bool kw_case_make_reduce(kw_case *c);
bool kw_case_make_mm(kw_case *c);
bool kw_case_make_vendor(kw_case *c);

#endif /* KEYWAY_CONFORMANCE_CASE_MAKE_H */
