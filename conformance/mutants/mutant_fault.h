/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults on demand (keyway.test/1) over the cpu plugin, for mutants that bring them about wrongly. Launches of
 * add.Tensor count, no others'.
 */
#ifndef KEYWAY_MUTANT_FAULT_H
#define KEYWAY_MUTANT_FAULT_H

#include "mutant.h"

/* One defect each. */
typedef struct kw_mutant_faults {
  bool stays;      /* what fails once fails from then on */
  bool off_by_one; /* the launch after the n-th fails */
  bool lets_go;    /* work that is to be held goes on */
  bool lost_stays; /* a device that is lost is not closed, and so not opened again */
} kw_mutant_faults;

void kw_mutant_fault_group(kw_mutant *mutant, kw_mutant_faults defects);

#endif /* KEYWAY_MUTANT_FAULT_H */
