/* SPDX-License-Identifier: Apache-2.0
 *
 * The cpu backend's own types. One device; memory handles are host pointers; every stream but the default one has a
 * worker thread that runs an ordered queue of tasks. The default stream runs its work on the calling thread.
 */
#ifndef KEYWAY_CPU_H
#define KEYWAY_CPU_H

#include <keyway/plugin.h>

#include <pthread.h>
#include <stdatomic.h>

#define KW_CPU_ALIGNMENT 64 /* bytes: a cache line */

typedef struct kw_cpu_plugin {
  const kw_host_api *host;
} kw_cpu_plugin;

typedef struct kw_cpu_activity kw_cpu_activity;

typedef struct kw_cpu_device {
  const kw_host_api *host;
  kw_cpu_activity *activity; /* the log of records */
  uint64_t total;            /* bytes of physical memory */
  _Atomic uint64_t held;     /* bytes in live allocations */
  pthread_mutex_t imports_lock;
  struct kw_cpu_import *imports; /* that are mapped: interop.c; under imports_lock */
} kw_cpu_device;

typedef struct kw_cpu_stream kw_cpu_stream;

/* Work waiting in a queue: the head of a larger struct in one malloc block, which the stream frees after `run`. A
 * failure is reported to the host as a late error of the stream. */
typedef struct kw_cpu_task {
  struct kw_cpu_task *next;
  kw_status (*run)(kw_cpu_stream *stream, struct kw_cpu_task *task);
  uint64_t call_id; /* the op to blame for a failure; 0 = none */
} kw_cpu_task;

struct kw_cpu_stream {
  kw_cpu_device *device;
  uint64_t token;
  bool is_default;
  pthread_mutex_t lock; /* default stream: held while work runs (recursive: a callback may enqueue). Others: guards the
                           fields below */
  pthread_cond_t arrived;
  pthread_cond_t advanced;
  pthread_t worker;
  kw_cpu_task *first, *last;
  uint64_t submitted, finished; /* tasks ever */
  atomic_bool working;          /* there is a worker */
  bool stopping;
  struct kw_cpu_graph *recording; /* what is enqueued goes there; NULL: it runs. Of the thread that records */
};

/* Fills the name and the vendor of the processor that /proc/cpuinfo, or a file like it at `path`, speaks of; "CPU" and
 * nothing where it says neither. */
void kw_cpu_describe(const char *path, kw_device_info *info);

/* Sets the calling thread's error text and returns `status`. */
__attribute__((format(printf, 3, 4))) kw_status kw_cpu_error(const kw_host_api *host, kw_status status,
                                                             const char *format, ...);
/* For a slot's info: KW_OK, or the refusal of a critical flag or extension, of which this plugin knows none. */
kw_status kw_cpu_check_critical(const kw_host_api *host, uint64_t flags, const kw_ext *next);

/* What a kernel did that returned `status`: goes behind "the kernel of mm". */
static inline const char *kw_cpu_kernel_fault(kw_status status) {
  return status == KW_ERR_OUT_OF_MEMORY ? "found no host memory" : "refused its arguments";
}

/* A task of `size` bytes, not yet submitted; NULL and an error text when there is no memory. */
void *kw_cpu_task_create(kw_cpu_stream *stream, size_t size, kw_status (*run)(kw_cpu_stream *, kw_cpu_task *));
/* Appends the task, which the stream owns from now on. Not for the default stream. */
void kw_cpu_stream_submit(kw_cpu_stream *stream, kw_cpu_task *task);

/* A device's log; NULL when there is no memory. */
kw_cpu_activity *kw_cpu_activity_create(void);
void kw_cpu_activity_free(kw_cpu_activity *activity);
/* Around work: the time on the device's clock, 0 when nothing is recorded; and the record, before anybody can see that
 * the work has finished. */
uint64_t kw_cpu_activity_begin(const kw_cpu_stream *stream);
void kw_cpu_activity_end(const kw_cpu_stream *stream, kw_activity_kind kind, uint64_t call_id, uint64_t begin);
/* Adds a record, which lacks only its stream. */
void kw_cpu_activity_add(const kw_cpu_stream *stream, const kw_activity *record);

/* Bytes of physical memory. */
uint64_t kw_cpu_physical_memory(void);

/* Offers the reference kernels and, where there are some, the fast ones to the host. */
kw_status kw_cpu_register_kernels(const kw_host_api *host);

extern const kw_device_api kw_cpu_device_api;
#define KW_CPU_OPTION_COUNT 1
extern const kw_option_desc *const kw_cpu_options[KW_CPU_OPTION_COUNT];
extern const kw_memory_api kw_cpu_memory_api;
extern const kw_stream_api kw_cpu_stream_api;
extern const kw_event_api kw_cpu_event_api;
extern const kw_graph_api kw_cpu_graph_api;
extern const kw_interop_api kw_cpu_interop_api;
extern const kw_activity_api kw_cpu_activity_api;

#endif /* KEYWAY_CPU_H */
