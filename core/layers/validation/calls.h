/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of ops and the transfers of tensors: their values looked at before, and who uses which memory told after.
 */
#ifndef KEYWAY_CORE_VALIDATION_CALLS_H
#define KEYWAY_CORE_VALIDATION_CALLS_H

#include "layers/layer.h"

/* Puts these functions in place of those in *api, which they go on with. */
void kw_calls_wrap(kw_api *api);

#endif /* KEYWAY_CORE_VALIDATION_CALLS_H */
