/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast kernels and the reference kernels as the plugin's kernels: on the default stream they run where they stand,
 * on others a copy of the call goes into the queue.
 */
#include "cpu.h"
#include "fast/fast.h"
#include "reference/reference.h"

#include <keyway/known_args.h>

#include <fenv.h>
#include <string.h>

/* ---- A copy of a call in one block ----------------------------------------------------------------------------- */

/* Memory to place copies in; without `base` it only counts. */
typedef struct arena {
  char *base;
  size_t used;
} arena;

/* A copy of `data`, or NULL while counting. */
static void *place(arena *arena, const void *data, size_t size) {
  size_t at = arena->used;
  arena->used += (size + 15) / 16 * 16;
  if (!arena->base || size == 0) return NULL;
  return memcpy(arena->base + at, data, size);
}

static const kw_tensor_ref *place_tensor(arena *arena, const kw_tensor_ref *tensor) {
  return tensor ? place(arena, tensor, sizeof *tensor) : NULL;
}

static const kw_tensor_ref **place_tensors(arena *arena, const kw_tensor_ref *const *tensors, uint32_t count) {
  const kw_tensor_ref **copies = place(arena, tensors, count * sizeof *tensors);
  for (uint32_t i = 0; i < count; i++) {
    const kw_tensor_ref *copy = place_tensor(arena, tensors[i]);
    if (copies) copies[i] = copy;
  }
  return copies;
}

/* `call` with everything it points to placed in the arena; meaningless while counting. */
static kw_call place_call(arena *arena, const kw_call *call) {
  kw_call copy = *call;
  kw_value *args = place(arena, call->args, call->arg_count * sizeof *args);
  for (uint32_t i = 0; i < call->arg_count; i++) {
    kw_value value = call->args[i];
    if (value.tag == KW_TAG_TENSOR) {
      value.u.tensor = place_tensor(arena, value.u.tensor);
    } else if (value.tag == KW_TAG_TENSOR_LIST) {
      value.u.tensors = place_tensors(arena, value.u.tensors, value.count);
    } else if (value.tag == KW_TAG_INT_LIST) {
      value.u.ints = place(arena, value.u.ints, value.count * sizeof *value.u.ints);
    } else if (value.tag == KW_TAG_STRING) {
      value.u.s = place(arena, value.u.s, strlen(value.u.s) + 1);
    }
    if (args) args[i] = value;
  }
  copy.args = args;
  copy.outs = place_tensors(arena, call->outs, call->out_count);
  copy.extra = call->extra ? place(arena, call->extra, sizeof *call->extra) : NULL;
  copy.op = NULL; /* not read by kernels, and not promised to live */
  return copy;
}

/* ---- Launch ---------------------------------------------------------------------------------------------------- */

/* How a kernel computes a call, whichever table it is from. */
typedef kw_status (*run_fn)(const kw_host_api *host, const kw_call *call);

static kw_status run_reference(const kw_host_api *host, const kw_call *call) {
  const kw_reference_kernel *kernel = call->user;
  (void)host;
  return kernel->run(call);
}

static kw_status run_fast(const kw_host_api *host, const kw_call *call) {
  const kw_fast_kernel *kernel = call->user;
  return kernel->run(host, call, call->prepared);
}

typedef struct launch_task {
  _Alignas(16) kw_cpu_task task;
  kw_call call; /* what it points to lies behind this struct */
} launch_task;

static kw_status run_launch(kw_cpu_stream *stream, const kw_call *call, run_fn run) {
  const uint64_t begin = kw_cpu_activity_begin(stream);
  kw_status status = run(stream->device->host, call);
  kw_cpu_activity_end(stream, KW_ACTIVITY_LAUNCH, call->call_id, begin);
  return status;
}

static kw_status run_reference_task(kw_cpu_stream *stream, kw_cpu_task *task) {
  return run_launch(stream, &((launch_task *)task)->call, run_reference);
}

static kw_status run_fast_task(kw_cpu_stream *stream, kw_cpu_task *task) {
  return run_launch(stream, &((launch_task *)task)->call, run_fast);
}

/* Whether the calling thread computes as a fresh process does: rounding to nearest, subnormals kept, no traps. */
static bool computes_by_default(void) {
#if defined(__x86_64__)
  return (__builtin_ia32_stmxcsr() & 0xffc0u) == 0x1f80u;
#elif defined(__aarch64__)
  fenv_t now;
  fegetenv(&now);
  return now.__fpcr == 0;
#else
  return fegetround() == FE_TONEAREST;
#endif
}

/* On the caller's thread; what it has chosen for its own arithmetic changes no result. */
static kw_status run_here(kw_cpu_stream *stream, const kw_call *call, run_fn run) {
  if (computes_by_default()) return run_launch(stream, call, run);
  fenv_t chosen;
  fegetenv(&chosen);
  fesetenv(FE_DFL_ENV);
  kw_status status = run_launch(stream, call, run);
  fesetenv(&chosen);
  return status;
}

static kw_status launch_here(kw_cpu_stream *stream, const kw_call *call, run_fn run) {
  pthread_mutex_lock(&stream->lock);
  kw_status status = run_here(stream, call, run);
  pthread_mutex_unlock(&stream->lock);
  if (status == KW_OK) return KW_OK;
  return kw_cpu_error(stream->device->host, status, "the kernel of %s %s", call->op, kw_cpu_kernel_fault(status));
}

static kw_status enqueue(kw_cpu_stream *stream, const kw_call *call,
                         kw_status (*run)(kw_cpu_stream *stream, kw_cpu_task *task)) {
  arena count = {NULL, 0};
  place_call(&count, call);
  launch_task *task = kw_cpu_task_create(stream, sizeof *task + count.used, run);
  if (!task) return KW_ERR_OUT_OF_MEMORY;
  arena behind = {(char *)(task + 1), 0};
  task->call = place_call(&behind, call);
  task->task.call_id = call->call_id;
  kw_cpu_stream_submit(stream, &task->task);
  return KW_OK;
}

static kw_status launch_reference(const kw_call *call) {
  kw_cpu_stream *stream = call->stream;
  return stream->is_default ? launch_here(stream, call, run_reference) : enqueue(stream, call, run_reference_task);
}

static kw_status launch_fast(const kw_call *call) {
  kw_cpu_stream *stream = call->stream;
  return stream->is_default ? launch_here(stream, call, run_fast) : enqueue(stream, call, run_fast_task);
}

static kw_status can_implement(const kw_call *call) {
  return kw_call_is_known(call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}}) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* ---- Registration ---------------------------------------------------------------------------------------------- */

/* Offers the kernels of one table for the key dtypes in `dtypes`. */
static kw_status register_table(const kw_host_api *host, const char *name, const kw_reference_kernel *table,
                                uint32_t count, uint64_t dtypes) {
  for (uint32_t i = 0; i < count; i++) {
    kw_kernel_desc kernel = {
        .struct_size = sizeof kernel,
        .flags = KW_KERNEL_DETERMINISTIC | KW_KERNEL_AES_CTR,
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
    if (table[i].flags & KW_REFERENCE_DATA_ERRORS) kernel.flags |= KW_KERNEL_DATA_ERRORS;
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
          .flags = KW_KERNEL_DETERMINISTIC | fast->flags,
          .op = fast->op,
          .name = "fast",
          .dtypes = {{fast->dtypes, 0}},
          .priority = FAST_PRIORITY,
          .known_args = kw_known_args(fast->op),
          .user = (void *)(uintptr_t)fast,
          .can_implement = kw_fast_can_implement,
          .prepare = kw_fast_prepare,
          .launch = launch_fast,
          .release = kw_fast_release,
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
