/* SPDX-License-Identifier: Apache-2.0
 *
 * That there is no memory is told as an internal error: nobody frees caches and tries again. After open62541 pull
 * request 1157 and OCF issue 317, where a shortage came out under another code.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.alloc_internal = true});
}
