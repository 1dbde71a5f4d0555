/* SPDX-License-Identifier: Apache-2.0
 *
 * Building a case: its tensors, lists, results and sizes, whose layouts and domains follow from class and number.
 */
#include "case/parts.h"
#include "case/sweep.h"

void kw_case_set_entry(kw_case *c, uint32_t arg, uint32_t tensor, kw_dtype dtype, const kw_shape *shape,
                       kw_layout layout) {
  kw_case_tensor *t = &c->tensors[tensor];
  t->given = true;
  t->dtype = dtype;
  t->domain = kw_case_domain(c, arg);
  kw_case_layout(t, shape, layout);
}

void kw_case_set_tensor(kw_case *c, uint32_t arg, kw_dtype dtype, const kw_shape *shape, kw_layout layout) {
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_TENSOR});
  kw_case_set_entry(c, arg, arg, dtype, shape, layout);
}

uint32_t kw_case_set_list(kw_case *c, uint32_t arg, uint32_t count) {
  c->args[arg].first = KW_MAX_ARGS + c->entry_count;
  c->entry_count += count;
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_TENSOR_LIST, .count = count});
  return c->args[arg].first;
}

void kw_case_set_indices(kw_case *c, uint32_t tensor, int64_t limit, bool from_end, bool spread, int64_t stride) {
  kw_case_tensor *t = &c->tensors[tensor];
  t->domain = spread ? KW_DOMAIN_SPREAD : KW_DOMAIN_INDEX;
  t->limit = limit;
  t->from_end = from_end;
  t->value_stride = (uint32_t)stride;
}

void kw_case_set_result(kw_case *c, uint32_t result, kw_dtype dtype, const kw_shape *shape, kw_layout layout) {
  kw_case_tensor *t = &c->outs[result];
  t->given = true;
  t->dtype = dtype;
  kw_case_layout(t, shape, layout);
}

void kw_case_set_in_place(kw_case *c) {
  kw_case_give(c, 0, (kw_value){.tag = KW_TAG_TENSOR});
  c->tensors[0] = c->outs[0];
  c->tensors[0].output = true;
}

void kw_case_set_changed(kw_case *c, uint32_t arg, uint32_t tensor, kw_dtype dtype, const kw_shape *shape,
                         kw_layout layout) {
  const uint32_t result = c->op->args[arg].result < c->op->result_count ? c->op->args[arg].result : c->result_count++;
  if (tensor == arg) {
    kw_case_set_tensor(c, arg, dtype, shape, layout);
  } else {
    kw_case_set_entry(c, arg, tensor, dtype, shape, layout);
  }
  kw_case_set_result(c, result, dtype, shape, layout);
  c->bounds[result] = kw_op_row_bound(&c->op->row, c->op->args[arg].result);
  c->tensors[tensor].output = c->tensors[tensor].read = true;
  c->tensors[tensor].result = result;
}

void kw_case_resize(kw_case *c, kw_shape *io_sizes) {
  if (c->sweep) kw_case_sweep(c, io_sizes);
  bool fits = !c->shrunk || c->sizes.rank == io_sizes->rank;
  for (uint32_t d = 0; d < io_sizes->rank && c->shrunk && fits; d++) {
    fits = c->sizes.dims[d] <= io_sizes->dims[d] && (c->sizes.dims[d] > 0 || io_sizes->dims[d] == 0);
  }
  if (c->shrunk && fits) *io_sizes = c->sizes;
  c->sizes = *io_sizes;
  c->resizable = fits;
}

bool kw_case_is_resized(const kw_case *c) {
  return c->shrunk || c->sweep != 0;
}

static int64_t numel_of(const kw_shape *shape) {
  int64_t numel = 1;
  for (uint32_t d = 0; d < shape->rank; d++) numel *= shape->dims[d];
  return numel;
}

bool kw_case_set_images(kw_case *c, uint32_t first, uint32_t count, const kw_shape *shapes) {
  const uint32_t usual = count > 1 ? 6 : 2; /* numbers of TRANSPOSED that kw_case_pick_layout knows */
  bool last = c->class == KW_CLASS_TRANSPOSED && c->number >= usual;
  if (last && c->number - usual > count) return false;
  for (uint32_t i = 0; i < count; i++) {
    kw_layout chosen = KW_LAYOUT_DENSE;
    if (last && (c->number == usual || c->number - usual == i + 1)) chosen = KW_LAYOUT_CHANNELS_LAST;
    if (!last && !kw_case_pick_layout(c->class, c->number, i, count, &chosen)) return false;
    kw_case_set_tensor(c, first + i, c->key, &shapes[i], chosen);
    c->tensors[first + i].domain = c->class == KW_CLASS_EXACT ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
    bool marked = c->class == KW_CLASS_SPECIAL && c->number == i;
    if (c->class == KW_CLASS_SPECIAL) c->tensors[first + i].domain = marked ? KW_DOMAIN_SPECIAL_ROW : KW_DOMAIN_SMALL;
    if (c->class == KW_CLASS_SPECIAL && c->number == 2) c->tensors[first + i].domain = KW_DOMAIN_FEW;
    if (marked) c->tensors[first + i].value_stride = (uint32_t)(numel_of(&shapes[i]) / 4 + 1);
  }
  c->exact = c->class == KW_CLASS_EXACT;
  return true;
}

kw_layout kw_case_image_layout(const kw_case *c) {
  if (c->class == KW_CLASS_TRANSPOSED && c->number == 6) return KW_LAYOUT_CHANNELS_LAST;
  bool last = c->class == KW_CLASS_OUTPUTS && c->number >= KW_CASE_OUT_LAYOUTS;
  return last ? KW_LAYOUT_CHANNELS_LAST : kw_case_out_layout(c);
}

bool kw_case_random_shape(const kw_case *c, kw_shape *out) {
  static const kw_shape scalar[] = {{0, {0}}}, empty[] = {{1, {0}}, {3, {2, 0, 3}}}, one[] = {{1, {1}}, {3, {1, 1, 1}}};
  static const kw_shape prime[] = {{1, {2}},       {1, {3}},
                                   {1, {4}},       {1, {5}},
                                   {1, {7}},       {1, {8}},
                                   {1, {1021}},    {2, {13, 5}},
                                   {3, {3, 5, 7}}, {4, {2, 3, 5, 7}},
                                   {1, {4099}},    {2, {6, 10}},
                                   {2, {101, 1}},  {16, {1, 2, 1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 2, 1}}};
  static const kw_shape large[] = {{2, {257, 263}}, {1, {65537}}};
  static const kw_shape strided[] = {{2, {5, 7}}, {3, {4, 3, 5}}, {2, {67, 129}}}, plain[] = {{2, {7, 9}}};
  static const struct {
    const kw_shape *shapes;
    uint32_t count, numbers;
  } by_class[KW_CLASS_COUNT] = {
      [KW_CLASS_SCALAR] = {scalar, 1, 1},
      [KW_CLASS_EMPTY] = {empty, COUNT(empty), COUNT(empty)},
      [KW_CLASS_ONE] = {one, COUNT(one), COUNT(one)},
      [KW_CLASS_PRIME] = {prime, COUNT(prime), COUNT(prime)},
      [KW_CLASS_LARGE] = {large, COUNT(large), COUNT(large)},
      [KW_CLASS_ATTRS] = {plain, 1, UINT32_MAX},
      [KW_CLASS_OUTPUTS] = {strided, COUNT(strided), 8},
      [KW_CLASS_TRANSPOSED] = {strided, COUNT(strided), UINT32_MAX},
      [KW_CLASS_SLICED] = {strided, COUNT(strided), UINT32_MAX},
      [KW_CLASS_STRIDE0] = {strided, COUNT(strided), UINT32_MAX},
  };
  if (c->number >= by_class[c->class].numbers) return false;
  *out = by_class[c->class].shapes[c->number % by_class[c->class].count];
  return true;
}
