/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of values, and the moves that make a value one.
 */
#include <keyway/interop.h>

#include <string.h>

#include "ops.h"

bool run_axis(run *run, int64_t axis, unsigned rank, unsigned *out_axis) {
  if (axis < -(int64_t)rank || axis >= (int64_t)rank)
    return run_refuse(run, "axis %lld of rank %u", (long long)axis, rank);
  *out_axis = (unsigned)(axis < 0 ? axis + rank : axis);
  return true;
}

/* The tensor of a view: at an address, or so many bytes into its memory. */
static kw_status view_tensor(const value *of, const kw_tensor_ref *ref, int64_t bytes, value *made) {
  if (of->address) {
    made->address = of->address + bytes;
    return kw_tensor_at(made->address, ref->dtype, ref->rank, ref->shape, ref->strides, &made->tensor);
  }
  made->start = of->start + (uint64_t)bytes;
  return kw_tensor_reinterpret(of->tensor, ref->dtype, ref->rank, ref->shape, ref->strides, made->start, &made->tensor);
}

/* A value that is put together here, a view of another one or with memory of its own. */
static value *make(run *run, const value *of, const kw_tensor_ref *ref, int64_t offset) {
  value *made;
  kw_status status;
  if (run->failed) return NULL;
  if (run->value_count == RUN_MAX_VALUES) {
    run_refuse(run, "its mapping needs more than %d values", RUN_MAX_VALUES);
    return NULL;
  }
  made = &run->values[run->value_count];
  memset(made, 0, sizeof *made);
  made->ref = *ref;
  if (!run_asks(run)) {
    if (of) {
      status = view_tensor(of, ref, offset * (int64_t)kw_dtype_size(ref->dtype), made);
    } else {
      status = kw_tensor_create_on(run->stream, ref->dtype, ref->rank, ref->shape, &made->tensor);
    }
    if (status != KW_OK) return run_fail(run, status, "a view"), NULL;
    made->ref = *kw_tensor_describe(made->tensor);
  }
  ++run->value_count;
  return made;
}

static bool contiguous(const kw_tensor_ref *ref) {
  int64_t expected = 1;
  for (unsigned d = ref->rank; d-- > 0;) {
    if (ref->shape[d] != 1 && ref->strides[d] != expected) return false;
    expected *= ref->shape[d];
  }
  return true;
}

static int64_t elements(unsigned rank, const int64_t *shape) {
  int64_t count = 1;
  for (unsigned d = 0; d < rank; ++d) count *= shape[d];
  return count;
}

/* Whether there is room for shapes of a rank. */
static bool holds(run *run, unsigned rank) {
  return rank <= KW_MAX_RANK || run_refuse(run, "rank %u", rank);
}

value *run_empty(run *run, kw_dtype dtype, unsigned rank, const int64_t *shape) {
  kw_tensor_ref ref;
  if (run->failed || !holds(run, rank)) return NULL;
  ref = kw_meta(dtype, rank, shape);
  ref.numel = elements(rank, shape);
  return make(run, NULL, &ref, 0);
}

/* A dtype of the same size that ops compute on. */
static kw_dtype bits_of(kw_dtype dtype) {
  static const kw_dtype by_size[] = {[1] = KW_U8, [2] = KW_I16, [4] = KW_I32, [8] = KW_I64, [16] = KW_C128};
  return by_size[kw_dtype_size(dtype)];
}

value *run_bits(run *run, const value *of) {
  kw_tensor_ref ref;
  if (run->failed || !of) return NULL;
  ref = of->ref;
  ref.dtype = bits_of(ref.dtype);
  return make(run, of, &ref, 0);
}

/* Strides of NULL: contiguous ones. `offset` in elements from the value's first. */
value *run_view(run *run, const value *of, unsigned rank, const int64_t *shape, const int64_t *strides,
                int64_t offset) {
  kw_tensor_ref ref;
  if (run->failed || !of || !holds(run, rank)) return NULL;
  ref = kw_meta(of->ref.dtype, rank, shape);
  ref.numel = elements(rank, shape);
  if (strides) memcpy(ref.strides, strides, rank * sizeof *strides);
  return make(run, of, &ref, offset);
}

value *run_permute(run *run, const value *of, const int64_t *dims) {
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK];
  if (run->failed || !of) return NULL;
  for (unsigned d = 0; d < of->ref.rank; ++d) {
    unsigned from = 0;
    if (!run_axis(run, dims[d], of->ref.rank, &from)) return NULL;
    shape[d] = of->ref.shape[from];
    strides[d] = of->ref.strides[from];
  }
  return run_view(run, of, of->ref.rank, shape, strides, 0);
}

value *run_permute_rank(run *run, const value *of, unsigned rank, const int64_t *dims) {
  if (run->failed || !of) return NULL;
  if (of->ref.rank != rank) return run_refuse(run, "rank %u, not %u", of->ref.rank, rank), NULL;
  return run_permute(run, of, dims);
}

value *run_contiguous(run *run, const value *of) {
  if (run->failed || !of) return NULL;
  return contiguous(&of->ref) ? (value *)(uintptr_t)of : CALL(run, "clone", arg(of));
}

value *run_reshape(run *run, const value *of, unsigned rank, const int64_t *shape) {
  const value *whole = run_contiguous(run, of);
  if (!whole || !holds(run, rank)) return NULL;
  if (elements(rank, shape) != elements(whole->ref.rank, whole->ref.shape)) {
    if (run->guessed && run_asks(run)) return run_empty(run, of->ref.dtype, rank, shape);
    run_refuse(run, "a reshape of %lld elements to %lld", (long long)elements(whole->ref.rank, whole->ref.shape),
               (long long)elements(rank, shape));
    return NULL;
  }
  return run_view(run, whole, rank, shape, NULL, 0);
}

value *run_flatten(run *run, const value *of, unsigned axis) {
  int64_t shape[2];
  if (run->failed || !of) return NULL;
  if (axis > of->ref.rank) return run_refuse(run, "axis %u of rank %u", axis, of->ref.rank), NULL;
  shape[0] = elements(axis, of->ref.shape);
  shape[1] = elements(of->ref.rank - axis, of->ref.shape + axis);
  return run_reshape(run, of, 2, shape);
}

value *run_expand(run *run, const value *of, unsigned rank, const int64_t *shape) {
  int64_t strides[KW_MAX_RANK];
  if (run->failed || !of || !holds(run, rank)) return NULL;
  if (of->ref.rank > rank) return run_refuse(run, "an expand of rank %u to %u", of->ref.rank, rank), NULL;
  for (unsigned d = 0; d < rank; ++d) {
    const int64_t before = (int64_t)d - ((int64_t)rank - of->ref.rank);
    strides[d] = before >= 0 && of->ref.shape[before] == shape[d] ? of->ref.strides[before] : 0;
    if (before >= 0 && of->ref.shape[before] != shape[d] && of->ref.shape[before] != 1) {
      run_refuse(run, "an expand of %lld to %lld", (long long)of->ref.shape[before], (long long)shape[d]);
      return NULL;
    }
  }
  return run_view(run, of, rank, shape, strides, 0);
}

value *run_slice(run *run, const value *of, unsigned dim, int64_t start, int64_t count, int64_t step) {
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK];
  if (run->failed || !of) return NULL;
  if (dim >= of->ref.rank) return run_refuse(run, "dimension %u of rank %u", dim, of->ref.rank), NULL;
  memcpy(shape, of->ref.shape, sizeof shape);
  memcpy(strides, of->ref.strides, sizeof strides);
  shape[dim] = count;
  if (count > 1) strides[dim] *= step;
  return run_view(run, of, of->ref.rank, shape, strides, count > 0 ? start * of->ref.strides[dim] : 0);
}

value *run_cast(run *run, const value *of, kw_dtype dtype) {
  if (run->failed || !of) return NULL;
  if (of->ref.dtype == dtype) return (value *)(uintptr_t)of;
  return CALL(run, "_to_copy", arg(of), kw_arg_dtype(dtype));
}

value *run_unsqueeze(run *run, const value *of, unsigned dim) {
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK];
  if (run->failed || !of || !holds(run, of->ref.rank + 1u)) return NULL;
  for (unsigned d = 0; d <= of->ref.rank; ++d) {
    shape[d] = d == dim ? 1 : of->ref.shape[d - (d > dim)];
    strides[d] = d == dim ? 1 : of->ref.strides[d - (d > dim)];
  }
  return run_view(run, of, of->ref.rank + 1u, shape, strides, 0);
}

value *run_range(run *run, int64_t count) {
  return CALL(run, "arange.start_step", kw_arg_scalar_i64(0), kw_arg_scalar_i64(count), kw_arg_scalar_i64(1),
              kw_arg_dtype(KW_I64));
}

value *run_from_host(run *run, kw_dtype dtype, unsigned rank, const int64_t *shape, const void *numbers) {
  value *made = run_empty(run, dtype, rank, shape);
  kw_status status;
  if (!made || run_asks(run)) return made;
  status = kw_tensor_write_async(made->tensor, numbers, run->stream);
  if (status == KW_OK) status = kw_stream_synchronize(run->stream);
  return status == KW_OK ? made : (run_fail(run, status, "numbers of the host's"), NULL);
}
