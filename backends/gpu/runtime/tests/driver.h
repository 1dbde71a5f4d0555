/* SPDX-License-Identifier: Apache-2.0
 *
 * A test driver: a shared object with the ABI of CUDA's driver (libcuda.so.1) or of the HIP runtime (libamdhip64.so),
 * as far as the backends call it, over the execution engine. It is built twice from the same sources; KW_TEST_HIP is
 * set for HIP. Its devices are called "(emulated)", and it is never installed.
 *
 * It is strict: what the runtimes leave undefined is an error here.
 */
#ifndef KEYWAY_TEST_DRIVER_H
#define KEYWAY_TEST_DRIVER_H

#include "engine.h"

#include <pthread.h>

/* ---- The two ABIs ------------------------------------------------------------------------------------------------ */

#ifdef KW_TEST_HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

/* A function of the ABI under its name in each. */
#define API(cuda, hip) __attribute__((visibility("default"))) int NAME(cuda, hip)

enum {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  UNCORRECTABLE = 214, /* the device is lost */
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  LAUNCH_REFUSED = 701,
  ALREADY_REGISTERED = 712,
  NOT_REGISTERED = 713,
  LAUNCH_FAILED = 719,
  NOT_SUPPORTED = 801,
  CAPTURE_UNSUPPORTED = 900
};

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

/* Handles point to one of these; each begins with what it is, which no longer holds once it is destroyed. */
enum {
  STREAM = 0x5354524d,
  EVENT = 0x45564e54,
  MODULE = 0x4d4f444c,
  FUNCTION = 0x46554e43,
  GRAPH = 0x47525048,
  PHYSICAL = 0x50485953
};

/* The context of a device. The first error of a kernel stays until it is reset. */
typedef struct context {
  kw_engine_device *device;
  uint32_t references;
  _Atomic int sticky;
} context;

typedef struct graph {
  uint32_t what;
  context *home;
  kw_engine_task *tasks;
  size_t count, capacity;
} graph;

typedef struct stream {
  uint32_t what;
  context *home;
  kw_engine_queue *queue;
  pthread_mutex_t lock; /* what is pushed together stays together */
  graph *recording;     /* NULL: work runs */
} stream;

/* The context that is current on the calling thread, or NULL. */
context *driver_context(void);
/* That of a device, or NULL. */
context *driver_context_of(int device);
/* The context is there and whole: OK, and *out_context. */
int driver_enter(context **out_context);
/* `handle` is such an object, of the current context when it has one. */
int driver_check(const void *handle, uint32_t what);
int driver_check_stream(void *handle, stream **out_stream);
/* What the engine says, as an error of the ABI; that of a kernel sticks. */
int driver_error(context *home, kw_engine_status status);

/* Enqueues, or records. */
int driver_push(stream *to, const kw_engine_task *task);

/* [begin, begin + size) lies in one allocation that the current device may reach; registered memory of the host counts
 * as memory of the device. */
bool driver_owns(const context *home, const void *begin, uint64_t size, kw_engine_memory_kind kind);

/* Allocations of whole blocks share theirs with no others, and lie on pages of their own: those have handles for other
 * processes. */
#define DRIVER_BLOCK ((size_t)2 << 20)
/* Memory whose handle may be asked for from here on, where its size lets it; OK, or OUT_OF_MEMORY. */
int driver_may_name(void *begin, size_t size);
/* Before it is freed. */
void driver_unname(void *begin);

#endif /* KEYWAY_TEST_DRIVER_H */
