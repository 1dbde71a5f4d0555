/* SPDX-License-Identifier: Apache-2.0
 *
 * What the allocator knows of a graph that is being recorded: where its memory comes from, and which memory of others
 * it keeps. The rest of a recording is call/record.h's, which begins with this.
 */
#ifndef KEYWAY_CORE_RECORDING_H
#define KEYWAY_CORE_RECORDING_H

#include "device/pool.h"

typedef struct kw_recording {
  kw_pool pool;            /* its memory, for its calls only; pool.graph is the graph's id */
  struct kw_buffer **kept; /* that are not of the pool; one reference for each use */
  uint32_t kept_count;
  bool incomplete; /* no host memory to keep a buffer of the next node */
} kw_recording;

#endif /* KEYWAY_CORE_RECORDING_H */
