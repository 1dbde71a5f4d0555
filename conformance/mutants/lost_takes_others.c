/* SPDX-License-Identifier: Apache-2.0
 *
 * When one device is lost launches on the plugin's other devices are lost, too: what says so is there once for all.
 */
#include "mutant_fault.h"
#include "mutant_two.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.loses_all = true});
}
