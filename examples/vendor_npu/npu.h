/* SPDX-License-Identifier: Apache-2.0
 *
 * The Acme NPU: a toy accelerator, and the plugin to start your own from. It behaves like real hardware where that
 * matters to a plugin: its memory is not the CPU's (a kw_mem is a handle, never a pointer), its streams are
 * asynchronous (a queue and a worker each), and a kernel that fails says so late. Only the arithmetic is done by the
 * CPU, so the device calls itself emulated.
 *
 * Read plugin.c first, then memory.c, stream.c, kernels.c; activity.c and interop.c can wait, number.c only converts.
 * To make it yours: in memory.c and stream.c put your driver's calls in place of the arena and the worker thread; in
 * kernels.c enqueue your own kernels from npu_launch.
 */
#ifndef ACME_NPU_H
#define ACME_NPU_H

#include <keyway/plugin.h>
#include <stdatomic.h>

#include <pthread.h>

#define NPU_MEMORY_BYTES (UINT64_C(256) << 20)
#define NPU_ALIGNMENT 256u /* bytes: where every allocation starts */

/* Our state, from init to shutdown. */
typedef struct npu_plugin {
  const kw_host_api *host;
} npu_plugin;

typedef struct npu_activity npu_activity;
typedef struct npu_arena npu_arena;
typedef struct npu_stream npu_stream;

/* What a test has ordered; test.c's. */
typedef struct npu_order {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  kw_fault fault;
  uint64_t left; /* until it happens */
  bool held;
} npu_order;

/* The one device, from open to close. */
typedef struct npu_device {
  const kw_host_api *host;
  npu_arena *arena;
  npu_activity *activity;
  npu_order order;
  uint64_t queue_depth; /* commands that a stream has room for from the start */
} npu_device;

/* Calls host->set_error with printf-style text and returns `status`: the way every slot here fails. */
kw_status npu_fail(const kw_host_api *host, kw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* KW_OK when we can do without what hangs on an info struct's `next`; we know no extension yet. */
kw_status npu_check_critical(const kw_host_api *host, uint64_t flags, const kw_ext *next);

/* ---- memory.c */

extern const kw_memory_api npu_memory_api;

/* NULL when there is no address space. */
npu_arena *npu_arena_create(void);
void npu_arena_destroy(npu_arena *arena);

/* A handle for memory of the host's, until disown. False when there is none left, or when it is no such handle. */
bool npu_arena_adopt(npu_arena *arena, void *host, uint64_t size, kw_mem *out_mem);
bool npu_arena_disown(npu_arena *arena, kw_mem mem);

/* Where [offset, offset + size) of a handle lies in the arena or in the host's memory; NULL when the handle is not live
 * or the range leaves its allocation. Only this device's own code (copies and kernels) may look there. Thread-safe. */
void *npu_arena_resolve(npu_arena *arena, kw_mem mem, uint64_t offset, uint64_t size);

/* ---- stream.c */

extern const kw_stream_api npu_stream_api;

#define NPU_MAX_INPUTS 2 /* tensor arguments of the widest op that we run */

/* A tensor as the kernels use it: the host's description and where its first element is. */
typedef struct npu_tensor {
  kw_tensor_ref ref;
  void *data;
} npu_tensor;

/* One kernel launch, with copies of all that it needs: the host's descriptors are gone when the worker runs it. */
typedef struct npu_task {
  const kw_host_api *host;
  kw_status (*body)(const struct npu_task *task);
  const char *op; /* static text, for messages */
  npu_tensor out;
  npu_tensor in[NPU_MAX_INPUTS]; /* the tensor arguments in schema order */
  uint32_t in_count;
  kw_value attribute; /* the argument that is not a tensor, a number; our ops have at most one that matters */
  uint64_t call_id;
  kw_status ordered; /* what a test wants this launch to end with; KW_OK as a rule */
} npu_task;

/* Both enqueue and return. `task` and `copy` are copied. */
kw_status npu_stream_enqueue_task(npu_stream *stream, const npu_task *task);
kw_status npu_stream_enqueue_copy(npu_stream *stream, void *destination, const void *source, uint64_t size);

/* ---- interop.c */

extern const kw_interop_api npu_interop_api;

/* ---- activity.c */

extern const kw_activity_api npu_activity_api;

/* NULL when there is no host memory. */
npu_activity *npu_activity_create(void);
void npu_activity_destroy(npu_activity *activity);

/* Around each command that a worker runs: the time on the device's clock, 0 when nothing is recorded; and the record,
 * before anybody can see that the command has finished. */
uint64_t npu_activity_begin(npu_activity *activity);
void npu_activity_end(npu_activity *activity, kw_activity_kind kind, uint64_t call_id, uint64_t token, uint64_t begin);

/* ---- kernels.c */

/* Registers all kernels and our own op. */
kw_status npu_register_kernels(const kw_host_api *host);

/* Runs a task on the calling thread, a stream's worker: finds its tensors in the arena, then calls the body. On failure
 * `message`, of `size` bytes, says why. */
kw_status npu_task_run(npu_arena *arena, npu_task *task, char *message, size_t size);

/* ---- test.c: faults on demand; leave it out, and its group, and nothing else changes */

extern const kw_test_api npu_test_api;

void npu_order_init(npu_order *order);
void npu_order_destroy(npu_order *order);

/* Whether this is the allocation or launch that is to meet `fault`. */
bool npu_order_due(npu_order *order, kw_fault fault);
/* Before each piece of work, on its stream's worker: returns when no test holds the device. */
void npu_order_pass(npu_order *order);

#endif /* ACME_NPU_H */
