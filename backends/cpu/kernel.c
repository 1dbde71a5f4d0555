/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast kernels and the reference kernels as the plugin's kernels: on the default stream they run where they stand,
 * on others a copy of the call goes into the queue, on one that records into its graph.
 */
#include "arithmetic.h"
#include "call.h"
#include "cpu.h"
#include "fast/fast.h"
#include "graph.h"
#include "reference/reference.h"

#include <keyway/known_args.h>

/* ---- Launch ---------------------------------------------------------------------------------------------------- */

/* What a stream does with a call. */
typedef struct launch_order {
  kw_cpu_table table;
  uint32_t arg; /* that is packed at `to`; */
  void *to;     /* NULL: the call runs */
} launch_order;

static kw_status run_order(kw_cpu_stream *stream, const kw_call *call, const launch_order *order) {
  const kw_host_api *host = stream->device->host;
  const uint64_t begin = kw_cpu_activity_begin(stream);
  kw_status status =
      order->to ? kw_cpu_call_pack(host, call, order->arg, order->to) : kw_cpu_call_run(host, call, order->table);
  kw_cpu_activity_end(stream, KW_ACTIVITY_LAUNCH, call->call_id, begin);
  return status;
}

static kw_status run_here(kw_cpu_stream *stream, const kw_call *call, const launch_order *order) {
  kw_cpu_arithmetic arithmetic;
  pthread_mutex_lock(&stream->lock);
  kw_cpu_arithmetic_begin(&arithmetic);
  kw_status status = run_order(stream, call, order);
  kw_cpu_arithmetic_end(&arithmetic);
  pthread_mutex_unlock(&stream->lock);
  if (status == KW_OK) return KW_OK;
  return kw_cpu_error(stream->device->host, status, "the kernel of %s %s", call->op, kw_cpu_kernel_fault(status));
}

typedef struct launch_task {
  _Alignas(16) kw_cpu_task task;
  launch_order order;
  _Alignas(16) kw_call call; /* what it points to lies behind this struct */
} launch_task;

static kw_status run_task(kw_cpu_stream *stream, kw_cpu_task *the_task) {
  const launch_task *task = (launch_task *)the_task;
  return run_order(stream, &task->call, &task->order);
}

static kw_status enqueue(kw_cpu_stream *stream, const kw_call *call, const launch_order *order) {
  launch_task *task = kw_cpu_task_create(stream, sizeof *task + kw_cpu_call_room(call), run_task);
  if (!task) return KW_ERR_OUT_OF_MEMORY;
  task->order = *order;
  task->call = kw_cpu_call_copy(call, task + 1);
  task->task.call_id = call->call_id;
  kw_cpu_stream_submit(stream, &task->task);
  return KW_OK;
}

static kw_status launch(const kw_call *call, kw_cpu_table table) {
  kw_cpu_stream *stream = call->stream;
  const launch_order order = {.table = table};
  if (stream->is_default) return run_here(stream, call, &order);
  return stream->recording ? kw_cpu_graph_add_call(stream->recording, call, table) : enqueue(stream, call, &order);
}

static kw_status pack_fast(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset) {
  kw_cpu_stream *stream = call->stream;
  const launch_order order = {.table = KW_CPU_FAST, .arg = arg, .to = (char *)mem + offset};
  return stream->is_default ? run_here(stream, call, &order) : enqueue(stream, call, &order);
}

static kw_status launch_reference(const kw_call *call) {
  return launch(call, KW_CPU_REFERENCE);
}

static kw_status launch_fast(const kw_call *call) {
  return launch(call, KW_CPU_FAST);
}

/* Kernels multiply a tensor's elements with what they take room for and with steps, and have 64 bits for that. Nothing
 * goes through more elements than these: such a tensor was expanded, and what would be read in years wraps at once. */
#define MOST_ELEMENTS (INT64_C(1) << 44)

static kw_status check_tensor(const kw_call *call, const kw_tensor_ref *tensor) {
  if (!tensor || tensor->numel <= MOST_ELEMENTS) return KW_OK;
  return kw_cpu_error(((const kw_cpu_device *)call->device)->host, KW_ERR_UNSUPPORTED,
                      "a tensor of %lld elements: the cpu computes with 2^44 at most", (long long)tensor->numel);
}

static kw_status check_tensors(const kw_call *call) {
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < call->arg_count && status == KW_OK; i++) {
    const kw_value *value = &call->args[i];
    if (value->tag == KW_TAG_TENSOR) status = check_tensor(call, value->u.tensor);
    if (value->tag != KW_TAG_TENSOR_LIST) continue;
    for (uint32_t k = 0; k < value->count && status == KW_OK; k++) status = check_tensor(call, value->u.tensors[k]);
  }
  return status;
}

static kw_status can_implement(const kw_call *call) {
  const kw_status status = check_tensors(call);
  if (status != KW_OK) return status;
  return kw_call_is_known(call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}}) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status can_implement_fast(const kw_call *call) {
  const kw_status status = check_tensors(call);
  return status == KW_OK ? kw_fast_can_implement(call) : status;
}

/* ---- Registration ---------------------------------------------------------------------------------------------- */

/* Graphs with kernels that find errors in the data stay with the host: it gives each stream that launches one its own
 * word for them, where a graph of ours had to wait for the stream of its last launch. */
static uint64_t flags_of(uint64_t flags) {
  return KW_KERNEL_DETERMINISTIC | flags | (flags & KW_KERNEL_DATA_ERRORS ? 0 : KW_KERNEL_CAPTURABLE);
}

/* Offers the kernels of one table for the key dtypes in `dtypes`. */
static kw_status register_table(const kw_host_api *host, const char *name, const kw_reference_kernel *table,
                                uint32_t count, uint64_t dtypes) {
  for (uint32_t i = 0; i < count; i++) {
    kw_kernel_desc kernel = {
        .struct_size = sizeof kernel,
        .flags = flags_of(KW_KERNEL_AES_CTR | (table[i].flags & KW_REFERENCE_DATA_ERRORS ? KW_KERNEL_DATA_ERRORS : 0)),
        .op = table[i].op,
        .name = name,
        .dtypes = {{table[i].dtypes & dtypes, 0}},
        .known_args = kw_known_args(table[i].op),
        .user = (void *)(uintptr_t)&table[i],
        .can_implement = can_implement,
        .launch = launch_reference,
    };
    /* A kernel that sees mixed dtypes must be able to tell the key dtype. From broadcast inputs it cannot. */
    if (!(table[i].flags & KW_REFERENCE_KEY_BY_INPUTS)) kernel.flags |= KW_KERNEL_MIXED_DTYPES;
    if (kernel.dtypes.bits[0] == 0 || (table[i].flags & KW_REFERENCE_COMPOSITE)) continue;
    kw_status status = host->register_kernel(host->ctx, &kernel);
    if (status != KW_OK && status != KW_ERR_NOT_FOUND) return status; /* NOT_FOUND: the host is older than the op */
  }
  return KW_OK;
}

/* What takes a call from the reference. */
#define FAST_PRIORITY 10

static kw_status register_fast(const kw_host_api *host) {
  const char *why;
  const kw_isa *isa = kw_fast_choose(&why);
  if (why) host->log(host->ctx, KW_LOG_WARN, why);
  if (!isa) return KW_OK;
  for (const kw_fast_family *family = kw_fast_families(); family->count > 0; family++) {
    for (uint32_t i = 0; i < family->count; i++) {
      const kw_fast_kernel *fast = &family->kernels[i];
      const kw_kernel_desc kernel = {
          .struct_size = sizeof kernel,
          .flags = flags_of(fast->flags),
          .op = fast->op,
          .name = "fast",
          .dtypes = {{fast->dtypes, 0}},
          .priority = FAST_PRIORITY,
          .known_args = kw_known_args(fast->op),
          .user = (void *)(uintptr_t)fast,
          .can_implement = can_implement_fast,
          .prepare = kw_fast_prepare,
          .launch = launch_fast,
          .release = kw_fast_release,
          .packable = fast->packable,
          .packed_size = kw_fast_packed_size,
          .pack = pack_fast,
      };
      kw_status status = host->register_kernel(host->ctx, &kernel);
      if (status != KW_OK && status != KW_ERR_NOT_FOUND) return status; /* NOT_FOUND: the host is older than the op */
    }
  }
  return KW_OK;
}

kw_status kw_cpu_register_kernels(const kw_host_api *host) {
  uint32_t count = 0;
  const kw_reference_kernel *table = kw_reference_f32(&count);
  const uint64_t wide = KW_DTYPE_BIT(KW_F64) | KW_DTYPE_BIT(KW_C128); /* computed in double */
  kw_status status = register_table(host, "reference", table, count, ~wide);
  if (status != KW_OK) return status;
  table = kw_reference_f64(&count);
  status = register_table(host, "reference_f64", table, count, wide);
  return status == KW_OK ? register_fast(host) : status;
}
