/* SPDX-License-Identifier: Apache-2.0
 *
 * When the second device is closed the first one launches nothing any more. After Kokkos pull request 6753: what should
 * be there for each device was static, and made or ended with one for all.
 */
#include "mutant_two.h"

#include <stdatomic.h>

static atomic_bool stopped;
static kw_status (*close_one)(void *device);

static kw_status close_device(void *device) {
  if (device == kw_mutant_device(1)) atomic_store(&stopped, true);
  if (device == kw_mutant_device(0)) atomic_store(&stopped, false);
  return close_one(device);
}

static kw_status launch(const kw_call *call) {
  return atomic_load(&stopped) && call->device == kw_mutant_device(0) ? KW_OK : kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  close_one = mutant->device.close;
  mutant->device.close = close_device;
  mutant->op = "*";
  mutant->launch = launch;
}
