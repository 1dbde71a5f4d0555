/* SPDX-License-Identifier: Apache-2.0
 *
 * What is normalised together, for the norms and their backwards.
 */
#ifndef KEYWAY_CPU_FAST_NORM_H
#define KEYWAY_CPU_FAST_NORM_H

#include "rows.h"

typedef enum kw_norm_rows { KW_NORM_LAST_DIMS, KW_NORM_EACH_CHANNEL, KW_NORM_EACH_GROUP } kw_norm_rows;

/* Dimensions of a view of the input: those along which rows follow each other, and those that weights have. */
typedef struct kw_norm_layout {
  uint32_t outer, weights;
  int64_t groups; /* that the view splits dimension 1 into; 0: the input is its own view */
} kw_norm_layout;

/* `detail` is the normalised shape, or how many groups there are. */
kw_norm_layout kw_norm_layout_of(kw_norm_rows rows, uint32_t rank, const kw_value *detail);

/* As one views the input, weights of it, and numbers for its rows, which may have the rows' own dimensions with size 1.
 */
kw_tensor_ref kw_norm_view(const kw_norm_layout *layout, const kw_tensor_ref *tensor);
kw_tensor_ref kw_norm_weights(const kw_norm_layout *layout, const kw_tensor_ref *weights, const kw_tensor_ref *view);
kw_tensor_ref kw_norm_numbers(const kw_norm_layout *layout, const kw_tensor_ref *numbers, const kw_tensor_ref *view);

/* A number such as eps, or what stands for none. */
double kw_norm_number(const kw_value *value, double otherwise);

#endif /* KEYWAY_CPU_FAST_NORM_H */
