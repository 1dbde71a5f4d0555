/* SPDX-License-Identifier: Apache-2.0
 *
 * Late errors: what went wrong after it was enqueued. Each belongs to a stream, whose own wait returns it; a wait for
 * the whole device returns it, too, and leaves it where it is.
 */
#ifndef KEYWAY_CORE_LATE_ERROR_H
#define KEYWAY_CORE_LATE_ERROR_H

#include "device/stream.h"

/* A late error from a plugin, any thread; finds the stream by token. call_id is resolved to the op with kw_call_id_op.
 * Unknown tokens are logged. */
kw_status kw_late_error_report(uint64_t token, uint64_t call_id, kw_status status, const char *message);

/* `text` is a late error of the stream, `status` as its plugin gave it, unless it has one already: then it goes to the
 * log. */
void kw_late_error_keep(kw_stream *stream, kw_status status, const char *text);

/* For the stream's own wait: its late error, which the stream has no more after that; that of a lost device each time.
 * KW_OK when there is none. */
kw_status kw_late_error_take(kw_stream *stream);

/* For a wait for the device: the stream's late error, which the stream keeps for its own wait, too; where such a wait
 * has returned that before, the first one since. */
kw_status kw_late_error_tell(kw_stream *stream);

/* A stream ends: a late error that no call has told goes to the log. */
void kw_late_error_log_untold(const kw_stream *stream);

/* Call ids carry the op: op id << KW_CALL_ID_BITS | running number; op 0 = unknown. Inline so that a launch costs
 * nothing. */
#define KW_CALL_ID_BITS 48
#define KW_CALL_ID_NUMBERS ((UINT64_C(1) << KW_CALL_ID_BITS) - 1)
static inline uint64_t kw_call_id_make(uint32_t op, uint64_t number) {
  return (uint64_t)op << KW_CALL_ID_BITS | (number & KW_CALL_ID_NUMBERS);
}
static inline uint32_t kw_call_id_op(uint64_t call_id) {
  return (uint32_t)(call_id >> KW_CALL_ID_BITS);
}

#endif /* KEYWAY_CORE_LATE_ERROR_H */
