/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the case generator.
 */
#ifndef KEYWAY_CONFORMANCE_CASE_MAKE_H
#define KEYWAY_CONFORMANCE_CASE_MAKE_H

#include "case/case.h"

typedef enum kw_layout {
  KW_LAYOUT_DENSE,
  KW_LAYOUT_TRANSPOSED, /* first dimension fastest */
  KW_LAYOUT_ROTATED,    /* the last dimension slowest, the others in order */
  /* dimension 1 fastest, the others in order */
  KW_LAYOUT_CHANNELS_LAST,
  KW_LAYOUT_STEPPED,      /* every second of the first, every third of the last dimension, with an offset */
  KW_LAYOUT_INNER,        /* the inner part of a larger block */
  KW_LAYOUT_EXPAND_FIRST, /* stride 0 in the first dimension */
  KW_LAYOUT_EXPAND_LAST,
  KW_LAYOUT_EXPAND_ALL
} kw_layout;

/* The sizes that a case is made from: a shape, or the sizes of a product; everything else has to follow from them.
 * Called once, before anything does, it notes them, and replaces them by the smaller ones of a shrunken case. Cases
 * without a call of it cannot be shrunk. */
void kw_case_resize(kw_case *c, kw_shape *io_sizes);

/* Sets shape, strides, offset, numel and extent; dtype and domain are the caller's. */
void kw_case_layout(kw_case_tensor *tensor, const kw_shape *shape, kw_layout layout);

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

/* Gives an attribute: any value that is no tensor and no list. */
void kw_case_give(kw_case *c, uint32_t arg, kw_value value);
/* Gives an int[]. */
void kw_case_give_ints(kw_case *c, uint32_t arg, const int64_t *ints, uint32_t count);

/* TRANSPOSED, SLICED and STRIDE0. */
bool kw_case_about_layouts(kw_case_class class);

/* The layout of the only, or of the tensor number `tensor` of `count`: dense, but in the classes about layouts, where
 * it depends on the case number which tensors are odd and how. False when the class has no such number. */
bool kw_case_pick_layout(kw_case_class class, uint32_t number, uint32_t tensor, uint32_t count, kw_layout *out_layout);

/* The layout of results: dense, but in the class OUTPUTS, where so many take turns by case number. */
#define KW_CASE_OUT_LAYOUTS 4
kw_layout kw_case_out_layout(const kw_case *c);

/* `count` tensors from argument `first` on, [n, c, ...] the most of them, with the case's values and in its layouts; in
 * TRANSPOSED the last numbers are channels-last. False when the layouts have run out. */
bool kw_case_set_images(kw_case *c, uint32_t first, uint32_t count, const kw_shape *shapes);
/* The layout of such results: as kw_case_out_layout, and channels-last behind those. */
kw_layout kw_case_image_layout(const kw_case *c);

/* Fills the arguments that are no tensors. False when the case number asks for a combination that does not exist. */
bool kw_case_set_attrs(kw_case *c);

/* Shapes of random results, by class: element counts that leave the last block of four words whole, or end it early. */
bool kw_case_random_shape(const kw_case *c, kw_shape *out);
/* Whether all integers from low to high are values of the dtype. */
bool kw_case_holds_integers(kw_dtype dtype, int64_t low, int64_t high);

/* The domain of an argument's values in classes that are not about values. */
kw_domain kw_case_domain(const kw_case *c, uint32_t arg);

/* The makers: each fills a case of its class and number, or returns false when there is none. Which maker makes an op's
 * cases is said by its shape rule; ops with a generator argument have `random` whatever their rule. */
typedef bool kw_case_maker(kw_case *c);
#define KW_SHAPE_RULE(name, infer, cases, text) kw_case_maker kw_case_make_##cases;
#include "shape_rules.def"
kw_case_maker kw_case_make_vendor;

/* Parts of them: of along_dim scan and softmax, of random the random choices. */
kw_case_maker kw_case_make_scan, kw_case_make_softmax, kw_case_make_sample;

#endif /* KEYWAY_CONFORMANCE_CASE_MAKE_H */
