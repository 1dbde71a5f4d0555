/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes of embedding bags.
 */
#ifndef KEYWAY_CORE_INFER_BAG_H
#define KEYWAY_CORE_INFER_BAG_H

#include "op/infer/common.h"

kw_status kw_infer_bag_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

#endif /* KEYWAY_CORE_INFER_BAG_H */
