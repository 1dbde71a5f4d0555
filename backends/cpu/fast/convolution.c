/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution and its gradients by oneDNN, in f32: other dtypes, and tensors that lie as oneDNN does not take them, are
 * copied. A convolution is cut into images and slabs of channels, by its shape alone, and a thread takes one at a time.
 * One whose window is a single element, which comes to every element, is a product of matrices. A constant weight is
 * copied and reordered once.
 */
#include "fast.h"

#include "loop.h"
#include "onednn/onednn.h"
#include "number.h"
#include "operand.h"
#include "product.h"
#include "reference.h"
#include "walk.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SLABS 8            /* at most, together with images */
#define SLAB_CHANNELS 32   /* at least, and a multiple of 16 */
#define GRAIN 16384        /* elements copied that a thread is woken for */
#define FARTHEST (1 << 20) /* that a stride, padding or dilation leads */
#define TENSORS 5

/* What an op's tensors are here: of convolution the first three, of convolution_backward all. */
enum { INPUT, WEIGHT, OUTPUT, GRAD_INPUT, GRAD_WEIGHT };

typedef struct conv_op {
  bool is_backward;
  uint32_t first; /* argument index of the first list */
} conv_op;

/* A tensor as oneDNN sees it. */
typedef struct conv_tensor {
  kw_onednn_tensor layout;
  int64_t numel;
  bool is_there;
  bool is_copied; /* dense, and in f32 */
} conv_tensor;

/* One of the three sums of products. */
typedef struct conv_part {
  kw_onednn_conv *conv; /* of one group of images and one slab */
  kw_onednn_operand result;
  uint32_t tensors[KW_ONEDNN_OPERANDS];
  int64_t group; /* images */
  int64_t groups, slabs;
  int64_t group_step[KW_ONEDNN_OPERANDS], slab_step[KW_ONEDNN_OPERANDS]; /* elements */
  int64_t bias_step;
  uint64_t format; /* of what oneDNN has chosen a layout for: the same makes the same choice */
} conv_part;

typedef struct conv_plan {
  conv_tensor tensors[TENSORS];
  conv_part parts[2];
  uint32_t part_count;
  bool is_product; /* of the weight and the images, all as they lie: there are no parts */
} conv_plan;

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static const kw_tensor_ref *tensor_of(const kw_call *call, uint32_t number) {
  const conv_op *op = ((const kw_fast_kernel *)call->user)->family;
  const uint32_t inputs = op->is_backward ? 1 : 0; /* grad_output comes first */
  switch (number) {
    case INPUT:
      return call->args[inputs].u.tensor;
    case WEIGHT:
      return call->args[inputs + 1].u.tensor;
    case OUTPUT:
      return op->is_backward ? call->args[0].u.tensor : call->outs[0];
    default:
      return op->is_backward ? call->outs[number - GRAD_INPUT] : NULL;
  }
}

static bool is_result(const conv_op *op, uint32_t number) {
  return op->is_backward ? number >= GRAD_INPUT : number == OUTPUT;
}

/* The strides of a dense tensor whose channels come first, or last. */
static void dense_strides(const kw_tensor_ref *tensor, bool channels_last, int64_t *out) {
  int64_t step = channels_last ? tensor->shape[1] : 1;
  for (uint32_t d = tensor->rank; d-- > 2;) {
    out[d] = step;
    step *= tensor->shape[d];
  }
  out[1] = channels_last ? 1 : step;
  out[0] = channels_last ? step : step * tensor->shape[1];
}

static bool has_strides(const kw_tensor_ref *tensor, const int64_t *strides) {
  for (uint32_t d = 0; d < tensor->rank; d++) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != strides[d]) return false;
  }
  return true;
}

static conv_tensor describe(const kw_tensor_ref *tensor) {
  conv_tensor out = {.is_there = true, .numel = 1, .layout.rank = tensor->rank};
  for (uint32_t d = 0; d < tensor->rank; d++) {
    out.layout.shape[d] = tensor->shape[d];
    out.numel *= tensor->shape[d];
  }
  dense_strides(tensor, true, out.layout.strides);
  if (tensor->dtype == KW_F32 && has_strides(tensor, out.layout.strides)) return out;
  dense_strides(tensor, false, out.layout.strides);
  out.is_copied = tensor->dtype != KW_F32 || !has_strides(tensor, out.layout.strides);
  return out;
}

/* A weight [a, b, tap...] as [groups, a / groups, b, tap...]. */
static void split_groups(kw_onednn_tensor *weight, int64_t groups) {
  memmove(weight->shape + 1, weight->shape, weight->rank * sizeof *weight->shape);
  memmove(weight->strides + 1, weight->strides, weight->rank * sizeof *weight->strides);
  weight->rank++;
  weight->shape[0] = groups;
  weight->shape[1] /= groups;
  weight->strides[0] = weight->shape[1] * weight->strides[1];
}

/* Cuts dimension `d` of an operand. */
static void cut(conv_part *part, kw_onednn_conv_info *info, kw_onednn_operand operand, uint32_t d) {
  kw_onednn_tensor *tensor = &info->tensors[operand];
  tensor->shape[d] /= part->slabs;
  part->slab_step[operand] = tensor->shape[d] * tensor->strides[d];
}

/* How many images are computed at once: all where the weight's gradient sums over them, and several where the weight is
 * so large that reading it is what costs. */
static int64_t group_images(kw_onednn_operand result, const kw_onednn_conv_info *info,
                            const conv_tensor *const *tensors) {
  const int64_t images = info->tensors[KW_ONEDNN_FIELD].shape[0];
  if (result == KW_ONEDNN_WEIGHT) return images;
  const int64_t numel = tensors[KW_ONEDNN_FIELD]->numel + tensors[KW_ONEDNN_PLACES]->numel;
  if (tensors[KW_ONEDNN_WEIGHT]->numel < numel / images * 4) return 1;
  int64_t group = SLABS;
  while (images % group != 0) group /= 2;
  return group;
}

/* Images in groups, channels or groups of channels in slabs. */
static void cut_all(conv_part *part, kw_onednn_conv_info *info, const conv_tensor *const *tensors, int64_t groups) {
  const bool of_field = part->result == KW_ONEDNN_FIELD;
  const int64_t channels =
      groups > 1 ? groups : tensors[of_field ? KW_ONEDNN_FIELD : KW_ONEDNN_PLACES]->layout.shape[1];
  const int64_t fewest = groups > 1 ? 16 : SLAB_CHANNELS;
  part->group = group_images(part->result, info, tensors);
  part->groups = info->tensors[KW_ONEDNN_FIELD].shape[0] / part->group;
  for (part->slabs = SLABS; part->slabs > 1; part->slabs /= 2) {
    const bool fits = channels % (16 * part->slabs) == 0 && channels / part->slabs >= fewest;
    if (fits && part->groups * part->slabs <= SLABS) break;
  }
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
    if (i == KW_ONEDNN_WEIGHT) continue;
    info->tensors[i].shape[0] = part->group;
    part->group_step[i] = part->group * info->tensors[i].strides[0];
  }
  if (groups > 1 || !of_field) cut(part, info, KW_ONEDNN_PLACES, 1);
  if (groups > 1 || of_field) cut(part, info, KW_ONEDNN_FIELD, 1);
  cut(part, info, KW_ONEDNN_WEIGHT, groups == 1 && of_field ? 1 : 0);
  part->bias_step = info->tensors[KW_ONEDNN_PLACES].shape[1];
}

/* How the window moves. At its end the field may have a few elements that no place reaches. */
static void set_window(kw_onednn_conv_info *info, const kw_value *lists) {
  const kw_onednn_tensor *field = &info->tensors[KW_ONEDNN_FIELD], *places = &info->tensors[KW_ONEDNN_PLACES];
  const kw_onednn_tensor *weight = &info->tensors[KW_ONEDNN_WEIGHT];
  for (uint32_t d = 0; d + 2 < field->rank; d++) {
    info->stride[d] = kw_operand_listed(&lists[0], d);
    info->padding[d] = kw_operand_listed(&lists[1], d);
    info->dilation[d] = kw_operand_listed(&lists[2], d) - 1;
    const int64_t range = (info->dilation[d] + 1) * (weight->shape[2 + d] - 1) + 1;
    const int64_t needed = (places->shape[2 + d] - 1) * info->stride[d] + range;
    info->padding_end[d] = needed - field->shape[2 + d] - info->padding[d];
  }
}

static uint64_t mix(uint64_t hash, const int64_t *numbers, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    hash = (hash ^ (uint64_t)numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

static uint64_t format_of(const kw_onednn_conv_info *info) {
  uint64_t hash = info->result;
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
    hash = mix(hash, info->tensors[i].shape, info->tensors[i].rank);
    hash = mix(hash, info->tensors[i].strides, info->tensors[i].rank);
  }
  const int64_t *const windows[] = {info->stride, info->dilation, info->padding, info->padding_end};
  for (int i = 0; i < 4; i++) hash = mix(hash, windows[i], KW_ONEDNN_SPATIAL);
  return hash;
}

static kw_status plan_part(const kw_call *call, conv_plan *plan, kw_onednn_operand result, const uint32_t *tensors) {
  const conv_op *op = ((const kw_fast_kernel *)call->user)->family;
  const kw_value *lists = call->args + op->first;
  const int64_t groups = lists[5].u.i;
  conv_part *part = &plan->parts[plan->part_count];
  const conv_tensor *whole[KW_ONEDNN_OPERANDS];
  kw_onednn_conv_info info = {.result = result};
  part->result = result;
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
    part->tensors[i] = tensors[i];
    whole[i] = &plan->tensors[tensors[i]];
    info.tensors[i] = whole[i]->layout;
  }
  set_window(&info, lists);
  if (groups > 1) split_groups(&info.tensors[KW_ONEDNN_WEIGHT], groups);
  info.has_bias = !op->is_backward && result == KW_ONEDNN_PLACES && call->args[2].tag == KW_TAG_TENSOR;
  cut_all(part, &info, whole, groups);
  part->format = format_of(&info);
  kw_status status = kw_onednn_conv_create(&info, &part->conv);
  if (status == KW_OK) plan->part_count++;
  return status;
}

static void drop_plan(void *the_plan) {
  const conv_plan *plan = the_plan;
  for (uint32_t i = 0; i < plan->part_count; i++) kw_onednn_conv_destroy(plan->parts[i].conv);
}

static bool is_product(const kw_call *call, const conv_plan *plan) {
  const conv_op *op = ((const kw_fast_kernel *)call->user)->family;
  const kw_value *lists = call->args + op->first;
  const kw_onednn_tensor *weight = &plan->tensors[WEIGHT].layout;
  if (op->is_backward || lists[3].u.b || lists[5].u.i != 1) return false;
  for (uint32_t i = INPUT; i <= OUTPUT; i++) {
    if (plan->tensors[i].is_copied) return false;
  }
  for (uint32_t d = 0; d + 2 < weight->rank; d++) {
    if (weight->shape[2 + d] != 1 || kw_operand_listed(&lists[0], d) != 1 || kw_operand_listed(&lists[1], d) != 0) {
      return false;
    }
  }
  return true;
}

/* The gradient of the input is what the other kind of convolution makes of the output's. */
static kw_status plan_convolution(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const conv_op *op = kernel->family;
  conv_plan *plan = out_plan;
  const bool transposed = call->args[op->first + 3].u.b;
  for (uint32_t i = 0; i < TENSORS; i++) {
    const kw_tensor_ref *tensor = tensor_of(call, i);
    if (tensor) plan->tensors[i] = describe(tensor);
  }
  plan->is_product = is_product(call, plan);
  if (plan->is_product) return KW_OK;
  const uint32_t input = op->is_backward ? GRAD_INPUT : INPUT;
  const kw_onednn_operand of_input = transposed ? KW_ONEDNN_PLACES : KW_ONEDNN_FIELD;
  const kw_onednn_operand of_output = transposed ? KW_ONEDNN_FIELD : KW_ONEDNN_PLACES;
  kw_status status = KW_OK;
  if (plan->tensors[input].is_there) {
    const uint32_t tensors[] = {transposed ? OUTPUT : input, WEIGHT, transposed ? input : OUTPUT};
    status = plan_part(call, plan, op->is_backward ? of_input : of_output, tensors);
  }
  if (status == KW_OK && plan->tensors[GRAD_WEIGHT].is_there) {
    const uint32_t tensors[] = {transposed ? OUTPUT : INPUT, GRAD_WEIGHT, transposed ? INPUT : OUTPUT};
    status = plan_part(call, plan, KW_ONEDNN_WEIGHT, tensors);
  }
  if (status != KW_OK) drop_plan(plan);
  return status;
}

/* oneDNN counts in 32 bits where windows go: with larger numbers it computes something else. */
static bool has_near_windows(const kw_call *call) {
  const conv_op *op = ((const kw_fast_kernel *)call->user)->family;
  for (uint32_t i = 0; i < 3; i++) { /* stride, padding, dilation */
    const kw_value *list = &call->args[op->first + i];
    for (uint32_t d = 0; d < list->count; d++) {
      if (list->u.ints[d] > FARTHEST) return false;
    }
  }
  return true;
}

static kw_status serves_convolution(const kw_call *call) {
  if (!has_near_windows(call)) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t i = 0; i < TENSORS; i++) {
    const kw_tensor_ref *tensor = tensor_of(call, i);
    if (!tensor) continue;
    if (tensor->rank < 3 || tensor->rank > 5) return KW_ERR_NOT_IMPLEMENTED;
    for (uint32_t d = 0; d < tensor->rank; d++) {
      if (tensor->shape[d] == 0) return KW_ERR_NOT_IMPLEMENTED;
    }
  }
  return KW_OK;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

typedef struct conv_copy {
  kw_loop loop;
  char *base[2];
  kw_read_fn read;
  kw_write_fn write;
} conv_copy;

static void copy_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  const conv_copy *copy = context;
  float lanes[KW_LANE_BLOCK];
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    copy->read(lanes, at[1] + i * step[1], step[1], count);
    copy->write(at[0] + i * step[0], step[0], lanes, count);
  }
}

static void copy_piece(void *user, int64_t begin, int64_t end) {
  conv_copy *copy = user;
  kw_loop_run(&copy->loop, copy->base, begin, end, copy_row, copy);
}

/* Between a tensor and its copy, whichever way. */
static kw_status copy_tensor(const kw_host_api *host, const kw_tensor_ref *tensor, const conv_tensor *dense, float *at,
                             bool to_tensor) {
  const kw_isa *isa = kw_fast_isa();
  kw_tensor_ref copied = *tensor;
  copied.dtype = KW_F32;
  for (uint32_t d = 0; d < tensor->rank; d++) copied.strides[d] = dense->layout.strides[d];
  const kw_tensor_ref *to = to_tensor ? tensor : &copied, *from = to_tensor ? &copied : tensor;
  conv_copy copy;
  kw_loop_begin(&copy.loop, to);
  kw_loop_add(&copy.loop, from);
  kw_loop_make(&copy.loop);
  copy.base[!to_tensor] = kw_walk_base(tensor);
  copy.base[to_tensor] = (char *)at;
  copy.read = isa->read[from->dtype][KW_LANE_F32];
  copy.write = isa->write[to->dtype][KW_LANE_F32];
  return host->parallel_for(host->ctx, dense->numel, GRAIN, copy_piece, &copy);
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct conv_run {
  const conv_plan *plan;
  const conv_part *part;
  float *at[TENSORS];
  float *bias;                      /* one number for each of the result's channels, or NULL */
  char *packed[KW_ONEDNN_OPERANDS]; /* what is shared, as oneDNN wants it; NULL: as it lies, or not shared */
  const void *constant;             /* the weight, packed by an earlier call, or NULL */
  kw_onednn_operand packing;        /* what is being packed */
  atomic_int status;
} conv_run;

/* `bias` added to the channels of a slab of the field's images that begins at `at`. */
static void add_bias(const conv_run *run, float *at, int64_t slab) {
  const kw_onednn_tensor *layout = &run->plan->tensors[run->part->tensors[KW_ONEDNN_FIELD]].layout;
  const int64_t channels = layout->shape[1] / run->part->slabs, step = layout->strides[layout->rank - 1];
  int64_t count = 1;
  for (uint32_t d = 2; d < layout->rank; d++) count *= layout->shape[d];
  for (int64_t line = 0; line < run->part->group * channels; line++) {
    const int64_t c = line % channels;
    float *to = at + line / channels * layout->strides[0] + c * layout->strides[1];
    const float bias = run->bias[slab * channels + c];
    for (int64_t i = 0; i < count; i++) to[i * step] += bias;
  }
}

/* How many packed ones there are of an operand: a slab's weights serve all groups, and a group's images may serve all
 * slabs. */
static int64_t packed_count(const conv_part *part, int operand) {
  if (operand == KW_ONEDNN_WEIGHT) return part->slabs;
  return part->slabs > 1 && part->slab_step[operand] == 0 ? part->groups : 0;
}

static void run_groups(void *user, int64_t begin, int64_t end) {
  conv_run *run = user;
  const conv_part *part = run->part;
  void *room = aligned_alloc(64, kw_onednn_conv_room(part->conv));
  kw_status status = room ? KW_OK : KW_ERR_OUT_OF_MEMORY;
  for (int64_t i = begin; i < end && status == KW_OK; i++) {
    const int64_t group = i / part->slabs, slab = i % part->slabs;
    float *at[KW_ONEDNN_OPERANDS];
    const void *packed[KW_ONEDNN_OPERANDS] = {NULL};
    for (int k = 0; k < KW_ONEDNN_OPERANDS; k++) {
      const size_t number = (size_t)(k == KW_ONEDNN_WEIGHT ? slab : group);
      at[k] = run->at[part->tensors[k]] + group * part->group_step[k] + slab * part->slab_step[k];
      if (run->packed[k]) packed[k] = run->packed[k] + number * kw_onednn_conv_packed_size(part->conv, k);
    }
    const float *bias = run->bias && part->result == KW_ONEDNN_PLACES ? run->bias + slab * part->bias_step : NULL;
    status = kw_onednn_conv_run(part->conv, at, packed, bias, room);
    if (run->bias && part->result == KW_ONEDNN_FIELD) add_bias(run, at[KW_ONEDNN_FIELD], slab);
  }
  free(room);
  if (status != KW_OK) atomic_store(&run->status, status);
}

static void pack_each(void *user, int64_t begin, int64_t end) {
  conv_run *run = user;
  const conv_part *part = run->part;
  const kw_onednn_operand k = run->packing;
  const size_t size = kw_onednn_conv_packed_size(part->conv, k);
  const int64_t step = k == KW_ONEDNN_WEIGHT ? part->slab_step[k] : part->group_step[k];
  for (int64_t i = begin; i < end; i++) {
    const float *from = run->at[part->tensors[k]] + i * step;
    const kw_status status = kw_onednn_conv_pack(part->conv, k, from, run->packed[k] + (size_t)i * size);
    if (status != KW_OK) atomic_store(&run->status, status);
  }
}

/* Bytes of all packed ones. */
static size_t all_packed_size(const conv_part *part, kw_onednn_operand operand) {
  return (size_t)packed_count(part, operand) * kw_onednn_conv_packed_size(part->conv, operand);
}

static kw_status pack_at(const kw_host_api *host, conv_run *run, kw_onednn_operand operand, void *to) {
  run->packing = operand;
  run->packed[operand] = to;
  return host->parallel_for(host->ctx, packed_count(run->part, operand), 1, pack_each, run);
}

static kw_status pack(const kw_host_api *host, conv_run *run, kw_onednn_operand operand) {
  const size_t size = all_packed_size(run->part, operand);
  if (size == 0) return KW_OK;
  void *to = aligned_alloc(64, size);
  return to ? pack_at(host, run, operand, to) : KW_ERR_OUT_OF_MEMORY;
}

static kw_status run_part(const kw_host_api *host, conv_run *run) {
  const conv_part *part = run->part;
  kw_status status = KW_OK;
  memset(run->packed, 0, sizeof run->packed);
  for (int k = 0; k < KW_ONEDNN_OPERANDS && status == KW_OK; k++) {
    if (k != KW_ONEDNN_WEIGHT || !run->constant) status = pack(host, run, k);
  }
  if (run->constant) run->packed[KW_ONEDNN_WEIGHT] = (char *)(uintptr_t)run->constant;
  if (status == KW_OK) status = host->parallel_for(host->ctx, part->groups * part->slabs, 1, run_groups, run);
  if (run->constant) run->packed[KW_ONEDNN_WEIGHT] = NULL;
  for (int k = 0; k < KW_ONEDNN_OPERANDS; k++) free(run->packed[k]);
  return status == KW_OK ? atomic_load(&run->status) : status;
}

typedef struct conv_sum {
  const kw_onednn_tensor *grad;
  const float *at;
  const kw_tensor_ref *out;
} conv_sum;

/* The gradient of the bias: sums of channels, in order, in double. */
static void sum_channels(void *user, int64_t begin, int64_t end) {
  const conv_sum *sum = user;
  const kw_onednn_tensor *grad = sum->grad;
  const int64_t step = grad->strides[grad->rank - 1], size = (int64_t)kw_number_size(sum->out->dtype);
  int64_t count = 1;
  for (uint32_t d = 2; d < grad->rank; d++) count *= grad->shape[d];
  for (int64_t c = begin; c < end; c++) {
    double totals[4] = {0, 0, 0, 0};
    for (int64_t n = 0; n < grad->shape[0]; n++) {
      const float *from = sum->at + n * grad->strides[0] + c * grad->strides[1];
      for (int64_t i = 0; i < count; i++) totals[i % 4] += (double)from[i * step];
    }
    kw_number_store(sum->out->dtype, kw_walk_base(sum->out) + c * sum->out->strides[0] * size,
                    (totals[0] + totals[1]) + (totals[2] + totals[3]));
  }
}

static kw_status run_parts(const kw_host_api *host, const kw_call *call, conv_run *run) {
  const conv_plan *plan = run->plan;
  const conv_op *op = ((const kw_fast_kernel *)call->user)->family;
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < TENSORS && status == KW_OK; i++) {
    if (!plan->tensors[i].is_copied || is_result(op, i) || (i == WEIGHT && run->constant)) continue;
    status = copy_tensor(host, tensor_of(call, i), &plan->tensors[i], run->at[i], false);
  }
  for (uint32_t i = 0; i < plan->part_count && status == KW_OK; i++) {
    run->part = &plan->parts[i];
    status = run_part(host, run);
  }
  if (status == KW_OK && op->is_backward && call->outs[2]) {
    const kw_onednn_tensor *grad = &plan->tensors[OUTPUT].layout;
    conv_sum sum = {grad, run->at[OUTPUT], call->outs[2]};
    const int64_t terms = plan->tensors[OUTPUT].numel / grad->shape[1];
    status = host->parallel_for(host->ctx, grad->shape[1], 1 + GRAIN / terms, sum_channels, &sum);
  }
  for (uint32_t i = 0; i < TENSORS && status == KW_OK; i++) {
    if (!plan->tensors[i].is_copied || !is_result(op, i)) continue;
    status = copy_tensor(host, tensor_of(call, i), &plan->tensors[i], run->at[i], true);
  }
  return status;
}

/* In a forked child oneDNN is not to be used. */
static kw_status run_reference(const kw_call *call, const char *op) {
  uint32_t count;
  const kw_reference_kernel *table = kw_reference_f32(&count);
  while (strcmp(table->op, op) != 0) table++;
  return table->run(call);
}

/* A tensor [images, channels, size...] as [images, channels, elements]. How far apart these are says the layout: the
 * stride of a last dimension of one element says nothing. */
static kw_tensor_ref as_matrices(const kw_tensor_ref *tensor, const kw_onednn_tensor *layout) {
  kw_tensor_ref out = *tensor;
  out.rank = 3;
  out.shape[2] = tensor->numel / (tensor->shape[0] * tensor->shape[1]);
  out.strides[2] = layout->strides[layout->rank - 1];
  return out;
}

static kw_status run_as_product(const kw_host_api *host, const kw_call *call, const conv_plan *plan) {
  const kw_tensor_ref images = as_matrices(tensor_of(call, INPUT), &plan->tensors[INPUT].layout);
  const kw_tensor_ref out = as_matrices(tensor_of(call, OUTPUT), &plan->tensors[OUTPUT].layout);
  kw_tensor_ref weight = *tensor_of(call, WEIGHT), bias;
  weight.rank = 2;
  const bool has_bias = call->args[2].tag == KW_TAG_TENSOR;
  if (has_bias) {
    bias = *call->args[2].u.tensor;
    bias.rank = 2;
    bias.shape[1] = 1;
  }
  return kw_product_apply(host, &out, &weight, &images, has_bias ? &bias : NULL);
}

static kw_status run_convolution(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const kw_fast_kernel *kernel = call->user;
  const conv_op *op = kernel->family;
  const conv_plan *plan = the_plan;
  if (plan->is_product) return run_as_product(host, call, plan);
  if (!kw_onednn_is_there()) return run_reference(call, kernel->op);
  conv_run run = {.plan = plan, .constant = kw_fast_packed(call, WEIGHT)};
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < TENSORS; i++) {
    const conv_tensor *tensor = &plan->tensors[i];
    if (!tensor->is_there) continue;
    run.at[i] = tensor->is_copied ? malloc((size_t)tensor->numel * sizeof(float))
                                  : (float *)(void *)kw_walk_base(tensor_of(call, i));
    if (!run.at[i]) status = KW_ERR_OUT_OF_MEMORY;
  }
  if (!op->is_backward && call->args[2].tag == KW_TAG_TENSOR) {
    const kw_tensor_ref *bias = call->args[2].u.tensor;
    const int64_t step = kw_loop_step(bias, 0);
    run.bias = malloc((size_t)bias->shape[0] * sizeof *run.bias);
    if (run.bias) {
      kw_fast_isa()->read[bias->dtype][KW_LANE_F32](run.bias, kw_walk_base(bias), step, bias->shape[0]);
    } else {
      status = KW_ERR_OUT_OF_MEMORY;
    }
  }
  if (status == KW_OK) status = run_parts(host, call, &run);
  for (uint32_t i = 0; i < TENSORS; i++) {
    if (plan->tensors[i].is_copied) free(run.at[i]);
  }
  free(run.bias);
  return status;
}

/* ---- A constant weight ------------------------------------------------------------------------------------------- */

static kw_status packed_size(const void *the_plan, const kw_call *call, uint32_t arg, uint64_t *out_size,
                             uint64_t *out_format) {
  const conv_plan *plan = the_plan;
  (void)call;
  (void)arg;
  *out_size = plan->part_count == 1 ? all_packed_size(&plan->parts[0], KW_ONEDNN_WEIGHT) : 0;
  *out_format = plan->parts[0].format;
  return KW_OK;
}

static kw_status pack_weight(const kw_host_api *host, const void *the_plan, const kw_call *call, uint32_t arg,
                             void *to) {
  const conv_plan *plan = the_plan;
  const conv_tensor *weight = &plan->tensors[WEIGHT];
  conv_run run = {.plan = plan, .part = &plan->parts[0]};
  kw_status status = KW_OK;
  if (!kw_onednn_is_there()) return KW_OK; /* in a forked child, where the reference runs */
  run.at[WEIGHT] = (float *)(void *)kw_walk_base(call->args[arg].u.tensor);
  if (weight->is_copied) {
    run.at[WEIGHT] = malloc((size_t)weight->numel * sizeof(float));
    if (!run.at[WEIGHT]) return KW_ERR_OUT_OF_MEMORY;
    status = copy_tensor(host, call->args[arg].u.tensor, weight, run.at[WEIGHT], false);
  }
  if (status == KW_OK) status = pack_at(host, &run, KW_ONEDNN_WEIGHT, to);
  if (weight->is_copied) free(run.at[WEIGHT]);
  return status == KW_OK ? atomic_load(&run.status) : status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static const kw_fast_kernel kernels[] = {
#define KERNEL(name, backward, lists, packs)    \
  {.op = name,                                  \
   .dtypes = KW_DTYPES_FLOAT32,                 \
   .plan_size = sizeof(conv_plan),              \
   .family = &(const conv_op){backward, lists}, \
   .serves = serves_convolution,                \
   .make_plan = plan_convolution,               \
   .run = run_convolution,                      \
   .drop = drop_plan,                           \
   .packable = packs,                           \
   .packed_size = packed_size,                  \
   .pack = pack_weight},
    KERNEL("convolution", false, 3, 1u << WEIGHT) KERNEL("convolution_backward", true, 4, 0)};

kw_fast_family kw_fast_convolution(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
