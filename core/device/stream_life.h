/* SPDX-License-Identifier: Apache-2.0
 *
 * Making and destroying streams.
 */
#ifndef KEYWAY_CORE_STREAM_LIFE_H
#define KEYWAY_CORE_STREAM_LIFE_H

#include "device/stream.h"

/* The default stream of a device being opened; destroyed by kw_stream_destroy_default at its close. */
kw_status kw_stream_create_default(kw_device *device);
void kw_stream_destroy_default(kw_device *device);

#endif /* KEYWAY_CORE_STREAM_LIFE_H */
