/* SPDX-License-Identifier: Apache-2.0
 *
 * The queue kit: a whole plugin for a chip that takes commands, from a table of what its driver can do.
 *
 * It asks little: hardware queues that run commands in order and count them, and a copy engine. On top of that the kit
 * makes any number of streams, whichever queue each of them is on, events, functions of the host's on streams, copies
 * of any host memory through staging blocks, and errors that come late. Kernels are the plugin's own, as in plugin.h:
 * `launch` makes a command and hands it to kw_queue_enqueue. Ops without a kernel are served by others (`keyway ops`).
 *
 *     static const kw_queue_driver driver = {.key = "acme", ..., .submit = acme_submit, .done = acme_done};
 *     kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **plugin, const char **reason) {
 *       return kw_queue_query(&driver, host, plugin, reason);
 *     }
 *
 * Threads: the kit calls submit, copy, done and failure of a device under a lock of that device, one at a time; wait
 * without it; everything else from any thread. Functions that fail say why with kw_queue_fail.
 */
#ifndef KEYWAY_QUEUE_H
#define KEYWAY_QUEUE_H

#include <keyway/plugin.h>

#define KW_QUEUE_LIMIT 32 /* hardware queues of a device */

/* A copy within device memory, or between that and a staging block: the side without a `mem` is `staging`. */
typedef struct kw_queue_copy {
  kw_mem to_mem, from_mem; /* NULL: the staging block */
  uint64_t to_offset, from_offset, size;
  void *staging;
} kw_queue_copy;

/* A command that went wrong after it was submitted. */
typedef struct kw_queue_failure {
  uint64_t ticket;
  kw_status status; /* KW_ERR_DEVICE_LOST: all that is enqueued ends, and the chip gets no command any more */
  char text[160];
} kw_queue_failure;

typedef struct kw_queue_driver {
  /* What the plugin says of itself: see kw_plugin_desc. */
  const char *key, *vendor, *version, *description;
  const char *build;     /* __VERSION__ */
  const char *sanitizer; /* KW_QUEUE_SANITIZER */

  uint32_t queues;       /* hardware queues of a device, 1 to KW_QUEUE_LIMIT */
  uint64_t staging_size; /* bytes of a staging block, of which a device has two; 0: 256 KiB */

  /* ---- Devices: see kw_plugin_desc and kw_device_api ---- */

  kw_status (*probe)(const char **out_reason); /* (optional: it is always there) */
  kw_status (*count)(const kw_host_api *host, uint32_t *out_count);
  kw_status (*describe)(const kw_host_api *host, uint32_t index, kw_device_info *out_info);
  kw_status (*open)(const kw_host_api *host, uint32_t index, void **out_chip);
  void (*close)(void *chip);
  kw_status (*register_kernels)(const kw_host_api *host); /* at init */

  /* ---- Memory ---- */

  /* Device memory; there is no other kind. KW_ERR_OUT_OF_MEMORY when there is not enough now. */
  kw_status (*alloc)(void *chip, uint64_t size, uint64_t alignment, kw_mem *out_mem);
  void (*dealloc)(void *chip, kw_mem mem);
  /* Host memory that the copy engine reaches. (optional, both: any) */
  void *(*staging_alloc)(void *chip, uint64_t size);
  void (*staging_free)(void *chip, void *staging);

  /* ---- Commands: a queue runs them in order ---- */

  /* Appends a command of the plugin's own. `ticket` is larger than that of every command before it on this queue.
   * KW_ERR_NOT_READY: the queue is full; the kit comes again. Other failures: the command's error, as a late one. */
  kw_status (*submit)(void *chip, uint32_t queue, uint64_t ticket, const void *command, size_t size);
  /* The same with a copy. */
  kw_status (*copy)(void *chip, uint32_t queue, uint64_t ticket, const kw_queue_copy *copy);
  /* The ticket of the newest command of the queue that has finished, well or not; 0 before the first. */
  uint64_t (*done)(void *chip, uint32_t queue);
  /* Gives the queue's next failure that it has not given before; false when there is none. What has failed counts as
   * finished, and the queue goes on: its failure is there as soon as `done` counts it. (optional: nothing fails late)
   */
  bool (*failure)(void *chip, uint32_t queue, kw_queue_failure *out_failure);
  /* Returns when something has finished since `done` was asked, or after timeout_ns. (optional: the kit looks every 50
   * microseconds while commands run) */
  void (*wait)(void *chip, uint64_t timeout_ns);
} kw_queue_driver;

/* kw_queue_driver.sanitizer of what is compiled here. */
#if defined(__SANITIZE_ADDRESS__)
#define KW_QUEUE_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define KW_QUEUE_SANITIZER "thread"
#else
#define KW_QUEUE_SANITIZER ""
#endif

/* The answer of keyway_plugin_query. The driver lives as long as the process. */
kw_status kw_queue_query(const kw_queue_driver *driver, const kw_query_info *host, const kw_plugin_desc **out_plugin,
                         const char **out_reason);

/* For a kernel's launch: enqueues a command, whose bytes are copied, on the call's stream. */
kw_status kw_queue_enqueue(const kw_call *call, const void *command, size_t size);
/* The chip of a call's device. */
void *kw_queue_chip(const kw_call *call);

/* Sets the error's text, printf's way; returns status. */
__attribute__((format(printf, 3, 4))) kw_status kw_queue_fail(const kw_host_api *host, kw_status status,
                                                              const char *format, ...);

#endif /* KEYWAY_QUEUE_H */
