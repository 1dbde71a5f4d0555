/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors of other shapes in the place of an argument.
 */
#ifndef KEYWAY_CONTRACT_ERROR_SHAPE_H
#define KEYWAY_CONTRACT_ERROR_SHAPE_H

#include "trial.h"

/* Shapes that are surely wrong are refused. */
void kw_trial_refuse_shapes(kw_trial *t, uint32_t index);

/* Many shapes, right or wrong as the op says: a wrong one is refused as everything is, and never with another status.
 */
void kw_trial_try_shapes(kw_trial *t, uint32_t index);

#endif /* KEYWAY_CONTRACT_ERROR_SHAPE_H */
