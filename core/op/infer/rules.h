/* SPDX-License-Identifier: Apache-2.0
 *
 * What single ops demand beyond the rules of dtypes and shapes.
 */
#ifndef KEYWAY_CORE_INFER_RULES_H
#define KEYWAY_CORE_INFER_RULES_H

#include "op/infer/common.h"

kw_status kw_infer_check_rules(const kw_op *op, const kw_value *args, kw_dtype key);

#endif /* KEYWAY_CORE_INFER_RULES_H */
