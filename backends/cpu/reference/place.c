/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that place the elements of a tensor elsewhere: repeat, flip, roll, triangles and the like.
 */
#include "place.h"

#include "move.h"
#include "operand.h"
#include "walk.h"

/* ---- Every element of the result from one of argument 0 -------------------------------------------------------- */

enum { NOWHERE = -1 };

/* Where, in its dimension d, the element of argument 0 lies that goes to place i of the result in the dimension at the
 * same distance from the last one; or NOWHERE. `size` is argument 0's. */
typedef int64_t (*source_fn)(const kw_call *call, uint32_t d, int64_t size, int64_t i);

/* Elements from nowhere become `fill`. */
static kw_status place(const kw_call *call, source_fn source, const void *fill) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  if (out->dtype != in->dtype) return KW_ERR_INVALID_ARGUMENT;
  const int64_t item = (int64_t)kw_number_size(in->dtype);
  const uint32_t more = out->rank - in->rank;
  kw_walk walk;
  kw_walk_start(&walk, out->rank, out->shape);
  kw_walk_add(&walk, out);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    const char *at = kw_walk_base(in);
    for (uint32_t d = 0; d < in->rank && at != fill; d++) {
      int64_t i = source(call, d, in->shape[d], walk.index[d + more]);
      at = i == NOWHERE ? fill : at + i * in->strides[d] * item;
    }
    kw_number_convert(in->dtype, at, out->dtype, walk.at[0]);
  }
  return KW_OK;
}

static int64_t repeat_source(const kw_call *call, uint32_t d, int64_t size, int64_t i) {
  (void)call;
  (void)d;
  return i % size;
}

kw_status kw_place_repeat(const kw_call *call) {
  return place(call, repeat_source, NULL);
}

/* True where `dim`, negative from the end, is dimension d of argument 0. */
static bool is_dim(const kw_call *call, int64_t dim, uint32_t d) {
  return (dim < 0 ? dim + call->args[0].u.tensor->rank : dim) == d;
}

int64_t kw_place_flipped(const kw_call *call, uint32_t d, int64_t size, int64_t i) {
  const kw_value *dims = &call->args[1];
  for (uint32_t k = 0; k < dims->count; k++) {
    if (is_dim(call, dims->u.ints[k], d)) return size - 1 - i;
  }
  return i;
}

kw_status kw_place_flip(const kw_call *call) {
  return place(call, kw_place_flipped, NULL);
}

int64_t kw_place_turned(int64_t i, int64_t shift, int64_t size) {
  int64_t from = i - shift % size;
  return from < 0 ? from + size : from >= size ? from - size : from;
}

int64_t kw_place_rolled(const kw_call *call, uint32_t d, int64_t size, int64_t i) {
  const kw_value *shifts = &call->args[1], *dims = &call->args[2];
  for (uint32_t k = 0; k < dims->count; k++) {
    if (is_dim(call, dims->u.ints[k], d)) i = kw_place_turned(i, shifts->u.ints[k], size);
  }
  return i;
}

/* All elements in a row, row-major: the walk over the input starts where the first element of the result lies. */
static kw_status roll_all(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  if (out->dtype != in->dtype) return KW_ERR_INVALID_ARGUMENT;
  kw_walk from, to;
  kw_walk_start(&from, in->rank, in->shape);
  kw_walk_add(&from, in);
  const kw_walk first = from;
  kw_walk_start(&to, out->rank, out->shape);
  kw_walk_add(&to, out);
  for (int64_t i = to.left > 0 ? kw_place_turned(0, call->args[1].u.ints[0], to.left) : 0; i > 0; i--)
    kw_walk_next(&from);
  for (; to.left > 0; kw_walk_next(&to)) {
    kw_number_convert(in->dtype, from.at[0], out->dtype, to.at[0]);
    kw_walk_next(&from);
    if (from.left == 0) from = first;
  }
  return KW_OK;
}

kw_status kw_place_roll(const kw_call *call) {
  return call->args[2].count == 0 ? roll_all(call) : place(call, kw_place_rolled, NULL);
}

/* ---- Triangles ------------------------------------------------------------------------------------------------- */

/* Keeps the elements with (column - row) * sign >= diagonal * sign. */
static kw_status triangle(const kw_call *call, int sign) {
  static const char zero[16];
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const int64_t diagonal = call->args[1].u.i;
  if (out->dtype != in->dtype) return KW_ERR_INVALID_ARGUMENT;
  kw_walk walk;
  kw_walk_start(&walk, out->rank, out->shape);
  kw_walk_add(&walk, out);
  kw_walk_add(&walk, in);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    int64_t off = walk.index[walk.rank - 1] - walk.index[walk.rank - 2];
    bool kept = sign > 0 ? off >= diagonal : off <= diagonal;
    kw_number_convert(in->dtype, kept ? walk.at[1] : zero, out->dtype, walk.at[0]);
  }
  return KW_OK;
}

kw_status kw_place_triu(const kw_call *call) {
  return triangle(call, 1);
}

kw_status kw_place_tril(const kw_call *call) {
  return triangle(call, -1);
}

/* ---- Replaced in part ------------------------------------------------------------------------------------------ */

/* The tensor with a dimension of size 1 more. */
static kw_tensor_ref unsqueeze(const kw_tensor_ref *tensor, int64_t dim) {
  kw_tensor_ref view = *tensor;
  for (int64_t d = view.rank++; d > dim; d--) {
    view.shape[d] = view.shape[d - 1];
    view.strides[d] = view.strides[d - 1];
  }
  view.shape[dim] = 1;
  view.strides[dim] = 0;
  return view;
}

kw_tensor_ref kw_place_part_of(const kw_tensor_ref *tensor, kw_place_part part) {
  kw_tensor_ref view = *tensor;
  view.offset += (uint64_t)(part.start * view.strides[part.dim]) * kw_number_size(view.dtype);
  view.shape[part.dim] = part.count;
  if (part.count > 1) view.strides[part.dim] *= part.step; /* elsewhere the product may be too large */
  return view;
}

kw_tensor_ref kw_place_replacement(const kw_call *call, kw_place_part part) {
  const kw_tensor_ref *src = call->args[1].u.tensor;
  return src->rank < call->args[0].u.tensor->rank ? unsqueeze(src, part.dim) : *src;
}

/* Argument 0, and then argument 1 in a part of it. */
static kw_status replace(const kw_call *call, kw_place_part part) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  const kw_tensor_ref src = kw_place_replacement(call, part), view = kw_place_part_of(out, part);
  if (out->dtype != self->dtype || src.dtype != self->dtype) return KW_ERR_INVALID_ARGUMENT;
  kw_move_elements(self, out);
  kw_move_elements(&src, &view);
  return KW_OK;
}

kw_place_part kw_place_selected(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  const int64_t named = call->args[2].u.i, index = call->args[3].u.i, dim = named < 0 ? named + self->rank : named;
  return (kw_place_part){dim, index < 0 ? index + self->shape[dim] : index, 1, 1};
}

kw_status kw_place_select_scatter(const kw_call *call) {
  return replace(call, kw_place_selected(call));
}

/* From the end where negative, then cut to [0, size]. */
static int64_t slice_end(const kw_value *end, int64_t none, int64_t size) {
  if (end->tag == KW_TAG_NONE) return none;
  int64_t at = end->u.i < 0 ? end->u.i + size : end->u.i;
  return at < 0 ? 0 : at > size ? size : at;
}

kw_place_part kw_place_sliced(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  const int64_t named = call->args[2].u.i, step = call->args[5].u.i, dim = named < 0 ? named + self->rank : named;
  const int64_t size = self->shape[dim];
  const int64_t start = slice_end(&call->args[3], 0, size), end = slice_end(&call->args[4], size, size);
  return (kw_place_part){dim, start, step, end > start ? (end - start - 1) / step + 1 : 0};
}

kw_status kw_place_slice_scatter(const kw_call *call) {
  return replace(call, kw_place_sliced(call));
}

/* ---- Padded ---------------------------------------------------------------------------------------------------- */

/* Place i in dimension d of `rank`, counted from the first element of what is padded on. */
int64_t kw_place_unpadded(const kw_value *pads, uint32_t rank, uint32_t d, int64_t i) {
  uint32_t pair = rank - 1 - d;
  return pair < pads->count / 2 ? i - pads->u.ints[2 * pair] : i;
}

int64_t kw_place_reflected(const kw_value *pads, uint32_t rank, uint32_t d, int64_t size, int64_t i) {
  int64_t from = kw_place_unpadded(pads, rank, d, i);
  return from < 0 ? -from : from >= size ? 2 * (size - 1) - from : from;
}

int64_t kw_place_replicated(const kw_value *pads, uint32_t rank, uint32_t d, int64_t size, int64_t i) {
  int64_t from = kw_place_unpadded(pads, rank, d, i);
  return from < 0 ? 0 : from >= size ? size - 1 : from;
}

static int64_t constant_source(const kw_call *call, uint32_t d, int64_t size, int64_t i) {
  int64_t from = kw_place_unpadded(&call->args[1], call->args[0].u.tensor->rank, d, i);
  return from < 0 || from >= size ? NOWHERE : from;
}

static int64_t reflect_source(const kw_call *call, uint32_t d, int64_t size, int64_t i) {
  return kw_place_reflected(&call->args[1], call->args[0].u.tensor->rank, d, size, i);
}

static int64_t replicate_source(const kw_call *call, uint32_t d, int64_t size, int64_t i) {
  return kw_place_replicated(&call->args[1], call->args[0].u.tensor->rank, d, size, i);
}

kw_status kw_place_pad_constant(const kw_call *call) {
  kw_element value = kw_operand_scalar(&call->args[2]);
  value = kw_operand_as_key(value.dtype, value.bytes, call->args[0].u.tensor->dtype);
  return place(call, constant_source, value.bytes);
}

kw_status kw_place_pad_reflect(const kw_call *call) {
  return place(call, reflect_source, NULL);
}

kw_status kw_place_pad_replicate(const kw_call *call) {
  return place(call, replicate_source, NULL);
}
