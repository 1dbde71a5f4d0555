/* SPDX-License-Identifier: Apache-2.0
 *
 * Host callbacks of a stream, for runtimes that cannot let them block: a thread of the kit's runs them.
 */
#ifndef KEYWAY_GPU_KIT_CALLBACKS_H
#define KEYWAY_GPU_KIT_CALLBACKS_H

#include <keyway/gpu.h>

/* The thread that runs a stream's host callbacks, and those it has to run. */
typedef struct kw_gpu_callbacks kw_gpu_callbacks;

/* NULL when the host has no memory or thread for it. */
kw_gpu_callbacks *kw_gpu_callbacks_start(const kw_gpu_driver *driver, const kw_host_api *host);
/* Takes over the callback, which callback_hold has filled. Thread-safe. */
void kw_gpu_callbacks_push(kw_gpu_callbacks *callbacks, kw_gpu_callback *callback);
/* Runs what was pushed, then ends the thread. */
void kw_gpu_callbacks_finish(kw_gpu_callbacks *callbacks);

#endif /* KEYWAY_GPU_KIT_CALLBACKS_H */
