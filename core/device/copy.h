/* SPDX-License-Identifier: Apache-2.0
 *
 * One contiguous copy by the plugin.
 */
#ifndef KEYWAY_CORE_COPY_H
#define KEYWAY_CORE_COPY_H

#include "device/stream.h"

/* Enqueues the copy on a stream of the device that makes it. */
kw_status kw_copy_enqueue(kw_stream *stream, const kw_copy_info *copy);

#endif /* KEYWAY_CORE_COPY_H */
