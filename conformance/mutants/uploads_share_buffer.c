/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of 64 KiB and more from the host go by way of one buffer of the device, in pieces, whichever stream they are
 * on. Those of two streams at once overwrite each other's.
 */
#include "mutant_copy.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_copy_by_buffer(mutant, KW_COPY_HOST_TO_DEVICE);
}
