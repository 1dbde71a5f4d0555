/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams held up by the host: everything enqueued behind a hold, and whatever waits for that, stays until it is
 * opened.
 */
#ifndef KEYWAY_CONFORMANCE_HOLD_H
#define KEYWAY_CONFORMANCE_HOLD_H

#include <keyway/keyway.h>

typedef struct kw_hold kw_hold;

/* Enqueues a host function that waits for kw_hold_open. Where it runs on the calling thread, it holds nothing. Once
 * holds had to open of themselves too often none is enqueued any more, and *out_hold is left alone. */
kw_status kw_hold_close(kw_stream *stream, kw_hold **out_hold);
/* Whether the stream is held still, unless it runs host functions on the thread that enqueues them. */
bool kw_hold_is_shut(kw_hold *hold);
/* Tells of a step of those who close and open holds: a call on a held stream that has come back, for one. */
void kw_hold_step(void);
/* Once for each; it is freed when the stream has passed, too. NULL is ignored. */
void kw_hold_open(kw_hold *hold);

#endif /* KEYWAY_CONFORMANCE_HOLD_H */
