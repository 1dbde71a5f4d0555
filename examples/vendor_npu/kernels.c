/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels. A row of the table at the end makes one: the op, the dtypes, and a body that a stream's worker runs. All
 * rows share npu_launch, which copies what the body needs into a task and enqueues it.
 *
 * Bodies take any shape, stride and offset, as the host may hand out views. What the host has already checked (dtypes,
 * broadcasting, overlap; see kw_call in plugin.h) is not checked again.
 */
#include "npu.h"
#include "number.h"

#include <stdio.h>
#include <string.h>

/* ---- Walking over elements -------------------------------------------------------------------------------------- */

/* Steps through the elements of one shape, in row-major order, in several tensors at once. Tensor 0 gives the shape;
 * the others have the same one, with strides of their own. */
typedef struct walker {
  int64_t left; /* elements to go, the current one included */
  const kw_tensor_ref *refs[1 + NPU_MAX_INPUTS];
  uint8_t *data[1 + NPU_MAX_INPUTS];
  int64_t at[1 + NPU_MAX_INPUTS]; /* bytes from data to the current element */
  int64_t index[KW_MAX_RANK];
  uint32_t count;
} walker;

static void walk_add(walker *walk, const npu_tensor *tensor) {
  if (walk->count == 0) {
    walk->left = tensor->ref.numel;
  }
  walk->refs[walk->count] = &tensor->ref;
  walk->data[walk->count++] = tensor->data;
}

/* The usual walk: the output, then every input. */
static walker walk_task(const npu_task *task) {
  walker walk = {0};
  walk_add(&walk, &task->out);
  for (uint32_t i = 0; i < task->in_count; ++i) {
    walk_add(&walk, &task->in[i]);
  }
  return walk;
}

static void *walk_item(const walker *walk, uint32_t tensor) {
  return walk->data[tensor] + walk->at[tensor];
}

static void walk_next(walker *walk) {
  --walk->left;
  for (int d = walk->refs[0]->rank - 1; d >= 0; --d) {
    int64_t extent = walk->refs[0]->shape[d];
    bool carry = ++walk->index[d] == extent;
    for (uint32_t t = 0; t < walk->count; ++t) {
      int64_t stride = walk->refs[t]->strides[d] * npu_itemsizes[walk->refs[t]->dtype];
      walk->at[t] += carry ? stride - stride * extent : stride;
    }
    if (!carry) {
      return;
    }
    walk->index[d] = 0;
  }
}

/* ---- Bodies: run by a stream's worker --------------------------------------------------------------------------- */

/* What a complex number has two of; any other dtype itself. */
static kw_dtype part_of(kw_dtype dtype) {
  return dtype == KW_C64 ? KW_F32 : dtype == KW_C128 ? KW_F64 : dtype;
}

/* One element as copy_ converts it. To a real dtype only the real part goes, to bool either part counts. */
static void convert(kw_dtype to, uint8_t *out, kw_dtype from, const uint8_t *in) {
  kw_dtype part = part_of(from), target = part_of(to);
  npu_number real = npu_number_load(part, in), imaginary = {0};
  if (part != from) {
    imaginary = npu_number_load(part, in + npu_itemsizes[part]);
  }
  if (to == KW_BOOL && imaginary.f != 0) {
    real = imaginary;
  }
  npu_number_store(target, out, real);
  if (target != to) {
    npu_number_store(target, out + npu_itemsizes[target], imaginary);
  }
}

/* A later version may offer dtypes that convert does not know. */
static kw_status copy_can_implement(const kw_call *call) {
  return kw_call_is_known(call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}}) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* copy_(self, src): in[0] is the output once more, in[1] the source. */
static kw_status copy_body(const npu_task *task) {
  walker walk = {0};
  walk_add(&walk, &task->out);
  walk_add(&walk, &task->in[1]);
  kw_dtype to = task->out.ref.dtype;
  kw_dtype from = task->in[1].ref.dtype;
  for (; walk.left > 0; walk_next(&walk)) {
    if (to == from) {
      memcpy(walk_item(&walk, 0), walk_item(&walk, 1), npu_itemsizes[to]);
    } else {
      convert(to, walk_item(&walk, 0), from, walk_item(&walk, 1));
    }
  }
  return KW_OK;
}

static kw_status fill_can_implement(const kw_call *call) {
  return call->args[1].kind == KW_SCALAR_C128 ? KW_ERR_NOT_IMPLEMENTED : KW_OK;
}

static kw_status fill_body(const npu_task *task) {
  walker walk = {0};
  walk_add(&walk, &task->out);
  npu_number value = npu_number_argument(&task->attribute);
  for (; walk.left > 0; walk_next(&walk)) {
    npu_number_store(task->out.ref.dtype, walk_item(&walk, 0), value);
  }
  return KW_OK;
}

/* out = self + factor * other, in double and rounded once. add.Tensor in f32 and our own scaled_add. */
static kw_status add_f32_body(const npu_task *task) {
  double factor = npu_number_float(npu_number_argument(&task->attribute));
  for (walker walk = walk_task(task); walk.left > 0; walk_next(&walk)) {
    float a, b;
    memcpy(&a, walk_item(&walk, 1), sizeof a);
    memcpy(&b, walk_item(&walk, 2), sizeof b);
    float sum = (float)(a + factor * b);
    memcpy(walk_item(&walk, 0), &sum, sizeof sum);
  }
  return KW_OK;
}

/* Integers wrap: unsigned arithmetic does. */
static kw_status add_i32_body(const npu_task *task) {
  uint32_t factor = (uint32_t)npu_number_argument(&task->attribute).i;
  for (walker walk = walk_task(task); walk.left > 0; walk_next(&walk)) {
    uint32_t a, b;
    memcpy(&a, walk_item(&walk, 1), sizeof a);
    memcpy(&b, walk_item(&walk, 2), sizeof b);
    a += factor * b;
    memcpy(walk_item(&walk, 0), &a, sizeof a);
  }
  return KW_OK;
}

static kw_status mul_f32_body(const npu_task *task) {
  for (walker walk = walk_task(task); walk.left > 0; walk_next(&walk)) {
    float a, b;
    memcpy(&a, walk_item(&walk, 1), sizeof a);
    memcpy(&b, walk_item(&walk, 2), sizeof b);
    a *= b;
    memcpy(walk_item(&walk, 0), &a, sizeof a);
  }
  return KW_OK;
}

static kw_status mul_i32_body(const npu_task *task) {
  for (walker walk = walk_task(task); walk.left > 0; walk_next(&walk)) {
    uint32_t a, b;
    memcpy(&a, walk_item(&walk, 1), sizeof a);
    memcpy(&b, walk_item(&walk, 2), sizeof b);
    a *= b;
    memcpy(walk_item(&walk, 0), &a, sizeof a);
  }
  return KW_OK;
}

/* Written so that a NaN, which compares false, goes through. */
static kw_status relu_body(const npu_task *task) {
  for (walker walk = walk_task(task); walk.left > 0; walk_next(&walk)) {
    float x;
    memcpy(&x, walk_item(&walk, 1), sizeof x);
    x = x <= 0 ? 0 : x;
    memcpy(walk_item(&walk, 0), &x, sizeof x);
  }
  return KW_OK;
}

/* All elements into one, accumulated in double. */
static kw_status sum_body(const npu_task *task) {
  walker walk = {0};
  walk_add(&walk, &task->in[0]);
  double total = 0;
  for (; walk.left > 0; walk_next(&walk)) {
    float x;
    memcpy(&x, walk_item(&walk, 0), sizeof x);
    total += x;
  }
  float rounded = (float)total;
  memcpy(task->out.data, &rounded, sizeof rounded);
  return KW_OK;
}

static void *matrix_item(const npu_tensor *matrix, int64_t row, int64_t column) {
  int64_t element = row * matrix->ref.strides[0] + column * matrix->ref.strides[1];
  return (uint8_t *)matrix->data + element * (int64_t)sizeof(float);
}

static void mm_rows(void *user, int64_t begin, int64_t end) {
  const npu_task *task = user;
  int64_t depth = task->in[0].ref.shape[1];
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t column = 0; column < task->out.ref.shape[1]; ++column) {
      double total = 0;
      for (int64_t k = 0; k < depth; ++k) {
        float a, b;
        memcpy(&a, matrix_item(&task->in[0], row, k), sizeof a);
        memcpy(&b, matrix_item(&task->in[1], k, column), sizeof b);
        total += (double)a * b;
      }
      float rounded = (float)total;
      memcpy(matrix_item(&task->out, row, column), &rounded, sizeof rounded);
    }
  }
}

/* A plugin that computes on the CPU borrows the host's threads and starts no pool of its own. */
static kw_status mm_body(const npu_task *task) {
  const kw_host_api *host = task->host;
  int64_t rows = task->out.ref.shape[0];
  int64_t work_per_row = task->in[0].ref.shape[1] * task->out.ref.shape[1] + 1;
  int64_t grain = 16384 / work_per_row + 1; /* rows in a piece: enough work to be worth a thread */
  return host->parallel_for(host->ctx, rows, grain, mm_rows, (void *)task);
}

/* Finds a tensor's elements. A handle that is not live, or a view that leaves its allocation, is refused here: a kernel
 * never touches memory out of bounds. */
static bool locate(npu_arena *arena, npu_tensor *tensor) {
  const kw_tensor_ref *ref = &tensor->ref;
  if (ref->numel == 0) {
    return true; /* no element, so nowhere to be */
  }
  int64_t last = 0; /* the index of the last element, counted in elements from the first */
  for (uint32_t d = 0; d < ref->rank; ++d) {
    last += (ref->shape[d] - 1) * ref->strides[d];
  }
  tensor->data = npu_arena_resolve(arena, ref->mem, ref->offset, (uint64_t)(last + 1) * npu_itemsizes[ref->dtype]);
  return tensor->data != NULL;
}

kw_status npu_task_run(npu_arena *arena, npu_task *task, char *message, size_t size) {
  bool located = locate(arena, &task->out);
  for (uint32_t i = 0; i < task->in_count; ++i) {
    located = locate(arena, &task->in[i]) && located;
  }
  if (!located) {
    snprintf(message, size, "%s: a tensor does not lie in live NPU memory", task->op);
    return KW_ERR_INVALID_ARGUMENT;
  }
  kw_status status = task->body(task);
  if (status != KW_OK) {
    snprintf(message, size, "%s: the host's parallel_for failed with status %d", task->op, (int)status);
  }
  return status;
}

/* ---- Our own op ------------------------------------------------------------------------------------------------- */

/* What scaled_add means, for the conformance suite. The output is f64 when the suite wants more precision. */
static kw_status scaled_add_reference(const kw_call *call) {
  npu_task operands = {.in_count = 2};
  operands.out.ref = *call->outs[0];
  operands.in[0].ref = *call->args[0].u.tensor;
  operands.in[1].ref = *call->args[1].u.tensor;
  operands.out.data = (uint8_t *)operands.out.ref.mem + operands.out.ref.offset;
  for (uint32_t i = 0; i < operands.in_count; ++i) {
    operands.in[i].data = (uint8_t *)operands.in[i].ref.mem + operands.in[i].ref.offset;
  }
  double scale = call->args[2].u.f;
  for (walker walk = walk_task(&operands); walk.left > 0; walk_next(&walk)) {
    npu_number a = npu_number_load(operands.in[0].ref.dtype, walk_item(&walk, 1));
    npu_number b = npu_number_load(operands.in[1].ref.dtype, walk_item(&walk, 2));
    npu_number sum = {.f = npu_number_float(a) + scale * npu_number_float(b)};
    npu_number_store(operands.out.ref.dtype, walk_item(&walk, 0), sum);
  }
  return KW_OK;
}

static const kw_op_desc scaled_add_op = {
    .struct_size = sizeof(kw_op_desc),
    .schema = "acme::scaled_add(Tensor self, Tensor other, *, float scale=1.0) -> Tensor",
    .reference = scaled_add_reference, /* no .infer: it broadcasts and promotes, the host's default */
    .dtypes = {{KW_DTYPE_BIT(KW_F32), 0}},
    .comparator = KW_COMPARE_ULP,
    .ulp = 1,
};

/* ---- The table and its launch ----------------------------------------------------------------------------------- */

typedef struct kernel_row {
  const char *op;
  uint64_t dtypes; /* key dtypes, KW_DTYPE_BIT */
  uint64_t flags;
  uint32_t known_args; /* arguments of the schema that the body understands or may ignore */
  kw_status (*can_implement)(const kw_call *call);
  kw_status (*body)(const npu_task *task);
} kernel_row;

#define F32 KW_DTYPE_BIT(KW_F32)
#define I32 KW_DTYPE_BIT(KW_I32)

static const kernel_row kernel_rows[] = {
    {"copy_", KW_DTYPES_ANY, KW_KERNEL_MIXED_DTYPES, 3, copy_can_implement, copy_body},
    {"fill_.Scalar", NPU_REAL_DTYPES, 0, 2, fill_can_implement, fill_body},
    {"add.Tensor", F32, 0, 3, NULL, add_f32_body},
    {"add.Tensor", I32, 0, 3, NULL, add_i32_body},
    {"mul.Tensor", F32, 0, 2, NULL, mul_f32_body},
    {"mul.Tensor", I32, 0, 2, NULL, mul_i32_body},
    {"relu", F32, 0, 1, NULL, relu_body},
    {"sum", F32, 0, 2, NULL, sum_body},
    {"mm", F32, 0, 2, NULL, mm_body},
    {"acme::scaled_add", F32, 0, 3, NULL, add_f32_body},
};

/* The launch of every kernel here: copies the call into a task and enqueues it. It neither waits nor fails for what the
 * data hold; what goes wrong later, the stream reports. */
static kw_status npu_launch(const kw_call *call) {
  const npu_device *device = call->device;
  const kernel_row *row = call->user;
  npu_task task = {.host = device->host, .body = row->body, .op = row->op, .call_id = call->call_id};
  task.out.ref = *call->outs[0];
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    if (call->args[i].tag == KW_TAG_TENSOR) {
      task.in[task.in_count++].ref = *call->args[i].u.tensor;
    } else {
      task.attribute = call->args[i];
    }
  }
  return npu_stream_enqueue_task(call->stream, &task);
}

kw_status npu_register_kernels(const kw_host_api *host) {
  kw_status status = host->define_op(host->ctx, &scaled_add_op);
  if (status != KW_OK) {
    return status;
  }
  for (size_t i = 0; i < sizeof kernel_rows / sizeof kernel_rows[0]; ++i) {
    const kernel_row *row = &kernel_rows[i];
    kw_kernel_desc kernel = {
        .struct_size = sizeof kernel,
        .flags = row->flags | KW_KERNEL_DETERMINISTIC,
        .op = row->op,
        .name = row->dtypes == I32 ? "toy_i32" : "toy", /* unique among the kernels of one op */
        .dtypes = {{row->dtypes, 0}},
        .known_args = row->known_args,
        .user = (void *)row,
        .can_implement = row->can_implement,
        .launch = npu_launch,
    };
    status = host->register_kernel(host->ctx, &kernel);
    if (status != KW_OK && status != KW_ERR_NOT_FOUND) { /* a host may be older than one of our ops: go on */
      return status;
    }
  }
  return KW_OK;
}
