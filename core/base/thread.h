/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of the library's own, on which plugins' code and the application's may run, and what they wait for.
 */
#ifndef KEYWAY_CORE_THREAD_H
#define KEYWAY_CORE_THREAD_H

#include <pthread.h>

/* Starts a thread that nobody joins, that takes no signals (those are for the application's threads) and whose stack is
 * the process's usual one, of KW_THREAD_STACK bytes at least. `name` is what debuggers show, 15 bytes at most; NULL:
 * the program's. 0, or pthread_create's error. */
int kw_thread_start(void *(*body)(void *user), void *user, const char *name);
/* The same, of a thread that is joined. */
int kw_thread_start_joined(pthread_t *out_thread, void *(*body)(void *user), void *user, const char *name);

/* A condition whose timed waits end by CLOCK_MONOTONIC, which kw_trace_now() tells. */
void kw_condition_init(pthread_cond_t *condition);

#endif /* KEYWAY_CORE_THREAD_H */
