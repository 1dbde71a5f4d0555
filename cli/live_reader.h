/* SPDX-License-Identifier: Apache-2.0
 *
 * The processes that show themselves to `keyway top` (core/base/live_file.h).
 */
#ifndef KEYWAY_CLI_LIVE_READER_H
#define KEYWAY_CLI_LIVE_READER_H

#include "base/live_file.h"

typedef struct kw_live_process {
  int id;
  double age; /* seconds since it wrote */
  char program[64];
  uint32_t device_count;
  kw_live_device *devices;
} kw_live_process;

/* All that live, by their ids; *out_count of them. Files of processes that have ended are removed. */
kw_live_process *kw_live_read(uint32_t *out_count);
void kw_live_free(kw_live_process *processes, uint32_t count);

#endif /* KEYWAY_CLI_LIVE_READER_H */
