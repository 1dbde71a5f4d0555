/* SPDX-License-Identifier: Apache-2.0
 *
 * Metrics that only count: the same for every compute type.
 */
#ifndef KEYWAY_REFERENCE_METRIC_H
#define KEYWAY_REFERENCE_METRIC_H

#include "reference.h"

kw_status kw_metric_confusion(const kw_call *call); /* keyway::accumulate_confusion_ */

#endif /* KEYWAY_REFERENCE_METRIC_H */
