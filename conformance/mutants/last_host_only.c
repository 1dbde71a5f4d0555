/* SPDX-License-Identifier: Apache-2.0
 *
 * Init keeps the host in a variable of the library's, so that of two hosts in one process only the last one is called.
 */
#include "mutant.h"

void kw_mutant_change(kw_mutant *mutant) {
  mutant->takes_many_hosts = true; /* as the wrapper keeps it */
}
