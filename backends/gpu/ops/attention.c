/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention: queries in tiles, keys split among groups where there are few tiles, and joined after that.
 */
#include "ops/attention.h"

#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/matmul.h"
#include "ops/moves.h"
#include "ops/softmax.h"
#include "program/dtype.h"

#include <math.h>
#include <string.h>

static const kw_gpu_module attention_module = {
    "attention",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_attention_args, kw_gpu_source_block, kw_gpu_source_attention_at, kw_gpu_source_attention_tile,
     kw_gpu_source_attention_task, kw_gpu_source_attention}};
static const kw_gpu_module rows_module = {
    "attention_rows",
    KW_GPU_RUNS_BY_DTYPE,
    KW_DTYPES_FLOAT | KW_GPU_VECTORS,
    {kw_gpu_source_attention_args, kw_gpu_source_multiply, kw_gpu_source_reduction, kw_gpu_source_terms,
     kw_gpu_source_attention_at, kw_gpu_source_attention_task, kw_gpu_source_attention_rows}};
static const kw_gpu_module join_module = {
    "attention_join",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_attention_args, kw_gpu_source_attention_at, kw_gpu_source_attention_join}};
static const kw_gpu_module starts_module = {
    "attention_starts",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_attention_args, kw_gpu_source_attention_at, kw_gpu_source_attention_starts}};

static const kw_gpu_kernel attention_kernel = {&attention_module, "kw_attention_kernel"};
static const kw_gpu_kernel rows_kernel = {&rows_module, "kw_attention_rows_kernel"};
static const kw_gpu_kernel join_kernel = {&join_module, "kw_attention_join_kernel"};
static const kw_gpu_kernel starts_kernel = {&starts_module, "kw_attention_starts_kernel"};

/* Keys are split until there are so many groups, but no part gets fewer keys than that. */
#define ENOUGH_GROUPS 512
#define LEAST_SPLIT 256

/* ---- What the gradients share ------------------------------------------------------------------------------------ */

kw_gpu_tensor kw_gpu_attention_view(const kw_gpu_tensor *tensor, uint32_t rank, const int *dims) {
  kw_gpu_tensor view = *tensor;
  view.ref.rank = (uint8_t)rank;
  view.ref.numel = 1;
  for (uint32_t d = 0; d < rank; ++d) {
    bool own = dims[d] >= 0 && kw_gpu_present(tensor);
    view.ref.shape[d] = own ? tensor->ref.shape[dims[d]] : 1;
    view.ref.strides[d] = view.ref.shape[d] == 1 ? 0 : tensor->ref.strides[dims[d]];
    view.ref.numel *= view.ref.shape[d];
  }
  return view;
}

kw_gpu_tensor kw_gpu_attention_broadcast(const kw_gpu_tensor *tensor, uint32_t rank) {
  int dims[KW_MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d) dims[d] = (int)d - (int)rank + (int)tensor->ref.rank;
  return kw_gpu_attention_view(tensor, rank, dims);
}

/* A window as wide as none can be is all. */
static int64_t window(const kw_gpu_plan *plan, uint32_t index, int64_t otherwise) {
  int64_t size = kw_gpu_int(plan, index, otherwise);
  return size < INT64_MAX / 2 ? size : -1;
}

kw_attention_rule kw_gpu_attention_rule(const kw_gpu_plan *plan, const kw_gpu_attention_options *options,
                                        int64_t right) {
  const kw_gpu_tensor mask = kw_gpu_input(plan, options->mask);
  return (kw_attention_rule){.mask = !kw_gpu_present(&mask)                         ? KW_ATTENTION_NO_MASK
                                     : mask.ref.dtype == KW_BOOL                    ? KW_ATTENTION_MASK_BOOL
                                     : mask.ref.dtype == plan->call->outs[0]->dtype ? KW_ATTENTION_MASK_T
                                                                                    : KW_ATTENTION_MASK_CT,
                             .left = window(plan, options->left, -1),
                             .right = window(plan, options->right, right)};
}

/* `width` of a query gives the usual one. */
static double scale_of(const kw_gpu_plan *plan, const kw_gpu_attention_options *options, int64_t width) {
  return kw_gpu_real(plan, options->scale, width > 0 ? 1 / sqrt((double)width) : 1);
}

void kw_gpu_attention_values(kw_gpu_plan *plan, kw_gpu_step *step, const kw_gpu_attention_options *options,
                             int64_t width) {
  kw_gpu_step_number(step, scale_of(plan, options, width));
  kw_gpu_step_number(step, kw_gpu_real(plan, options->cap, 0));
}

/* ---- The tensors ------------------------------------------------------------------------------------------------- */

/* As [batch .., head, row, column], in the order of the block's strides. */
typedef struct operands {
  kw_gpu_tensor tensors[KW_ATTENTION_TENSORS];
} operands;

/* Batch dimensions of one element go, and neighbours that all tensors step through evenly become one. False if too many
 * are left. */
static bool merge_batch(const operands *o, kw_attention *block) {
  const kw_tensor_ref *out = &o->tensors[KW_ATTENTION_OUT].ref;
  block->batch_rank = 0;
  for (uint32_t d = 0; d + 3 < out->rank; ++d) {
    if (out->shape[d] == 1) continue;
    bool even = block->batch_rank > 0;
    for (uint32_t t = 0; t < KW_ATTENTION_TENSORS && even; ++t)
      even =
          block->stride[t][KW_ATTENTION_BATCH + block->batch_rank - 1] == o->tensors[t].ref.strides[d] * out->shape[d];
    if (!even && block->batch_rank == KW_ATTENTION_BATCH_RANK) return false;
    if (!even) block->shape[block->batch_rank++] = 1;
    block->shape[block->batch_rank - 1] *= out->shape[d];
    for (uint32_t t = 0; t < KW_ATTENTION_TENSORS; ++t)
      block->stride[t][KW_ATTENTION_BATCH + block->batch_rank - 1] = o->tensors[t].ref.strides[d];
  }
  return true;
}

/* A copy of a tensor that has the whole batch. */
static kw_gpu_tensor expand(kw_gpu_plan *plan, kw_gpu_tensor tensor, const kw_tensor_ref *out) {
  if (!kw_gpu_present(&tensor)) return tensor;
  memcpy(tensor.ref.shape, out->shape, (out->rank - 3u) * sizeof *out->shape);
  kw_gpu_tensor copy = kw_gpu_temporary(plan, tensor.ref.dtype, tensor.ref.rank, tensor.ref.shape);
  kw_gpu_copy(plan, &copy, &tensor);
  return copy;
}

/* The block's batch and strides. Where the batch takes too many dimensions, tensors are copied. */
static void describe_tensors(kw_gpu_plan *plan, operands *o, kw_attention *block) {
  if (!merge_batch(o, block)) {
    const kw_tensor_ref out = o->tensors[KW_ATTENTION_OUT].ref;
    for (uint32_t t = 0; t < KW_ATTENTION_OUT; ++t) o->tensors[t] = expand(plan, o->tensors[t], &out);
    o->tensors[KW_ATTENTION_OUT] = kw_gpu_staging(plan, &o->tensors[KW_ATTENTION_OUT], out.dtype);
    merge_batch(o, block);
  }
  const uint32_t rank = o->tensors[KW_ATTENTION_OUT].ref.rank;
  for (uint32_t t = 0; t < KW_ATTENTION_TENSORS; ++t) {
    block->stride[t][KW_ATTENTION_ROW] = o->tensors[t].ref.strides[rank - 2];
    block->stride[t][KW_ATTENTION_HEAD] = o->tensors[t].ref.strides[rank - 3];
    block->stride[t][KW_ATTENTION_COLUMN] = o->tensors[t].ref.strides[rank - 1];
  }
}

/* ---- Forms of attention ------------------------------------------------------------------------------------------ */

#define NO_ARGUMENT UINT32_MAX

typedef struct form {
  int64_t form;
  kw_gpu_attention_options options;
  uint32_t index[2]; /* lengths and table of blocks, or where queries and keys begin */
} form;

static const form sdpa = {
    KW_ATTENTION_WHOLE, {3, 6, NO_ARGUMENT, NO_ARGUMENT, NO_ARGUMENT}, {NO_ARGUMENT, NO_ARGUMENT}};
static const form keyway_forms[] = {
    [KW_ATTENTION_WHOLE] = {KW_ATTENTION_WHOLE, {3, 4, 5, 6, 7}, {NO_ARGUMENT, NO_ARGUMENT}},
    [KW_ATTENTION_LENGTHS] = {KW_ATTENTION_LENGTHS, {NO_ARGUMENT, 4, 5, 6, NO_ARGUMENT}, {3, NO_ARGUMENT}},
    [KW_ATTENTION_PAGED] = {KW_ATTENTION_PAGED, {5, 6, 7, 8, 9}, {4, 3}},
    [KW_ATTENTION_PACKED] = {KW_ATTENTION_PACKED, {NO_ARGUMENT, 5, 6, 7, 8}, {3, 4}},
};

static operands tensors_of(const kw_gpu_plan *plan, const form *f) {
  static const int packed[] = {1, 0, 2}, paged[] = {-1, 2, 1, 3}, batch[] = {0, 1, 2, 3};
  static const int packed_lse[] = {1, 0, -1}, batch_lse[] = {0, 1, 2, -1};
  operands o = {{kw_gpu_input(plan, 0), kw_gpu_input(plan, 1), kw_gpu_input(plan, 2),
                 kw_gpu_input(plan, f->options.mask), kw_gpu_output(plan, 0), kw_gpu_output(plan, 1)}};
  const uint32_t out_rank = o.tensors[KW_ATTENTION_OUT].ref.rank;
  const bool is_packed = f->form == KW_ATTENTION_PACKED;
  const uint32_t rank = out_rank > 3 ? out_rank : 3;
  for (uint32_t t = 0; t < KW_ATTENTION_TENSORS; ++t) {
    kw_gpu_tensor *tensor = &o.tensors[t];
    const bool of_keys = t == KW_ATTENTION_KEY || t == KW_ATTENTION_VALUE;
    if (t == KW_ATTENTION_LSE) {
      *tensor = kw_gpu_attention_view(tensor, rank, is_packed ? packed_lse : batch_lse);
    } else if (t == KW_ATTENTION_MASK || f == &sdpa) {
      *tensor = kw_gpu_attention_broadcast(tensor, rank);
    } else {
      *tensor = kw_gpu_attention_view(tensor, rank,
                                      is_packed                                  ? packed
                                      : of_keys && f->form == KW_ATTENTION_PAGED ? paged
                                                                                 : batch);
    }
  }
  return o;
}

static int64_t at_least_one(int64_t number) {
  return number > 1 ? number : 1;
}

/* Heads of queries that each of a tensor's heads serves. */
static int64_t group_of(const operands *o, uint32_t tensor) {
  const kw_tensor_ref *out = &o->tensors[KW_ATTENTION_OUT].ref, *ref = &o->tensors[tensor].ref;
  return out->shape[out->rank - 3] / at_least_one(ref->shape[ref->rank - 3]);
}

static void set_sizes(const operands *o, kw_attention *block) {
  const uint32_t rank = o->tensors[KW_ATTENTION_OUT].ref.rank;
  const int64_t *query = o->tensors[KW_ATTENTION_QUERY].ref.shape, *out = o->tensors[KW_ATTENTION_OUT].ref.shape;
  block->has_lse = kw_gpu_present(&o->tensors[KW_ATTENTION_LSE]);
  block->heads = out[rank - 3];
  block->rows = out[rank - 2];
  block->value_width = out[rank - 1];
  block->keys = o->tensors[KW_ATTENTION_KEY].ref.shape[rank - 2];
  block->width = query[rank - 1];
  block->key_group = at_least_one(group_of(o, KW_ATTENTION_KEY));
  block->value_group = at_least_one(group_of(o, KW_ATTENTION_VALUE));
  block->pack = block->key_group == block->value_group ? block->key_group : 1;
}

/* Tensors of numbers, and keys in pages. */
static void set_index(const kw_gpu_plan *plan, const form *f, kw_attention *block) {
  for (uint32_t i = 0; i < 2; ++i) {
    const kw_gpu_tensor index = kw_gpu_input(plan, f->index[i]);
    block->index_is_i32[i] = index.ref.dtype == KW_I32;
    for (uint32_t d = 0; d < 2 && d < index.ref.rank; ++d) block->index_stride[i][d] = index.ref.strides[d];
    if (f->form == KW_ATTENTION_PACKED) block->sequences = index.ref.shape[0] - 1;
  }
  if (f->form != KW_ATTENTION_PAGED) return;
  const kw_tensor_ref key = kw_gpu_input(plan, 1).ref, value = kw_gpu_input(plan, 2).ref;
  block->pages = key.shape[0];
  block->page_rows = key.shape[1];
  block->page_stride[0] = key.strides[0];
  block->page_stride[1] = value.strides[0];
  block->keys = kw_gpu_input(plan, 3).ref.shape[1] * key.shape[1];
}

/* Divides the work; returns the number of groups. */
static int64_t divide(kw_attention *block) {
  int64_t batch = 1;
  for (int64_t d = 0; d < block->batch_rank; ++d) batch *= block->shape[d];
  block->tiles = kw_gpu_attention_tiles(block->rows * block->pack, KW_ATTENTION_ROWS) + block->sequences;
  block->chunks = at_least_one(kw_gpu_attention_tiles(block->value_width, KW_ATTENTION_COLUMNS));
  block->splits = 1;
  block->split_keys = at_least_one(block->keys);
  const int64_t groups = batch * (block->heads / block->pack) * block->tiles * block->chunks;
  if (block->form != KW_ATTENTION_PACKED && groups > 0 && groups < ENOUGH_GROUPS) {
    int64_t splits = kw_gpu_attention_tiles(ENOUGH_GROUPS, groups), most = block->keys / LEAST_SPLIT;
    if (splits > most) splits = at_least_one(most);
    if (splits > KW_ATTENTION_SPLITS) splits = KW_ATTENTION_SPLITS;
    const int64_t tiles = kw_gpu_attention_tiles(block->split_keys, splits * KW_ATTENTION_KEYS);
    block->split_keys = tiles * KW_ATTENTION_KEYS;
    block->splits = at_least_one(kw_gpu_attention_tiles(block->keys, block->split_keys));
  }
  return groups * block->splits;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static kw_gpu_tensor add_starts(kw_gpu_plan *plan, const form *f, const kw_attention *block) {
  kw_gpu_tensor starts = kw_gpu_temporary(plan, KW_I64, 1, (int64_t[]){block->sequences + 1});
  kw_gpu_tensor queries = kw_gpu_input(plan, f->index[0]), keys = kw_gpu_input(plan, f->index[1]);
  kw_gpu_step *step = kw_gpu_step_add(plan, &starts_kernel, plan->call->outs[0]->dtype);
  kw_gpu_step_operand(step, &starts);
  kw_gpu_step_operand(step, &queries);
  kw_gpu_step_operand(step, &keys);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_error_code(step);
  kw_gpu_step_groups(step, 1);
  return starts;
}

static void add_join(kw_gpu_plan *plan, const operands *o, const kw_gpu_tensor *parts, const kw_attention *block) {
  kw_gpu_step *step = kw_gpu_step_add(plan, &join_kernel, plan->call->outs[0]->dtype);
  kw_gpu_step_operand(step, &o->tensors[KW_ATTENTION_OUT]);
  kw_gpu_step_operand(step, &o->tensors[KW_ATTENTION_LSE]);
  kw_gpu_step_operand(step, parts);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_groups(step, parts->ref.shape[0]);
}

/* ---- By products, on devices that compute in vectors --------------------------------------------------------------
 */

#define SCORES_LIMIT (256 << 20) /* bytes of workspace for all scores */
#define FEW_ROWS 8               /* for which the work is to read keys and values once */

/* The tensor with the batch and the heads of the result. */
static kw_gpu_tensor of_all_heads(const kw_gpu_tensor *tensor, const kw_tensor_ref *out) {
  int64_t shape[KW_MAX_RANK];
  memcpy(shape, out->shape, sizeof shape);
  for (uint32_t d = 1; d <= 2; ++d) shape[out->rank - d] = tensor->ref.shape[out->rank - d];
  return kw_gpu_expand(tensor, out->rank, shape);
}

/* Whether a query wants all scores, or all of the first keys, and there is room for all of them. The other forms want
 * what a softmax does not give: the logarithms of its sums. */
static bool is_by_products(const kw_gpu_plan *plan, const form *f, const operands *o, const kw_attention_rule *rule) {
  const kw_gpu_device *device = plan->call->device;
  const kw_tensor_ref *out = &o->tensors[KW_ATTENTION_OUT].ref, *key = &o->tensors[KW_ATTENTION_KEY].ref;
  const int64_t keys = key->shape[out->rank - 2], width = key->shape[out->rank - 1];
  if (device->vector_bytes == 0 || f != &sdpa || rule->mask == KW_ATTENTION_MASK_BOOL) return false;
  if (out->numel == 0 || keys == 0 || width == 0) return false;
  if (group_of(o, KW_ATTENTION_KEY) != 1 || group_of(o, KW_ATTENTION_VALUE) != 1) return false;
  const int64_t scores = out->numel / out->shape[out->rank - 1] * keys;
  return out->shape[out->rank - 2] >= FEW_ROWS && kw_gpu_row_fits(plan, keys) &&
         scores * kw_gpu_dtype_size(kw_gpu_compute_dtype(out->dtype)) <= SCORES_LIMIT;
}

/* All scores, their softmax, and the values weighed by that. */
static void attend_by_products(kw_gpu_plan *plan, const form *f, const operands *o, const kw_attention_rule *rule) {
  const kw_gpu_tensor *out = &o->tensors[KW_ATTENTION_OUT], *mask = &o->tensors[KW_ATTENTION_MASK];
  const kw_dtype dtype = out->ref.dtype;
  kw_gpu_tensor query = of_all_heads(&o->tensors[KW_ATTENTION_QUERY], &out->ref);
  kw_gpu_tensor key = of_all_heads(&o->tensors[KW_ATTENTION_KEY], &out->ref), keys_turned = kw_gpu_transpose(&key);
  kw_gpu_tensor value = of_all_heads(&o->tensors[KW_ATTENTION_VALUE], &out->ref), bias = *mask;
  int64_t shape[KW_MAX_RANK];
  memcpy(shape, out->ref.shape, sizeof shape);
  shape[out->ref.rank - 1] = key.ref.shape[out->ref.rank - 2];
  kw_gpu_tensor scores = kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), out->ref.rank, shape);
  if (kw_gpu_present(mask)) bias = kw_gpu_expand(mask, out->ref.rank, shape);
  const kw_value scale = {.tag = KW_TAG_SCALAR,
                          .kind = KW_SCALAR_F64,
                          .u.f = scale_of(plan, &f->options, query.ref.shape[out->ref.rank - 1])};
  kw_gpu_step_product(plan, dtype,
                      &(kw_gpu_product){.out = &scores,
                                        .a = &query,
                                        .b = &keys_turned,
                                        .self = kw_gpu_present(mask) ? &bias : NULL,
                                        .alpha = &scale});
  kw_gpu_softmax_weights(plan, &scores, rule->right >= 0 ? 1 + rule->right : INT64_MAX);
  kw_gpu_step_product(plan, dtype, &(kw_gpu_product){.out = out, .a = &scores, .b = &value});
}

/* ---- The ops ------------------------------------------------------------------------------------------------------
 */

/* Whether items can read a row's columns as vectors. */
static bool is_by_rows(const kw_gpu_plan *plan, const kw_attention *block) {
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes == 0) return false;
  for (uint32_t t = KW_ATTENTION_QUERY; t <= KW_ATTENTION_VALUE; ++t)
    if (block->stride[t][KW_ATTENTION_COLUMN] != 1 && (t == KW_ATTENTION_VALUE ? block->value_width : block->width) > 1)
      return false;
  return true;
}

static void attend(kw_gpu_plan *plan, const form *f, int64_t right, bool from_end) {
  const kw_dtype dtype = plan->call->outs[0]->dtype;
  operands o = tensors_of(plan, f);
  const kw_gpu_tensor out = o.tensors[KW_ATTENTION_OUT];
  kw_attention block = {.rule = kw_gpu_attention_rule(plan, &f->options, right), .form = f->form};
  block.rule.from_end = from_end;
  if (is_by_products(plan, f, &o, &block.rule)) {
    attend_by_products(plan, f, &o, &block.rule);
    return;
  }
  describe_tensors(plan, &o, &block);
  set_sizes(&o, &block);
  set_index(plan, f, &block);
  const int64_t groups = divide(&block);
  const int64_t rows = groups / at_least_one(block.splits * block.tiles * block.chunks) * block.pack * block.rows;
  kw_gpu_tensor starts = {.at.from = KW_GPU_NOTHING}, parts = starts;
  if (f->form == KW_ATTENTION_PACKED) starts = add_starts(plan, f, &block);
  if (block.splits > 1)
    parts = kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), 2,
                             (int64_t[]){rows, block.splits * (block.value_width + 2)});
  const kw_gpu_tensor index[] = {kw_gpu_input(plan, f->index[0]), kw_gpu_input(plan, f->index[1])};
  const bool by_rows = is_by_rows(plan, &block);
  kw_gpu_step *step = kw_gpu_step_add(plan, by_rows ? &rows_kernel : &attention_kernel, dtype);
  kw_gpu_step_operand(step, &o.tensors[KW_ATTENTION_OUT]);
  kw_gpu_step_operand(step, &o.tensors[KW_ATTENTION_LSE]);
  for (uint32_t t = 0; t < KW_ATTENTION_OUT; ++t) kw_gpu_step_operand(step, &o.tensors[t]);
  kw_gpu_step_operand(step, &index[0]);
  kw_gpu_step_operand(step, &index[1]);
  kw_gpu_step_operand(step, &starts);
  kw_gpu_step_operand(step, &parts);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_attention_values(plan, step, &f->options, block.width);
  kw_gpu_step_error_code(step);
  kw_gpu_step_grid(step, by_rows ? 1 : KW_LOCAL_REDUCTION, 1, groups, 1);
  if (block.splits > 1) add_join(plan, &o, &parts, &block);
  kw_gpu_deliver(plan, &o.tensors[KW_ATTENTION_OUT], &out);
}

/* Its causal queries are counted from the first key. */
static void lower_sdpa(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  attend(plan, &sdpa, kw_gpu_bool(plan, 5, false) ? 0 : -1, false);
}

static void lower_attention(kw_gpu_plan *plan, const kw_gpu_op *op) {
  attend(plan, &keyway_forms[op->code], op->code == KW_ATTENTION_LENGTHS ? 0 : -1, true);
}

static const kw_gpu_op ops[] = {
    {"scaled_dot_product_attention", lower_sdpa, 0, 0, KW_DTYPES_FLOAT},
    {"keyway::attention", lower_attention, KW_ATTENTION_WHOLE, 0, KW_DTYPES_FLOAT},
    {"keyway::attention_decode", lower_attention, KW_ATTENTION_LENGTHS, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"keyway::attention_paged", lower_attention, KW_ATTENTION_PAGED, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"keyway::attention_varlen", lower_attention, KW_ATTENTION_PACKED, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_attention_family = {ops, {&attention_module, &rows_module, &join_module, &starts_module}};
