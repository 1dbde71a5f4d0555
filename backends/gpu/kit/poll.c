/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits that end, for runtimes whose own have no limit.
 */
#include <keyway/gpu.h>

#include <time.h>

kw_status kw_gpu_poll(kw_status (*query)(void *user), void *user, uint64_t timeout_ns) {
  const uint64_t longest = 1000000, begin = kw_gpu_now_ns();
  for (uint64_t pause = 10000;; pause = pause < longest / 2 ? pause * 2 : longest) {
    kw_status status = query(user);
    if (status != KW_ERR_NOT_READY) return status;
    const uint64_t passed = kw_gpu_now_ns() - begin;
    if (passed >= timeout_ns) return KW_ERR_TIMEOUT;
    const uint64_t left = timeout_ns - passed;
    nanosleep(&(struct timespec){.tv_nsec = (long)(left < pause ? left : pause)}, NULL);
  }
}
