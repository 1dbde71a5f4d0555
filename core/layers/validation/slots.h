/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plugin's slots do that they must not, told while applications run on it: waits where none may be, the process
 * changed, results that are missing or cannot be.
 */
#ifndef KEYWAY_CORE_VALIDATION_SLOTS_H
#define KEYWAY_CORE_VALIDATION_SLOTS_H

#include "layers/layer.h"

/* Reads KEYWAY_VALIDATION_SLOW_MS. */
void kw_slot_checks_start(kw_layer *layer);
void kw_slot_checks_wrap(kw_slots *slots);
void kw_slot_checks_wrap_kernel(kw_kernel_desc *kernel);

#endif /* KEYWAY_CORE_VALIDATION_SLOTS_H */
