/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes of the normalisations of channels, and of the backwards of all normalisations.
 */
#ifndef KEYWAY_CORE_INFER_CHANNEL_H
#define KEYWAY_CORE_INFER_CHANNEL_H

#include "op/infer/common.h"

kw_status kw_infer_stats_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_dtype kw_infer_stats_dtype(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result);

#endif /* KEYWAY_CORE_INFER_CHANNEL_H */
