/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits, events and recordings: the order that they make, and who may do what while a stream records.
 */
#ifndef KEYWAY_CORE_VALIDATION_WAITS_H
#define KEYWAY_CORE_VALIDATION_WAITS_H

#include "layers/layer.h"

/* Puts these functions in place of those in *api, which they go on with. */
void kw_waits_wrap(kw_api *api);

#endif /* KEYWAY_CORE_VALIDATION_WAITS_H */
