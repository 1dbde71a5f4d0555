/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the result rules, as abi/result_rules.def names them; each is in the file of its family.
 */
#ifndef KEYWAY_CORE_OP_INFER_RESULT_RULES_H
#define KEYWAY_CORE_OP_INFER_RESULT_RULES_H

#include "op/op.h"

/* Finds the key dtype and checks that the op is defined for it. KW_ERR_INVALID_ARGUMENT names the argument to blame. */
typedef kw_status kw_infer_key_fn(const kw_op *op, const kw_value *args, kw_dtype *out_key);
/* The dtype of a result, once the key dtype is known. */
typedef kw_dtype kw_infer_dtype_fn(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result);

#define KW_RESULT_RULE(name, key, dtype, casts, text) \
  kw_infer_key_fn kw_infer_key_##key;                 \
  kw_infer_dtype_fn kw_infer_dtype_##dtype;
#include "result_rules.def"

#endif /* KEYWAY_CORE_OP_INFER_RESULT_RULES_H */
