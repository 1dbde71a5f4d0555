/* SPDX-License-Identifier: Apache-2.0
 *
 * From a call to a kernel: plans and their caches.
 */
#ifndef KEYWAY_CORE_DISPATCH_H
#define KEYWAY_CORE_DISPATCH_H

#include "op/op.h"
#include "tensor/tensor.h"

struct kw_plan_table;

/* A device's cache of plans. destroy releases all prepared state; the device has no work in flight then. */
kw_status kw_plan_table_create(kw_device *device);
void kw_plan_table_destroy(kw_device *device);

#endif /* KEYWAY_CORE_DISPATCH_H */
