/* SPDX-License-Identifier: Apache-2.0
 *
 * A device for again_test: the cpu plugin with an abs that sleeps, spins or goes wrong in a way of its own per dtype.
 *
 *   f32  is wrong for one element once it has had seven, and is killed, as for want of memory, with more than 200,000
 *   i64  sleeps for ever with seven elements
 *   u8   computes for ever with seven elements
 *   i32  sleeps for ever with seven elements, the first time that any process comes there: whoever can remove the file
 *        that KEYWAY_TEST_ONCE names
 */
#include "mutant.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define SEVEN 7

static void sleep_for_ever(void) {
  for (;;) pause();
}

static void element(const kw_mutant_element *e) {
  static atomic_bool had_seven;
  const kw_tensor_ref *out = e->call->outs[0];
  const char *once = getenv("KEYWAY_TEST_ONCE");
  if (out->dtype == KW_F32 && out->numel == SEVEN) atomic_store(&had_seven, true);
  if (out->dtype == KW_F32 && out->numel == 1 && atomic_load(&had_seven)) *(float *)e->out = -1;
  if (out->dtype == KW_F32 && out->numel > 200000) raise(SIGKILL);
  if (out->numel != SEVEN) return;
  if (out->dtype == KW_I64) sleep_for_ever();
  if (out->dtype == KW_I32 && once && unlink(once) == 0) sleep_for_ever();
  while (out->dtype == KW_U8) atomic_signal_fence(memory_order_seq_cst);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "abs";
  mutant->element = element;
}
