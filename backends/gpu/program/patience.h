/* SPDX-License-Identifier: Apache-2.0
 *
 * What somebody who waits is told: that a driver is compiling, once that lasts.
 */
#ifndef KEYWAY_GPU_PATIENCE_H
#define KEYWAY_GPU_PATIENCE_H

#include <keyway/gpu.h>

#define KW_GPU_PATIENCE_S 10 /* seconds until the host's log says so */

typedef struct kw_gpu_patience {
  const kw_host_api *host;
  const char *what; /* "unary/8" */
  unsigned seconds;
  pthread_mutex_t lock;
  pthread_cond_t over;
  pthread_t thread;
  bool has_thread, is_over; /* the latter under the lock */
} kw_gpu_patience;

/* Around what may last: `what` stays valid between both. Without memory for a thread nobody is told. */
void kw_gpu_patience_begin(kw_gpu_patience *patience, const kw_host_api *host, const char *what, unsigned seconds);
void kw_gpu_patience_end(kw_gpu_patience *patience);

#endif /* KEYWAY_GPU_PATIENCE_H */
