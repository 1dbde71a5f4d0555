/* SPDX-License-Identifier: Apache-2.0
 *
 * The one form of a message that refuses a call's argument.
 */
#ifndef KEYWAY_CORE_OP_FAIL_H
#define KEYWAY_CORE_OP_FAIL_H

#include "op/op.h"

/* KW_ERR_INVALID_ARGUMENT, "op: argument 'name': ...", with the name of argument `index`. */
kw_status kw_op_fail(const kw_op *op, uint32_t index, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif /* KEYWAY_CORE_OP_FAIL_H */
