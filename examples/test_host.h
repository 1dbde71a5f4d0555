/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest host that a plugin can be tested with: its services write down what they were told.
 */
#ifndef KEYWAY_EXAMPLES_TEST_HOST_H
#define KEYWAY_EXAMPLES_TEST_HOST_H

#include <pthread.h>
#include <semaphore.h>

#include <keyway/plugin.h>

#define MAX_KERNELS 32

typedef struct test_host_seen {
  kw_kernel_desc kernels[MAX_KERNELS];
  uint32_t kernel_count;
  kw_op_desc op;
  char error[256];     /* of the last set_error */
  uint64_t late_token; /* of the last report_async_error, as the next two */
  uint64_t late_call_id;
  kw_status late_status;
  sem_t gate;    /* what callback GATED waits for */
  sem_t entered; /* posted when a callback starts */
  pthread_t callback_thread;
} test_host_seen;

extern test_host_seen seen;

/* Callback tokens: GATED waits for seen.gate, any other returns at once. */
enum { CALLBACK_GATED = 1 };

/* The op that this host has never heard of; NULL: it knows all. */
extern const char *test_host_unknown_op;

extern const kw_host_api test_host;

#endif /* KEYWAY_EXAMPLES_TEST_HOST_H */
