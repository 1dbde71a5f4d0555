/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for streams: kw_stream_synchronize, kw_device_synchronize, and what waits in passing.
 */
#ifndef KEYWAY_CORE_WAIT_H
#define KEYWAY_CORE_WAIT_H

#include "device/stream.h"

/* Waits, for timeout_ns at most. KW_OK: all that was enqueued before has ended. KW_ERR_TIMEOUT: not in time; the
 * calling thread's error names the stream and what it was given last, and the stream is as it was. Otherwise the
 * plugin's wait failed, which stays on the stream as a late error, or the device is lost, which is not waited for. But
 * for KW_OK enqueued work may still touch memory. Not inside a callback. */
kw_status kw_stream_drain_for(kw_stream *stream, uint64_t timeout_ns);
/* The same with the device's limit, as whatever waits in passing does. */
kw_status kw_stream_drain(kw_stream *stream);
/* The same for all streams of a device, together. KW_ERR_TIMEOUT when one has not ended, otherwise KW_OK. */
kw_status kw_stream_drain_all(kw_device *device);
/* kw_stream_drain on behalf of `function`, which may not wait inside a callback; what else the wait says stays with the
 * stream. KW_OK: what was enqueued before has ended, and the device is not lost. */
kw_status kw_stream_let_pass(const char *function, kw_stream *stream);
/* What `later` gets from now on runs after what `first`, of the same device, has now: by an event of the plugin's, or,
 * where it has none, by letting it pass. */
kw_status kw_stream_follow(const char *function, kw_stream *later, kw_stream *first);

/* kw_stream_synchronize_for on behalf of `function`. *out_passed, whatever the status: all that was enqueued before has
 * ended. */
kw_status kw_stream_wait_for(const char *function, kw_stream *stream, uint64_t timeout_ns, bool *out_passed);
/* The same with the device's limit. */
kw_status kw_stream_wait(const char *function, kw_stream *stream, bool *out_passed);

/* What is left at this moment of a limit that began at begin_ns (kw_trace_now). */
uint64_t kw_wait_left(uint64_t begin_ns, uint64_t timeout_ns);
/* The error of a wait that has ended at its limit: `what`, then which stream has not finished and what it was given
 * last. KW_ERR_TIMEOUT. */
kw_status kw_wait_timed_out(kw_stream *stream, uint64_t timeout_ns, const char *what);

#endif /* KEYWAY_CORE_WAIT_H */
