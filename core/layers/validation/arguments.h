/* SPDX-License-Identifier: Apache-2.0
 *
 * Every public function with its arguments looked at by their types: handles have to live and be of their kind, what is
 * given back is remembered, pointers to results are there, structs say their size.
 */
#ifndef KEYWAY_CORE_VALIDATION_ARGUMENTS_H
#define KEYWAY_CORE_VALIDATION_ARGUMENTS_H

#include "layers/layer.h"

/* Puts the checks in front of what *api has by then. Calls that the library refuses itself go to what is below the
 * layer.
 */
void kw_arguments_wrap(kw_api *api, const kw_api *below);

#endif /* KEYWAY_CORE_VALIDATION_ARGUMENTS_H */
