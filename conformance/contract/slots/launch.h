/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches for tests that call slots directly: one call of one of the plugin's kernels, drawn by the run's seed.
 */
#ifndef KEYWAY_CONTRACT_SLOTS_LAUNCH_H
#define KEYWAY_CONTRACT_SLOTS_LAUNCH_H

#include "bench.h"

typedef struct kw_launch kw_launch;

/* A call of a pointwise op whose kernel gives the same bits every time. It was run once, and what came out is what is
 * expected from then on. NULL: the plugin has none, or none that takes a call which this suite can make. */
kw_launch *kw_launch_draw(void);
void kw_launch_free(kw_launch *launch);
/* The same where slots may fail: each is handed to `given` with its status. */
void kw_launch_end(kw_launch *launch, void (*given)(const char *slot, kw_status status));
/* "add.Tensor" */
const char *kw_launch_op(const kw_launch *launch);

/* Whether a graph of the plugin's own may record it (KW_KERNEL_CAPTURABLE). */
bool kw_launch_is_recordable(const kw_launch *launch);
/* The bytes of a result. */
const unsigned char *kw_launch_want(const kw_launch *launch, uint64_t *out_size);

/* Memory for a result, in which nothing is right yet. */
kw_mem kw_launch_result(const kw_launch *launch);
/* Launches into it, on any thread. All that the call consists of is overwritten when the slot has returned. */
kw_status kw_launch_try(const kw_launch *launch, void *stream, kw_mem result, uint64_t call_id);
/* The same, which has to be KW_OK. */
void kw_launch_run(const kw_launch *launch, void *stream, kw_mem result, uint64_t call_id);
/* Reads the result on a stream that is idle, and says of it whether it is right: "what" is what has been launched. */
void kw_launch_expect(const kw_launch *launch, void *stream, kw_mem result, const char *what);
bool kw_launch_is_right(const kw_launch *launch, void *stream, kw_mem result);

#endif /* KEYWAY_CONTRACT_SLOTS_LAUNCH_H */
