/* SPDX-License-Identifier: Apache-2.0
 *
 * What makers build cases with.
 */
#ifndef KEYWAY_CONFORMANCE_PARTS_H
#define KEYWAY_CONFORMANCE_PARTS_H

#include "case/argument.h"
#include "case/attr.h"
#include "case/layout.h"

/* The number of elements of an array. */
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* The sizes that a case is made from: a shape, or the sizes of a product; everything else has to follow from them.
 * Called once, before anything does, it notes them, and replaces them by the smaller ones of a shrunken case, or those
 * of the class SIZES. Cases without a call of it cannot be shrunk. */
void kw_case_resize(kw_case *c, kw_shape *io_sizes);
/* Whether sizes may be other ones than the maker's: an attribute that a size limits has to be held in it. */
bool kw_case_is_resized(const kw_case *c);

/* Makes argument `arg` a tensor. */
void kw_case_set_tensor(kw_case *c, uint32_t arg, kw_dtype dtype, const kw_shape *shape, kw_layout layout);

/* Makes argument `arg` a list of `count` absent tensors and returns the index of the first in kw_case.tensors. All
 * lists of a case together have at most KW_CASE_ENTRIES entries. */
uint32_t kw_case_set_list(kw_case *c, uint32_t arg, uint32_t count);
/* Gives one entry of a list, by that index. Its domain is that of the list's argument. */
void kw_case_set_entry(kw_case *c, uint32_t arg, uint32_t tensor, kw_dtype dtype, const kw_shape *shape,
                       kw_layout layout);

/* Makes tensor number `tensor` of the case hold indices in [0, limit), or in [-limit, limit) with `from_end`. `spread`:
 * along a dimension of stride `stride` (elements of the tensor's storage, as laid out) each index occurs at most once
 * in `limit` neighbours, at most twice in 2 * limit; without, any index may occur anywhere. */
void kw_case_set_indices(kw_case *c, uint32_t tensor, int64_t limit, bool from_end, bool spread, int64_t stride);

/* Sets result number `result`. */
void kw_case_set_result(kw_case *c, uint32_t result, kw_dtype dtype, const kw_shape *shape, kw_layout layout);

/* Makes argument 0, marked (a!), the result 0 that has been set. */
void kw_case_set_in_place(kw_case *c);
/* Gives a tensor of an argument that is marked so and is read before it changes: `tensor` is `arg`, or an entry of its
 * list (kw_case_set_list). It is the result that the schema says, or one more of the case. */
void kw_case_set_changed(kw_case *c, uint32_t arg, uint32_t tensor, kw_dtype dtype, const kw_shape *shape,
                         kw_layout layout);

/* `count` tensors from argument `first` on, [n, c, ...] the most of them, with the case's values and in its layouts; in
 * TRANSPOSED the last numbers are channels-last. False when the layouts have run out. */
bool kw_case_set_images(kw_case *c, uint32_t first, uint32_t count, const kw_shape *shapes);
/* The layout of such results: as kw_case_out_layout, and channels-last behind those. */
kw_layout kw_case_image_layout(const kw_case *c);

/* Shapes of random results, by class: element counts that leave the last block of four words whole, or end it early. */
bool kw_case_random_shape(const kw_case *c, kw_shape *out);

#endif /* KEYWAY_CONFORMANCE_PARTS_H */
