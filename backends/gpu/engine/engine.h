/* SPDX-License-Identifier: Apache-2.0
 *
 * The execution engine: what test drivers are made of. It runs compiled kernels on the CPU as a device would: queues
 * that work on their own, groups on several threads, barriers, local memory of each group, device memory that ends, and
 * faults on demand. It executes compiled kernels and nothing else, and is never installed.
 *
 * All functions may be called from any thread. What fails leaves a text for kw_engine_message.
 */
#ifndef KEYWAY_GPU_ENGINE_H
#define KEYWAY_GPU_ENGINE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kw_engine_status {
  KW_ENGINE_OK,
  KW_ENGINE_NOT_READY,
  KW_ENGINE_OUT_OF_MEMORY, /* the device's, or the host's */
  KW_ENGINE_INVALID,       /* what was given is not what the function wants */
  KW_ENGINE_REFUSED,       /* a launch that was not taken */
  KW_ENGINE_FAILED,        /* a task failed while it ran */
  KW_ENGINE_LOST,          /* the device was lost since the queue was created */
} kw_engine_status;

/* Why the last function that failed on this thread did; until the next one that fails. */
const char *kw_engine_message(void);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

#define KW_ENGINE_DEVICE_LIMIT 8
#define KW_ENGINE_DEVICE_MEMORY ((uint64_t)8 << 30)
#define KW_ENGINE_GROUP_ITEMS 1024 /* at most, in three dimensions */

typedef struct kw_engine_device kw_engine_device;

/* As many as KEYWAY_ENGINE_DEVICES says: one when it is not set. */
uint32_t kw_engine_device_count(void);
kw_engine_device *kw_engine_device_get(uint32_t index);
/* How often it was lost. Queues that were created before are gone with it, others work: a runtime compares with the
 * number when it opened the device. Memory is left to be freed. */
uint64_t kw_engine_device_losses(const kw_engine_device *device);
/* Bytes that are allocated now, of KW_ENGINE_DEVICE_MEMORY. */
uint64_t kw_engine_device_used(const kw_engine_device *device);
/* For memory that a runtime makes by other means: so many bytes more, or fewer, are allocated. False where there are
 * not that many. */
bool kw_engine_device_take(kw_engine_device *device, uint64_t size);
void kw_engine_device_give(kw_engine_device *device, uint64_t size);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef enum kw_engine_memory_kind {
  KW_ENGINE_MEMORY_DEVICE,
  KW_ENGINE_MEMORY_HOST, /* of the host, for the device to reach: counts for no device */
  KW_ENGINE_MEMORY_SHARED,
  KW_ENGINE_MEMORY_FOREIGN, /* of others in this process: kw_engine_adopt */
} kw_engine_memory_kind;

typedef struct kw_engine_allocation {
  void *base;
  size_t size;
  kw_engine_memory_kind kind;
  kw_engine_device *device; /* NULL: host memory that belongs to none */
} kw_engine_allocation;

/* `alignment` is a power of two, or 0. The size is not 0. */
kw_engine_status kw_engine_alloc(kw_engine_device *device, kw_engine_memory_kind kind, size_t size, size_t alignment,
                                 void **out_base);
/* INVALID: not the base of an allocation. Work that uses it must have finished. */
kw_engine_status kw_engine_free(void *base);
/* Memory of others becomes known to all devices, as an allocation of its own kind. INVALID: some of it is so already.
 */
kw_engine_status kw_engine_adopt(void *base, size_t size);
/* INVALID: no adopted memory begins there. */
kw_engine_status kw_engine_disown(void *base);
/* The allocation that `pointer` points into; false: none. */
bool kw_engine_find(const void *pointer, kw_engine_allocation *out_allocation);

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* A shared library. It exports, for each kernel, `NAME_entry`, which takes an array whose entry i points to argument i
 * and runs one item, and `NAME_params`, which gives the number of parameters and behind it the size of each in bytes;
 * and `kw_engine_bind`, which tells the calling thread's kernels which item runs and what their barrier is. */
typedef struct kw_engine_module kw_engine_module;

typedef struct kw_engine_item {
  int64_t group[3];
  int64_t groups[3]; /* of the launch */
  int32_t local[3];
  int32_t size[3]; /* items of a group */
} kw_engine_item;

typedef struct kw_engine_kernel {
  void (*run)(void *const *args);
  void (*bind)(const kw_engine_item *item, void (*barrier)(const kw_engine_item *item));
  uint32_t param_count;
  const uint32_t *param_sizes;
  char name[128];
} kw_engine_kernel;

/* C++, entry.hpp and the sources read one after the other, to a module's bytes, to be freed with free: every function
 * kw_..._kernel becomes a kernel; its `void` begins a line. The message is the compiler's when it fails. */
kw_engine_status kw_engine_compile(const char *const *sources, uint32_t source_count, void **out_bytes,
                                   size_t *out_size);
/* The first source of those in the pack's dialect. */
extern const char kw_engine_prelude[];
/* What compiled modules depend on beside their sources: the compiler, its version and options. */
const char *kw_engine_compiler(void);

/* Runs a program, found on the PATH, to its end: `arguments` begin with its name and end with NULL. What it prints, to
 * be freed with free, is in *out_text (NULL when it did not run). True when it exits with 0. */
bool kw_engine_run_program(char *const *arguments, char **out_text);

/* Copies the bytes. */
kw_engine_status kw_engine_module_load(const void *bytes, size_t size, kw_engine_module **out_module);
/* No launch of its kernels may be under way. */
void kw_engine_module_unload(kw_engine_module *module);
/* As loaded; valid until unload. */
const void *kw_engine_module_bytes(const kw_engine_module *module, size_t *out_size);
/* What the module exports by this name beside its kernels, or NULL; valid until unload. */
const void *kw_engine_module_symbol(const kw_engine_module *module, const char *name);
/* INVALID: there is no such kernel. The kernel is valid until unload. */
kw_engine_status kw_engine_kernel_find(const kw_engine_module *module, const char *name, kw_engine_kernel *out_kernel);

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

#define KW_ENGINE_ARG_LIMIT 64
#define KW_ENGINE_ARG_BYTES 4096

/* Fill kernel, local and groups; then add arguments. `kernel` must stay until it has run. */
typedef struct kw_engine_launch {
  const kw_engine_kernel *kernel;
  uint32_t local[3];  /* items of a group; none is 0 */
  uint64_t groups[3]; /* none is 0 */
  uint32_t arg_count, byte_count;
  uint32_t places[KW_ENGINE_ARG_LIMIT];
  alignas(16) unsigned char bytes[KW_ENGINE_ARG_BYTES];
} kw_engine_launch;

/* The next argument: these bytes, a pointer's being the pointer itself. False: too many. */
bool kw_engine_launch_add(kw_engine_launch *launch, const void *data, size_t size);

/* All arguments of its kernel; params[i] points to the i-th. */
bool kw_engine_launch_add_all(kw_engine_launch *launch, void *const *params);

/* Launches that were pushed to queues of this process. As it ends, it adds a line with the number to the file that
 * KEYWAY_ENGINE_COUNT names, if any. */
uint64_t kw_engine_launch_count(void);

/* ---- Queues and events ------------------------------------------------------------------------------------------- */

/* Passes when a task that signals it ends. A runtime whose events are on or off signals 1 and resets; one whose events
 * are recorded again and again signals one more each time, and waits for what it last asked for. Lives in the runtime's
 * own struct, all zeros at first; the fields are for the functions below. */
typedef struct kw_engine_event {
  uint64_t passed;           /* the largest value signalled since the last reset */
  uint64_t begin_ns, end_ns; /* of the last task that signalled it, on the clock of kw_engine_now_ns */
  uint64_t failed_queue;     /* the queue whose failure it carries; 0: none */
} kw_engine_event;

typedef enum kw_engine_task_kind {
  KW_ENGINE_NOTHING,
  KW_ENGINE_LAUNCH,
  KW_ENGINE_COPY, /* the areas may overlap */
  KW_ENGINE_FILL,
  KW_ENGINE_WAIT, /* until `event` has passed `value`, or the device is lost */
  KW_ENGINE_RESET,
  KW_ENGINE_CALL, /* a function of the host's; also when a task before it has failed */
} kw_engine_task_kind;

typedef struct kw_engine_task {
  kw_engine_task_kind kind;
  kw_engine_event *signal; /* NULL: none. Otherwise it passes `signal_value` when the task ends */
  uint64_t signal_value;
  union {
    struct {
      void *to;
      const void *from;
      size_t size;
    } copy;
    struct {
      void *to;
      size_t size;
      size_t pattern_size; /* divides the size */
      unsigned char pattern[128];
    } fill;
    struct {
      kw_engine_event *event;
      uint64_t value;
    } event;
    struct {
      void (*function)(void *data);
      void *data;
    } call;
    kw_engine_launch launch;
  } u;
} kw_engine_task;

/* Runs tasks one after the other, on threads of its own. After a task that failed, no launch, copy or fill runs until
 * the failure has been given to the host. */
typedef struct kw_engine_queue kw_engine_queue;

kw_engine_status kw_engine_queue_create(kw_engine_device *device, kw_engine_queue **out_queue);
/* Runs what is left. */
void kw_engine_queue_destroy(kw_engine_queue *queue);
/* Copies the task. REFUSED, LOST: faults; then it was not taken. */
kw_engine_status kw_engine_queue_push(kw_engine_queue *queue, const kw_engine_task *task);

#define KW_ENGINE_FOREVER UINT64_MAX

/* Until all that was pushed has run. NOT_READY after `timeout_ns`; FAILED once after
 * a failure; LOST for good. */
kw_engine_status kw_engine_queue_wait(kw_engine_queue *queue, uint64_t timeout_ns);
/* Gives the failure of the tasks that have run, as a wait would, without waiting: a task of the queue's own may ask. */
kw_engine_status kw_engine_queue_failure(kw_engine_queue *queue);
/* Whether all that was pushed has run. Leaves a failure to be told. */
bool kw_engine_queue_is_idle(kw_engine_queue *queue);
/* Until the event passes `value`. NOT_READY after `timeout_ns`; FAILED or LOST when a task had failed in the queue that
 * signalled it, and then that queue works again. */
kw_engine_status kw_engine_event_wait(kw_engine_event *event, uint64_t value, uint64_t timeout_ns);
/* By the host. */
void kw_engine_event_signal(kw_engine_event *event, uint64_t value);
void kw_engine_event_reset(kw_engine_event *event);
/* When the last task that signalled it began and ended. False: it has not passed `value`. */
bool kw_engine_event_times(const kw_engine_event *event, uint64_t value, uint64_t *out_begin_ns, uint64_t *out_end_ns);
uint64_t kw_engine_now_ns(void);

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

/* KEYWAY_ENGINE_FAULT="alloc:3,launch:2,late:5,lost:7" means: the 3rd allocation fails, the 2nd launch is refused, the
 * 5th fails while it runs, at the 7th the device is lost; each happens once in a process. kw_engine_alloc and
 * kw_engine_queue_push ask, for orders too; a runtime on the engine need not. */
typedef enum kw_engine_fault {
  KW_ENGINE_FAULT_ALLOC,
  KW_ENGINE_FAULT_LAUNCH,
  KW_ENGINE_FAULT_LATE,
  KW_ENGINE_FAULT_LOST,
  KW_ENGINE_FAULT_COUNT
} kw_engine_fault;

/* Whether it is due at the number-th time; numbers begin at 1. */
bool kw_engine_fault_is_due(kw_engine_fault fault, uint64_t number);

/* What a test orders while the process runs: kw_fault of types.h, by its numbers. Counted over the whole device, from
 * the order on. A new order takes the place of the one before. */
typedef enum kw_engine_order {
  KW_ENGINE_ORDER_NONE,  /* none any more; what is held goes on */
  KW_ENGINE_ORDER_ALLOC, /* the n-th allocation of device memory fails */
  KW_ENGINE_ORDER_LATE,  /* the n-th launch fails while it runs */
  KW_ENGINE_ORDER_LOSE,  /* the device is lost while it runs */
  KW_ENGINE_ORDER_HOLD   /* from the n-th launch, copy or fill that would run, no queue goes on */
} kw_engine_order;

/* INVALID: there is no such order. */
kw_engine_status kw_engine_device_order(kw_engine_device *device, uint32_t order, uint64_t nth);

#endif /* KEYWAY_GPU_ENGINE_H */
