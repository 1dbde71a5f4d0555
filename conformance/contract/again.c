/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite lifecycle: init after shutdown. Keyway starts a plugin once in a process, so here the plugin is the guest of a
 * small host of the test's own, in a process of its own.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"

#include <stdio.h>

int kw_child_init_again(void) {
  enum { ROUNDS = 6 };
  kw_guest g = kw_guest_load();
  uint32_t kernels = 0, ops = 0, devices = 0;
  int threads = 0;
  for (int round = 0; round < ROUNDS; round++) {
    char when[64];
    snprintf(when, sizeof when, "after %d rounds of init and shutdown", round);
    kw_host_api table = kw_guest_host_for(&g); /* good until shutdown has returned, and each time another */
    const char *reason = NULL;
    void *plugin = NULL;
    uint32_t count = 0;
    memset(&kw_guest_seen, 0, sizeof kw_guest_seen);
    KW_GUEST_OK(when, g.desc->probe(&reason));
    KW_GUEST_OK(when, g.desc->init(&table, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin));
    KW_GUEST_OK(when, g.device->count(plugin, &count));
    if (round == 0) kernels = kw_guest_seen.kernels, ops = kw_guest_seen.ops, devices = count;
    KW_CHECK(kw_guest_seen.kernels == kernels && kw_guest_seen.ops == ops && count == devices,
             "the first init offered %u kernels, %u ops and %u devices, init number %d %u, %u and %u", kernels, ops,
             devices, round + 1, kw_guest_seen.kernels, kw_guest_seen.ops, count);
    if (round != 1)
      kw_guest_use_device(&g, plugin, (uint64_t)round, when); /* once init and shutdown with nothing in between */
    KW_GUEST_OK(when, g.desc->shutdown(plugin));
    memset(&table, 0, sizeof table); /* who still calls it crashes */
    int now = kw_test_count_threads();
    if (round == 0) threads = now; /* with those of libraries that start once and stay */
    KW_CHECK(now < threads + ROUNDS / 2, "%d threads ran after one init and shutdown, %d after %d", threads, now,
             round + 1);
  }
  return 0;
}

/* After shutdown init starts the plugin anew: the same kernels, ops and devices, and they work; threads do not pile up,
 * and the host of before is not called any more. */
void kw_contract_lifecycle_init_again(void **state) {
  (void)state;
  kw_test_child("init_again");
}
