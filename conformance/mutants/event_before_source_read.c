/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a copy of more than 64 KiB from the host the last page is read when its stream is waited for, or another copy
 * comes: an event passes while the host's memory is still in use.
 */
#include "mutant_copy.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_leave_last_page(mutant, KW_COPY_HOST_TO_DEVICE);
}
