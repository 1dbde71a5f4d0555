/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers on the host: those that are drawn, and dtypes converted.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "model.h"

/* What the elements of a tensor that is drawn follow from: its name, and the model's. */
uint64_t number_seed(const struct model *model, const struct model_tensor *tensor);
/* Element `index` of it: a whole number of -most .. most, times a power of two, and the mean. */
double number_draw(uint64_t seed, const struct model_tensor *tensor, size_t index);
/* Which element of a tensor of `numel` is number `i` of a sample of `count`. */
size_t number_sample(size_t i, size_t count, size_t numel);

/* Writes `value`, which the dtype can hold exactly, as element `index`; and back. KW_F32, KW_F16 or KW_BF16. */
void number_put(kw_dtype dtype, void *elements, size_t index, double value);
double number_take(kw_dtype dtype, const void *elements, size_t index);

#endif /* NUMBERS_H */
