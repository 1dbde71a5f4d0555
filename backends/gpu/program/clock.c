/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's clock, which nobody sets.
 */
#include <keyway/gpu.h>

#include <time.h>

uint64_t kw_gpu_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
