/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that join tensors, and that take elements from where indices say or put them there.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/index.h"
#include "ops/moves.h"
#include "ops/scatter.h"

#include <string.h>

static const kw_gpu_module selection_module = {
    "selection", KW_GPU_BY_SIZE, KW_GPU_SIZES, {kw_gpu_source_raw, kw_gpu_source_index_row, kw_gpu_source_selection}};

static const kw_gpu_kernel take_kernel = {&selection_module, "kw_take_kernel"};
static const kw_gpu_kernel put_kernel = {&selection_module, "kw_put_kernel"};

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

static void lower_cat(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const uint64_t doubles = KW_DTYPE_BIT(KW_F64) | KW_DTYPE_BIT(KW_C128);
  const kw_gpu_device *device = plan->call->device;
  kw_gpu_tensor out = kw_gpu_output(plan, 0);
  const uint32_t count = plan->call->args[0].count, dim = kw_gpu_dim(plan, 1, out.ref.rank);
  int64_t done = 0;
  for (uint32_t k = 0; k < count; ++k) {
    const kw_gpu_tensor entry = kw_gpu_entry(plan, 0, k);
    if (entry.ref.numel == 0) continue; /* [0] has another rank than the result */
    const bool wide = (KW_DTYPE_BIT(out.ref.dtype) | KW_DTYPE_BIT(entry.ref.dtype)) & doubles;
    if (entry.ref.dtype != out.ref.dtype && wide && !device->has_f64)
      kw_gpu_refuse(plan, "cannot convert f64: this device has no double precision");
    const kw_gpu_tensor part = kw_gpu_part(&out, dim, done, entry.ref.shape[dim]);
    kw_gpu_copy(plan, &part, &entry);
    done += entry.ref.shape[dim];
  }
}

/* ---- Taking ------------------------------------------------------------------------------------------------------ */

/* out = the elements of `table`, each as many steps further on as its index says. All have the shape of `out`. */
static void take(kw_gpu_plan *plan, const kw_gpu_tensor *out, const kw_gpu_tensor *table, const kw_gpu_index *index) {
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &take_kernel, out->ref.dtype, out,
                                            (const kw_gpu_tensor *[]){table, &index->tensor}, 2);
  kw_gpu_step_errors(step);
  kw_gpu_step_index(step, index);
}

static void lower_embedding(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor weight = kw_gpu_input(plan, 0), indices = kw_gpu_input(plan, 1), out = kw_gpu_output(plan, 0);
  const uint32_t last = indices.ref.rank; /* all elements of a row have the same index */
  int64_t along[KW_MAX_RANK] = {0}, columns[KW_MAX_RANK] = {0};
  memcpy(along, indices.ref.strides, last * sizeof *along);
  columns[last] = weight.ref.strides[1];
  const kw_gpu_tensor table = kw_gpu_strided(&weight, last + 1, out.ref.shape, columns);
  take(plan, &out, &table,
       &(kw_gpu_index){.tensor = kw_gpu_strided(&indices, last + 1, out.ref.shape, along),
                       .argument = 1,
                       .size = weight.ref.shape[0],
                       .step = weight.ref.strides[0]});
}

/* Along dimension `dim` of `self`: `index` is argument 2, of the shape of `out`. */
static void take_lines(kw_gpu_plan *plan, const kw_gpu_tensor *out, const kw_gpu_tensor *self, uint32_t dim,
                       const kw_gpu_tensor *index) {
  const bool scalar = self->ref.rank == 0;
  int64_t strides[KW_MAX_RANK] = {0};
  for (uint32_t d = 0; d < self->ref.rank; ++d) strides[d] = d == dim ? 0 : self->ref.strides[d];
  const kw_gpu_tensor table = kw_gpu_strided(self, out->ref.rank, out->ref.shape, strides);
  take(plan, out, &table,
       &(kw_gpu_index){.tensor = *index,
                       .argument = 2,
                       .size = scalar ? 1 : self->ref.shape[dim],
                       .step = scalar ? 0 : self->ref.strides[dim]});
}

static void lower_gather(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), index = kw_gpu_input(plan, 2), out = kw_gpu_output(plan, 0);
  take_lines(plan, &out, &self, kw_gpu_dim(plan, 1, self.ref.rank), &index);
}

static void lower_index_select(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), index = kw_gpu_input(plan, 2), out = kw_gpu_output(plan, 0);
  const uint32_t dim = kw_gpu_dim(plan, 1, self.ref.rank);
  int64_t strides[KW_MAX_RANK] = {0};
  if (index.ref.rank > 0) strides[dim] = index.ref.strides[0];
  index = kw_gpu_strided(&index, out.ref.rank, out.ref.shape, strides);
  take_lines(plan, &out, &self, dim, &index);
}

/* ---- Advanced indexing ------------------------------------------------------------------------------------------- */

/* What the list of indices, argument 1, selects. Indices broadcast to the joint dimensions, which stand where the
 * indexed ones were; where these are not adjacent, in front. */
typedef struct advanced {
  uint32_t count; /* of indexed dimensions */
  uint32_t dims[KW_MAX_RANK];
  kw_gpu_tensor indices[KW_MAX_RANK]; /* for each of these, of the joint shape */
  uint32_t joint_rank;
  int64_t joint[KW_MAX_RANK];
  uint32_t first_joint; /* the first of the joint dimensions in the result */
  bool adjacent;
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  uint32_t from[KW_MAX_RANK]; /* which dimension of the table each is, outside the joint ones */
} advanced;

static void join_shape(advanced *a, const kw_gpu_tensor *indices) {
  const uint32_t rank = indices->ref.rank;
  if (rank > a->joint_rank) {
    memmove(a->joint + (rank - a->joint_rank), a->joint, a->joint_rank * sizeof *a->joint);
    for (uint32_t d = 0; d < rank - a->joint_rank; ++d) a->joint[d] = 1;
    a->joint_rank = rank;
  }
  for (uint32_t d = 0; d < rank; ++d) {
    int64_t *size = &a->joint[a->joint_rank - rank + d];
    if (*size == 1) *size = indices->ref.shape[d];
  }
}

static void select_from(const kw_gpu_plan *plan, const kw_gpu_tensor *table, advanced *a) {
  const uint32_t entries = plan->call->args[1].count, rank = table->ref.rank;
  uint32_t given = 0;
  memset(a, 0, sizeof *a);
  for (uint32_t d = 0; d < entries; ++d) {
    const kw_gpu_tensor indices = kw_gpu_entry(plan, 1, d);
    if (!kw_gpu_present(&indices)) continue;
    given |= 1u << d;
    a->dims[a->count] = d;
    a->indices[a->count++] = indices;
    join_shape(a, &indices);
  }
  for (uint32_t k = 0; k < a->count; ++k) a->indices[k] = kw_gpu_expand(&a->indices[k], a->joint_rank, a->joint);
  a->adjacent = a->dims[a->count - 1] - a->dims[0] + 1 == a->count;
  a->first_joint = a->adjacent ? a->dims[0] : 0;
  for (uint32_t d = 0; d <= rank; ++d) {
    for (uint32_t j = 0; d == a->first_joint && j < a->joint_rank; ++j) a->shape[a->rank++] = a->joint[j];
    if (d == rank || (given >> d & 1)) continue;
    a->from[a->rank] = d;
    a->shape[a->rank++] = table->ref.shape[d];
  }
}

static bool is_joint(const advanced *a, uint32_t d) {
  return d >= a->first_joint && d < a->first_joint + a->joint_rank;
}

/* The table without its indexed dimensions, in the selection's shape. */
static kw_gpu_tensor beside_indices(const advanced *a, const kw_gpu_tensor *table) {
  int64_t strides[KW_MAX_RANK];
  for (uint32_t d = 0; d < a->rank; ++d) strides[d] = is_joint(a, d) ? 0 : table->ref.strides[a->from[d]];
  return kw_gpu_strided(table, a->rank, a->shape, strides);
}

/* A tensor of the joint shape, in the selection's. */
static kw_gpu_tensor along_joint(const advanced *a, const kw_gpu_tensor *tensor) {
  int64_t strides[KW_MAX_RANK];
  for (uint32_t d = 0; d < a->rank; ++d) strides[d] = is_joint(a, d) ? tensor->ref.strides[d - a->first_joint] : 0;
  return kw_gpu_strided(tensor, a->rank, a->shape, strides);
}

static kw_gpu_index index_of(const advanced *a, uint32_t k, const kw_gpu_tensor *table) {
  return (kw_gpu_index){.tensor = a->indices[k],
                        .argument = 1,
                        .size = table->ref.shape[a->dims[k]],
                        .step = table->ref.strides[a->dims[k]],
                        .skip = -1,
                        .flags = KW_INDEX_FROM_END | (k > 0 ? KW_INDEX_FURTHER : 0)};
}

/* Where the indices, all taken together, lead from the first element of `table`. */
static kw_gpu_tensor joint_offsets(kw_gpu_plan *plan, const advanced *a, const kw_gpu_tensor *table) {
  kw_gpu_tensor offsets = kw_gpu_temporary(plan, KW_I64, a->joint_rank, a->joint);
  for (uint32_t k = 0; k < a->count; ++k) {
    const kw_gpu_index index = index_of(a, k, table);
    kw_gpu_index_offsets(plan, &offsets, &index, NULL);
  }
  return offsets;
}

static void lower_index(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), out = kw_gpu_output(plan, 0);
  advanced a;
  select_from(plan, &self, &a);
  const kw_gpu_tensor table = beside_indices(&a, &self);
  kw_gpu_index index;
  if (a.count == 1) {
    index = index_of(&a, 0, &self);
    index.tensor = along_joint(&a, &a.indices[0]);
  } else {
    const kw_gpu_tensor offsets = joint_offsets(plan, &a, &self);
    index = (kw_gpu_index){.tensor = along_joint(&a, &offsets), .argument = 1, .size = INT64_MAX, .step = 1};
  }
  take(plan, &out, &table, &index);
}

/* ---- Putting ----------------------------------------------------------------------------------------------------- */

/* Of several for one first_joint the last is written. */
static void put(kw_gpu_plan *plan, const kw_gpu_tensor *to, const kw_gpu_tensor *beside, const kw_gpu_tensor *src,
                const kw_gpu_tensor *offsets, const kw_gpu_tensor *along) {
  const kw_gpu_tensor owners = kw_gpu_owners(plan, offsets, to->ref.numel);
  const kw_gpu_tensor all = kw_gpu_strided(&owners, beside->ref.rank, beside->ref.shape, (int64_t[KW_MAX_RANK]){0});
  kw_gpu_step_stretched(plan, &put_kernel, to->ref.dtype, beside, (const kw_gpu_tensor *[]){src, along, &all}, 3);
}

static void lower_scatter(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  if (kw_gpu_scatter_moves(plan)) return;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), index = kw_gpu_input(plan, 2), src = kw_gpu_input(plan, 3),
                out = kw_gpu_output(plan, 0);
  const uint32_t rank = index.ref.rank;
  const int64_t *shape = index.ref.shape;
  const kw_gpu_tensor to = kw_gpu_staging(plan, &out, out.ref.dtype);
  kw_gpu_copy(plan, &to, &self);
  if (index.ref.numel > 0) {
    const kw_gpu_tensor offsets =
        kw_gpu_index_offsets_along(plan, &index, 2, &self, kw_gpu_dim(plan, 1, self.ref.rank));
    const kw_gpu_tensor beside = kw_gpu_strided(&to, rank, shape, (int64_t[KW_MAX_RANK]){0});
    src = kw_gpu_strided(&src, rank, shape, src.ref.strides); /* at least as large as the index */
    put(plan, &to, &beside, &src, &offsets, &offsets);
  }
  kw_gpu_deliver(plan, &to, &out);
}

static void put_selection(kw_gpu_plan *plan) {
  kw_gpu_tensor self = kw_gpu_input(plan, 0), values = kw_gpu_input(plan, 2), out = kw_gpu_output(plan, 0);
  const kw_gpu_tensor to = kw_gpu_staging(plan, &out, out.ref.dtype);
  advanced a;
  select_from(plan, &self, &a);
  kw_gpu_copy(plan, &to, &self);
  values = kw_gpu_expand(&values, a.rank, a.shape);
  if (values.ref.numel > 0) {
    const kw_gpu_tensor offsets = joint_offsets(plan, &a, &to), along = along_joint(&a, &offsets);
    const kw_gpu_tensor beside = beside_indices(&a, &to);
    put(plan, &to, &beside, &values, &offsets, &along);
  }
  kw_gpu_deliver(plan, &to, &out);
}

/* The tensor's dimensions in another order: the indexed ones at the first_joint of the joint ones. */
static kw_gpu_tensor indexed_together(const advanced *a, const kw_gpu_tensor *tensor) {
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t d = 0; d <= a->rank; ++d) {
    for (uint32_t k = 0; d == a->first_joint && k < a->count; ++k, ++rank) {
      shape[rank] = tensor->ref.shape[a->dims[k]];
      strides[rank] = tensor->ref.strides[a->dims[k]];
    }
    if (d == a->rank || is_joint(a, d)) continue;
    shape[rank] = tensor->ref.shape[a->from[d]];
    strides[rank++] = tensor->ref.strides[a->from[d]];
  }
  return kw_gpu_strided(tensor, rank, shape, strides);
}

static void add_selection(kw_gpu_plan *plan) {
  kw_gpu_tensor self = kw_gpu_input(plan, 0), values = kw_gpu_input(plan, 2), out = kw_gpu_output(plan, 0);
  const kw_gpu_device *device = plan->call->device;
  advanced a;
  if (out.ref.dtype == KW_F64 && !device->has_f64)
    kw_gpu_refuse(plan, "cannot add f64: this device has no double precision");
  select_from(plan, &self, &a);
  kw_gpu_scatter s = {.op = KW_SCATTER_SUM, .with_self = true, .outer = 1, .rows = 1, .inner = 1};
  s.out = indexed_together(&a, &out);
  s.self = indexed_together(&a, &self);
  s.src = kw_gpu_expand(&values, a.rank, a.shape);
  for (uint32_t d = 0; d < a.rank; ++d)
    if (!is_joint(&a, d)) *(d < a.first_joint ? &s.outer : &s.inner) *= a.shape[d];
  /* Rows are numbered by the indexed dimensions, the last of them fastest. */
  kw_gpu_tensor rows = kw_gpu_reshape(&self, self.ref.rank, self.ref.shape);
  for (uint32_t k = a.count; k-- > 0; s.rows *= self.ref.shape[a.dims[k]]) rows.ref.strides[a.dims[k]] = s.rows;
  s.keys = joint_offsets(plan, &a, &rows);
  kw_gpu_scatter_rows(plan, &s);
}

static void lower_index_put(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  if (kw_gpu_bool(plan, 3, false)) {
    add_selection(plan);
  } else {
    put_selection(plan);
  }
}

#define MOVES (KW_GPU_MOVES | KW_KERNEL_DATA_ERRORS)

static const kw_gpu_op ops[] = {
    {"cat", lower_cat, 0, KW_GPU_MOVES | KW_KERNEL_MIXED_DTYPES, KW_DTYPES_ANY},
    {"embedding", lower_embedding, 0, MOVES, KW_DTYPES_ANY},
    {"index_select", lower_index_select, 0, MOVES, KW_DTYPES_ANY},
    {"gather", lower_gather, 0, MOVES, KW_DTYPES_ANY},
    {"scatter.src", lower_scatter, 0, MOVES, KW_DTYPES_ANY},
    {"index.Tensor", lower_index, 0, MOVES, KW_DTYPES_ANY},
    {"index_put", lower_index_put, 0, MOVES, KW_DTYPES_ANY},
    {0},
};

const kw_gpu_family kw_gpu_selection_family = {ops, {&selection_module}};
