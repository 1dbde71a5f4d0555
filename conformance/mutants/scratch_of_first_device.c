/* SPDX-License-Identifier: Apache-2.0
 *
 * sum in f32 leaves its result in scratch memory that is made once for each thread, and the second device adds to what
 * the first one has left there. After surogate issue 165: a workspace was static and of the thread, and a thread that
 * changes the device between two launches got the one of the device before.
 */
#include "mutant_two.h"

static void element(const kw_mutant_element *e) {
  static _Thread_local float scratch;
  if (e->call->outs[0]->dtype != KW_F32) return;
  if (e->call->device == kw_mutant_device(1)) {
    *(float *)e->out += scratch;
  } else {
    scratch = *(float *)e->out;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->op = "sum";
  mutant->element = element;
}
