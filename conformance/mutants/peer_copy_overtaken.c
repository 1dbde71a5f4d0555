/* SPDX-License-Identifier: Apache-2.0
 *
 * Nothing that is enqueued behind a copy from the other device waits for it, host functions and events no more than
 * kernels. After llama.cpp pull request 21846: copies between GPUs without direct access went by the host, and the
 * destination read what was there before.
 */
#include "mutant_order.h"
#include "mutant_two.h"

static bool is_between_devices(const kw_mutant_command *command) {
  return command->src_device != NULL;
}

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  (void)held;
  return next->command->kind == KW_MUTANT_LAUNCH;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {
      .overlooks = overlooks, .holds = is_between_devices, .record_passes = true, .callback_passes = true};
  kw_mutant_two_devices(mutant);
  kw_mutant_change_order(mutant, &order);
}
