/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools: which elements the windows of a pool hold, in any number of dimensions; and the kernels that find their
 * maxima, the same for every compute type.
 */
#ifndef KEYWAY_REFERENCE_POOLING_H
#define KEYWAY_REFERENCE_POOLING_H

#include "walk.h"

enum { KW_POOLING_DIMS = 3 };

/* The windows along one dimension: sliding ones, or adaptive ones, which share the elements out evenly. */
typedef struct kw_pooling_axis {
  int64_t size, windows;
  bool adaptive;
  int64_t kernel, stride, padding, dilation; /* of sliding windows */
} kw_pooling_axis;

typedef struct kw_pooling {
  uint32_t dims; /* that are pooled: the last ones of the tensors */
  kw_pooling_axis axes[KW_POOLING_DIMS];
} kw_pooling;

/* Part of an axis: `count` elements from `first` on, `step` apart. */
typedef struct kw_pooling_span {
  int64_t first, count, step;
  int64_t padded; /* of a window without dilation: elements, those of the padding included */
} kw_pooling_span;

/* Adaptive windows; `in` is what is pooled, `out` what comes of it. */
kw_pooling kw_pooling_adaptive(const kw_tensor_ref *in, const kw_tensor_ref *out, uint32_t dims);
/* Sliding windows; `lists` are the arguments kernel_size, stride, padding, and dilation where windows have one. */
kw_pooling kw_pooling_sliding(const kw_tensor_ref *in, const kw_tensor_ref *out, uint32_t dims, const kw_value *lists,
                              bool dilated);

/* The elements of window number `at` of an axis. One that hangs over the end of the padding is cut off there. */
kw_pooling_span kw_pooling_window(const kw_pooling_axis *axis, int64_t at);
/* The windows that hold element `at` of an axis; sliding ones without dilation. */
kw_pooling_span kw_pooling_covering(const kw_pooling_axis *axis, int64_t at);
/* A window by its number along each axis. */
void kw_pooling_spans(const kw_pooling *p, const int64_t *at, kw_pooling_span out_spans[KW_POOLING_DIMS]);

/* A tensor that stays at the first element of each of its planes (the dimensions that are pooled). */
kw_tensor_ref kw_pooling_planes(const kw_pooling *p, const kw_tensor_ref *tensor);
/* The part of a plane that the spans say, as tensor 0 of a walk; `plane` is the plane's first element. */
kw_walk kw_pooling_walk(const kw_pooling *p, const kw_pooling_span *spans, const kw_tensor_ref *tensor, char *plane);

/* Results are the maxima and where in their planes they lie. */
kw_status kw_pooling_max1d(const kw_call *call);
kw_status kw_pooling_max2d(const kw_call *call);
kw_status kw_pooling_max3d(const kw_call *call);
kw_status kw_pooling_adaptive_max1d(const kw_call *call);
kw_status kw_pooling_adaptive_max2d(const kw_call *call);
kw_status kw_pooling_adaptive_max3d(const kw_call *call);

#endif /* KEYWAY_REFERENCE_POOLING_H */
