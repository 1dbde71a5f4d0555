/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends and beginnings of objects where types alone do not tell: what is given back, references, objects that come by
 * arrays or are lent, host memory, maps and addresses.
 */
#ifndef KEYWAY_CORE_VALIDATION_LIVES_H
#define KEYWAY_CORE_VALIDATION_LIVES_H

#include "layers/layer.h"

/* Puts these functions in place of those in *api, which they go on with. */
void kw_lives_wrap(kw_api *api);

#endif /* KEYWAY_CORE_VALIDATION_LIVES_H */
