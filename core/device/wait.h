/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for streams: kw_stream_synchronize, kw_device_synchronize, and what waits in passing.
 */
#ifndef KEYWAY_CORE_WAIT_H
#define KEYWAY_CORE_WAIT_H

#include "device/stream.h"

/* Waits and returns no error: what fails stays on the stream as a late error. True: all that was enqueued before has
 * ended. False: the plugin's wait failed, or the device is lost, which is not waited for; enqueued work may still touch
 * memory. Not inside a callback. */
bool kw_stream_drain(kw_stream *stream);
/* The same for all streams of a device. */
void kw_stream_drain_all(kw_device *device);

/* kw_stream_synchronize on behalf of `function`. *out_passed, whatever the status: all that was enqueued before has
 * ended. */
kw_status kw_stream_wait(const char *function, kw_stream *stream, bool *out_passed);

#endif /* KEYWAY_CORE_WAIT_H */
