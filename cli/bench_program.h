/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of several calls that `keyway bench` measures, by name.
 */
#ifndef KEYWAY_CLI_BENCH_PROGRAM_H
#define KEYWAY_CLI_BENCH_PROGRAM_H

#include <keyway/keyway.h>

#include <stdbool.h>

typedef struct kw_bench_program kw_bench_program;

/* Whether there is a program of this name; models are none: the peer `bridge` runs them on the device. */
bool kw_bench_program_is_known(const char *name);
kw_status kw_bench_program_make(kw_device *device, const char *name, int64_t size, kw_bench_program **out_program);
kw_status kw_bench_program_run(kw_bench_program *program);
void kw_bench_program_release(kw_bench_program *program);

/* A program: what it keeps between its runs is made once. */
typedef struct kw_bench_steps {
  kw_status (*make)(kw_device *device, int64_t size, void **out_state);
  kw_status (*run)(void *state);
  void (*release)(void *state);
} kw_bench_steps;

extern const kw_bench_steps kw_bench_kmeans, kw_bench_chain, kw_bench_chain_graph;

#endif /* KEYWAY_CLI_BENCH_PROGRAM_H */
