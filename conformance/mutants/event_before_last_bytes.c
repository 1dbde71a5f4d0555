/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a copy of more than 64 KiB to the host the last page is stored when its stream is waited for, or another copy
 * comes: an event passes before all of it is there.
 */
#include "mutant_copy.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_leave_last_page(mutant, KW_COPY_DEVICE_TO_HOST);
}
