/* SPDX-License-Identifier: Apache-2.0
 *
 * Views: new descriptors on the same memory. Semantics are ATen's; sources for the less obvious ones are its
 * documentation of view (when a reshape needs no copy), as_strided and diagonal.
 */
#include "base/dtype.h"
#include "base/error.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <string.h>

/* A descriptor in the making. */
typedef struct shape_of {
  kw_dtype dtype;
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  int64_t strides[KW_MAX_RANK];
  uint64_t offset; /* bytes from the start of the buffer */
} shape_of;

/* Checks the arguments that all views share and starts from the tensor's own descriptor. */
static kw_status begin(const char *function, const kw_tensor *tensor, kw_tensor *const *out_view, shape_of *out) {
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status != KW_OK) return status;
  if (out_view == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: the out argument is NULL.", function);
  out->dtype = tensor->ref.dtype;
  out->rank = tensor->ref.rank;
  memcpy(out->shape, tensor->ref.shape, sizeof out->shape);
  memcpy(out->strides, tensor->ref.strides, sizeof out->strides);
  out->offset = tensor->ref.offset - tensor->buffer->offset;
  return KW_OK;
}

static kw_status finish(const char *function, const kw_tensor *tensor, const shape_of *made, kw_tensor **out_view) {
  kw_status status =
      kw_tensor_on_buffer(tensor->buffer, made->dtype, made->rank, made->shape, made->strides, made->offset, out_view);
  return status == KW_OK ? KW_OK : kw_wrap(status, "%s", function);
}

static uint64_t item_size(const kw_tensor *tensor) {
  return kw_dtype_size(tensor->ref.dtype);
}

/* Strides of dimensions with at most one element mean nothing and may be anything; arithmetic on them saturates. */
static int64_t add_stride(int64_t a, int64_t b) {
  return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a;
}

static int64_t scale_stride(int64_t stride, int64_t factor) {
  return __builtin_mul_overflow(stride, factor, &stride) ? INT64_MAX : stride;
}

/* Brings a dimension that may count from the end into [0, count). */
static kw_status wrap_dim(const char *function, const char *argument, int64_t count, int64_t *dim) {
  if (*dim < -count || *dim >= count) {
    if (count == 0) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument %s is %" PRId64 ", but the tensor has no dimensions.",
                     function, argument, *dim);
    }
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument %s is %" PRId64 ", outside of [%" PRId64 ", %" PRId64 "].",
                   function, argument, *dim, -count, count - 1);
  }
  if (*dim < 0) *dim += count;
  return KW_OK;
}

static void remove_dim(shape_of *made, int64_t dim) {
  --made->rank;
  for (uint32_t d = (uint32_t)dim; d < made->rank; ++d) {
    made->shape[d] = made->shape[d + 1];
    made->strides[d] = made->strides[d + 1];
  }
}

static kw_status check_list(const char *function, const char *argument, uint32_t rank, const int64_t *list) {
  if (rank > KW_MAX_RANK) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: rank %" PRIu32 " is over the maximum of %d.", function, rank,
                   KW_MAX_RANK);
  }
  if (rank > 0 && list == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument %s is NULL.", function, argument);
  }
  return KW_OK;
}

/* ---- view ------------------------------------------------------------------------------------------------------- */

/* Replaces the one -1 in shape by what makes the numel right. */
static kw_status infer_size(const kw_tensor *tensor, uint32_t rank, int64_t *shape) {
  static const char function[] = "kw_tensor_view";
  int64_t known = 1, numel = tensor->ref.numel;
  int inferred = -1;
  bool overflow = false;
  for (uint32_t d = 0; d < rank; ++d) {
    if (shape[d] == -1) {
      if (inferred >= 0) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: only one size may be -1.", function);
      inferred = (int)d;
    } else if (shape[d] < 0) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: size %" PRId64 " of dimension %" PRIu32 " is negative.", function,
                     shape[d], d);
    } else {
      overflow = __builtin_mul_overflow(known, shape[d], &known) || overflow;
    }
  }
  for (uint32_t d = 0; d < rank; ++d) {
    if (shape[d] == 0) known = 0, overflow = false;
  }
  if (inferred >= 0 && known == 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: -1 beside a size of 0 could be anything. Give all sizes.", function);
  }
  if (overflow || (inferred >= 0 ? numel % known != 0 : known != numel)) {
    char text[256];
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: the given sizes do not hold the %" PRId64 " elements of %s.", function,
                   numel, kw_ref_describe(&tensor->ref, text, sizeof text));
  }
  if (inferred >= 0) shape[inferred] = numel / known;
  return KW_OK;
}

/* Strides for another shape of the same elements in the same order; false when there are none. Adjacent dimensions that
 * step like one ("chunks") can be cut anew, others cannot. */
static bool find_strides(const kw_tensor_ref *ref, shape_of *made) {
  int64_t view = (int64_t)made->rank - 1;
  int64_t chunk_stride = ref->rank > 0 ? ref->strides[ref->rank - 1] : 1;
  int64_t chunk_numel = 1, view_numel = 1;
  for (int64_t d = (int64_t)ref->rank - 1; d >= 0; --d) {
    chunk_numel *= ref->shape[d];
    bool chunk_ends =
        d == 0 || (ref->shape[d - 1] != 1 && ref->strides[d - 1] != scale_stride(chunk_stride, chunk_numel));
    if (!chunk_ends) continue;
    while (view >= 0 && (view_numel < chunk_numel || made->shape[view] == 1)) {
      made->strides[view] = scale_stride(chunk_stride, view_numel);
      view_numel *= made->shape[view--];
    }
    if (view_numel != chunk_numel) return false;
    if (d == 0) break;
    chunk_stride = ref->strides[d - 1];
    chunk_numel = view_numel = 1;
  }
  for (; view >= 0; --view) { /* a rank-0 tensor seen with dimensions of size 1 */
    if (made->shape[view] != 1) return false;
    made->strides[view] = 1;
  }
  return true;
}

kw_status kw_tensor_view(const kw_tensor *tensor, uint32_t rank, const int64_t *shape, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_view";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = check_list(function, "shape", rank, shape);
  if (status != KW_OK) return status;
  made.rank = rank;
  for (uint32_t d = 0; d < rank; ++d) made.shape[d] = shape[d];
  status = infer_size(tensor, rank, made.shape);
  int64_t numel;
  if (status == KW_OK) status = kw_shape_check(function, tensor->ref.dtype, rank, made.shape, &numel);
  if (status != KW_OK) return status;
  if (tensor->ref.numel == 0) {
    kw_shape_contiguous_strides(rank, made.shape, made.strides);
  } else if (!find_strides(&tensor->ref, &made)) {
    char text[256];
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: the strides of %s do not allow this shape without moving elements. Copy the tensor to a "
                   "contiguous one first (kw_tensor_to).",
                   function, kw_ref_describe(&tensor->ref, text, sizeof text));
  }
  return finish(function, tensor, &made, out_view);
}

/* ---- Shapes and strides as given --------------------------------------------------------------------------------- */

/* Shape and strides of an application's making. */
static kw_status take_shape(const char *function, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                            const int64_t *strides, shape_of *made) {
  int64_t numel;
  kw_status status = kw_shape_check(function, dtype, rank, shape, &numel);
  if (status == KW_OK) status = check_list(function, "strides", rank, strides);
  if (status != KW_OK) return status;
  for (uint32_t d = 0; d < rank; ++d) {
    if (strides[d] < 0) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: stride %" PRId64 " of dimension %" PRIu32 " is negative.", function,
                     strides[d], d);
    }
    made->shape[d] = shape[d];
    made->strides[d] = strides[d];
  }
  made->dtype = dtype;
  made->rank = rank;
  return KW_OK;
}

kw_status kw_tensor_as_strided(const kw_tensor *tensor, uint32_t rank, const int64_t *shape, const int64_t *strides,
                               int64_t storage_offset, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_as_strided";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = take_shape(function, made.dtype, rank, shape, strides, &made);
  if (status != KW_OK) return status;
  if (storage_offset < 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument storage_offset is %" PRId64 ", negative.", function,
                   storage_offset);
  }
  if (__builtin_mul_overflow((uint64_t)storage_offset, item_size(tensor), &made.offset)) made.offset = UINT64_MAX;
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_reinterpret(const kw_tensor *tensor, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                const int64_t *strides, uint64_t byte_offset, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_reinterpret";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = take_shape(function, dtype, rank, shape, strides, &made);
  if (status != KW_OK) return status;
  made.offset = byte_offset;
  if (byte_offset % kw_dtype_size(dtype) != 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument byte_offset is %" PRIu64 ", no multiple of the size of %s.",
                   function, byte_offset, kw_dtype_name(dtype));
  }
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_expand(const kw_tensor *tensor, uint32_t rank, const int64_t *shape, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_expand";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = check_list(function, "shape", rank, shape);
  if (status != KW_OK) return status;
  const kw_tensor_ref *ref = &tensor->ref;
  if (rank < ref->rank) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: rank %" PRIu32 " is below the tensor's rank %u.", function, rank,
                   (unsigned)ref->rank);
  }
  uint32_t fresh = rank - ref->rank; /* leading dimensions the tensor does not have */
  for (uint32_t d = 0; d < rank; ++d) {
    int64_t have = d < fresh ? 1 : ref->shape[d - fresh];
    bool keep = d >= fresh && (shape[d] == -1 || shape[d] == have);
    if (!keep && (have != 1 || shape[d] < 0)) {
      char text[256];
      return kw_fail(KW_ERR_INVALID_ARGUMENT,
                     "%s: size %" PRId64 " of dimension %" PRIu32
                     " does not fit %s: only a size of 1 or a new leading "
                     "dimension can be repeated, and only an existing one kept with -1.",
                     function, shape[d], d, kw_ref_describe(ref, text, sizeof text));
    }
    made.shape[d] = keep ? have : shape[d];
    made.strides[d] = keep ? ref->strides[d - fresh] : 0;
  }
  made.rank = rank;
  int64_t numel;
  status = kw_shape_check(function, ref->dtype, rank, made.shape, &numel);
  return status != KW_OK ? status : finish(function, tensor, &made, out_view);
}

/* ---- Order of dimensions ----------------------------------------------------------------------------------------- */

kw_status kw_tensor_permute(const kw_tensor *tensor, uint32_t rank, const int64_t *dims, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_permute";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = check_list(function, "dims", rank, dims);
  if (status != KW_OK) return status;
  if (rank != tensor->ref.rank) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %" PRIu32 " dimensions given for a tensor of rank %u.", function, rank,
                   (unsigned)tensor->ref.rank);
  }
  uint32_t seen = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    int64_t from = dims[d];
    status = wrap_dim(function, "dims", rank, &from);
    if (status != KW_OK) return status;
    if ((seen & (1u << from)) != 0) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: dimension %" PRId64 " appears twice in argument dims.", function,
                     from);
    }
    seen |= 1u << from;
    made.shape[d] = tensor->ref.shape[from];
    made.strides[d] = tensor->ref.strides[from];
  }
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_transpose(const kw_tensor *tensor, int64_t dim0, int64_t dim1, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_transpose";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status != KW_OK) return status;
  int64_t count = made.rank > 0 ? made.rank : 1; /* a scalar has a dimension 0 here, as in ATen */
  status = wrap_dim(function, "dim0", count, &dim0);
  if (status == KW_OK) status = wrap_dim(function, "dim1", count, &dim1);
  if (status != KW_OK) return status;
  if (made.rank > 0) {
    made.shape[dim0] = tensor->ref.shape[dim1];
    made.strides[dim0] = tensor->ref.strides[dim1];
    made.shape[dim1] = tensor->ref.shape[dim0];
    made.strides[dim1] = tensor->ref.strides[dim0];
  }
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_squeeze(const kw_tensor *tensor, int64_t dim, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_squeeze";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = wrap_dim(function, "dim", made.rank > 0 ? made.rank : 1, &dim);
  if (status != KW_OK) return status;
  if (made.rank > 0 && made.shape[dim] == 1) remove_dim(&made, dim);
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_unsqueeze(const kw_tensor *tensor, int64_t dim, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_unsqueeze";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = wrap_dim(function, "dim", (int64_t)made.rank + 1, &dim);
  if (status != KW_OK) return status;
  if (made.rank == KW_MAX_RANK) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: the tensor has the maximum rank of %d already.", function,
                   KW_MAX_RANK);
  }
  int64_t stride = dim < made.rank ? scale_stride(made.strides[dim], made.shape[dim]) : 1;
  for (uint32_t d = made.rank; d > dim; --d) {
    made.shape[d] = made.shape[d - 1];
    made.strides[d] = made.strides[d - 1];
  }
  made.shape[dim] = 1;
  made.strides[dim] = stride;
  ++made.rank;
  return finish(function, tensor, &made, out_view);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

kw_status kw_tensor_select(const kw_tensor *tensor, int64_t dim, int64_t index, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_select";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = wrap_dim(function, "dim", made.rank, &dim);
  if (status != KW_OK) return status;
  int64_t size = made.shape[dim];
  if (index < -size || index >= size) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: argument index is %" PRId64 ", but dimension %" PRId64 " has %" PRId64 " elements.", function,
                   index, dim, size);
  }
  if (index < 0) index += size;
  if (index > 0) made.offset += (uint64_t)scale_stride(made.strides[dim], index) * item_size(tensor);
  remove_dim(&made, dim);
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_slice(const kw_tensor *tensor, int64_t dim, int64_t start, int64_t end, int64_t step,
                          kw_tensor **out_view) {
  static const char function[] = "kw_tensor_slice";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = wrap_dim(function, "dim", made.rank, &dim);
  if (status != KW_OK) return status;
  if (step < 1) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument step is %" PRId64 "; it must be at least 1.", function, step);
  }
  int64_t size = made.shape[dim];
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = start < 0 ? 0 : start > size ? size : start;
  end = end < start ? start : end > size ? size : end;
  int64_t length = end - start;
  made.shape[dim] = length == 0 ? 0 : (length - 1) / step + 1;
  if (start > 0) made.offset += (uint64_t)scale_stride(made.strides[dim], start) * item_size(tensor);
  made.strides[dim] = scale_stride(made.strides[dim], step);
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_diagonal(const kw_tensor *tensor, int64_t offset, int64_t dim1, int64_t dim2,
                             kw_tensor **out_view) {
  static const char function[] = "kw_tensor_diagonal";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status == KW_OK) status = wrap_dim(function, "dim1", made.rank, &dim1);
  if (status == KW_OK) status = wrap_dim(function, "dim2", made.rank, &dim2);
  if (status != KW_OK) return status;
  if (dim1 == dim2) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: arguments dim1 and dim2 both name dimension %" PRId64 ".", function,
                   dim1);
  }
  /* Sizes from where the diagonal starts: offset > 0 moves along dim2, offset < 0 along dim1. */
  int64_t rows = made.shape[dim1], columns = made.shape[dim2];
  int64_t skip_rows = offset >= 0 ? 0 : offset < -rows ? rows : -offset;
  int64_t skip_columns = offset <= 0 ? 0 : offset > columns ? columns : offset;
  rows -= skip_rows;
  columns -= skip_columns;
  int64_t length = rows < columns ? rows : columns;
  if (length > 0) {
    made.offset +=
        ((uint64_t)skip_rows * (uint64_t)made.strides[dim1] + (uint64_t)skip_columns * (uint64_t)made.strides[dim2]) *
        item_size(tensor);
  }
  int64_t stride = add_stride(made.strides[dim1], made.strides[dim2]);
  remove_dim(&made, dim1 > dim2 ? dim1 : dim2);
  remove_dim(&made, dim1 > dim2 ? dim2 : dim1);
  made.shape[made.rank] = length;
  made.strides[made.rank++] = stride;
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_split_with_sizes(const kw_tensor *tensor, uint32_t count, const int64_t *sizes, int64_t dim,
                                     kw_tensor **out_views) {
  static const char function[] = "kw_tensor_split_with_sizes";
  shape_of made = {0};
  kw_status status = begin(function, tensor, out_views, &made);
  if (status == KW_OK) status = wrap_dim(function, "dim", made.rank, &dim);
  if (status != KW_OK) return status;
  if (count > 0 && sizes == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument sizes is NULL.", function);
  int64_t rest = made.shape[dim];
  for (uint32_t i = 0; i < count; ++i) {
    if (sizes[i] < 0) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: size %" PRId64 " of piece %" PRIu32 " is negative.", function,
                     sizes[i], i);
    }
    if (sizes[i] > rest) rest = -1;
    if (rest < 0) break;
    rest -= sizes[i];
  }
  if (rest != 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: argument sizes does not add up to the %" PRId64 " elements of dimension %" PRId64 ".", function,
                   made.shape[dim], dim);
  }
  int64_t start = 0;
  for (uint32_t i = 0; i < count; ++i) {
    status = kw_tensor_slice(tensor, dim, start, start + sizes[i], 1, &out_views[i]);
    if (status != KW_OK) {
      while (i-- > 0) {
        kw_tensor_release(out_views[i]);
        out_views[i] = NULL;
      }
      return status;
    }
    start += sizes[i];
  }
  return KW_OK;
}

kw_status kw_tensor_alias(const kw_tensor *tensor, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_alias";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  return status != KW_OK ? status : finish(function, tensor, &made, out_view);
}

/* ---- Complex numbers and their parts ------------------------------------------------------------------------------
 */

kw_status kw_tensor_view_as_real(const kw_tensor *tensor, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_view_as_real";
  shape_of made;
  kw_status status = begin(function, tensor, out_view, &made);
  if (status != KW_OK) return status;
  if (!kw_dtype_is_complex(made.dtype)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: a tensor of %s has no real and imaginary parts.", function,
                   kw_dtype_name(made.dtype));
  }
  if (made.rank == KW_MAX_RANK) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: rank %" PRIu32 " leaves no room for the dimension of the parts.",
                   function, made.rank);
  }
  made.dtype = made.dtype == KW_C64 ? KW_F32 : KW_F64;
  for (uint32_t d = 0; d < made.rank; ++d) made.strides[d] = scale_stride(made.strides[d], 2);
  made.shape[made.rank] = 2;
  made.strides[made.rank++] = 1;
  return finish(function, tensor, &made, out_view);
}

kw_status kw_tensor_view_as_complex(const kw_tensor *tensor, kw_tensor **out_view) {
  static const char function[] = "kw_tensor_view_as_complex";
  shape_of made;
  char text[256];
  kw_status status = begin(function, tensor, out_view, &made);
  if (status != KW_OK) return status;
  if (made.dtype != KW_F32 && made.dtype != KW_F64) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: numbers of %s are no parts of complex ones; f32 and f64 are.",
                   function, kw_dtype_name(made.dtype));
  }
  if (made.rank == 0 || made.shape[made.rank - 1] != 2) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: the last dimension of %s is not the two parts of a number.", function,
                   kw_ref_describe(&tensor->ref, text, sizeof text));
  }
  bool pairs = made.strides[--made.rank] == 1 && tensor->ref.offset % (2 * item_size(tensor)) == 0;
  for (uint32_t d = 0; d < made.rank; ++d) {
    pairs = pairs && (made.strides[d] % 2 == 0 || made.shape[d] <= 1);
    made.strides[d] /= 2;
  }
  if (!pairs && tensor->ref.numel > 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: the parts of %s do not lie in memory as those of complex numbers do: side by side, each pair a "
                   "multiple of its size from the start. Copy it to a new tensor first.",
                   function, kw_ref_describe(&tensor->ref, text, sizeof text));
  }
  made.dtype = made.dtype == KW_F32 ? KW_C64 : KW_C128;
  return finish(function, tensor, &made, out_view);
}
