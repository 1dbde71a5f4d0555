/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments that a call changes: those marked (a!), tensors or lists of them, results or not.
 */
#ifndef KEYWAY_CORE_CHANGE_H
#define KEYWAY_CORE_CHANGE_H

#include "call/plan.h"

/* Whether all arguments that the op changes without returning them (kw_op.changed) are without elements. Arguments are
 * normalised, here and below. */
bool kw_mutated_args_are_empty(const kw_op *op, const kw_value *args);

/* KW_ERR_INVALID_ARGUMENT for an argument marked (a!) that overlaps itself or lies in read-only memory. */
kw_status kw_mutated_args_check_each(const kw_op *op, const kw_value *args);

/* KW_ERR_INVALID_ARGUMENT for an argument among kw_op.changed that shares memory with another tensor of the call; an
 * argument that is only read may be the same tensor, but where either is of a list. outs: all results, NULL where one
 * is absent. Looks at each tensor once, however many there are. */
kw_status kw_mutated_args_check_overlap(const kw_plan *plan, const kw_request *request, kw_tensor *const *outs);

#endif /* KEYWAY_CORE_CHANGE_H */
