/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stream of the plugin's will ask for when it comes to it, by token: the application's functions, and the host
 * ends of copies in memory that the plugin's process does not have. A token is good once, and no other is.
 */
#ifndef KEYWAY_CORE_PENDING_H
#define KEYWAY_CORE_PENDING_H

#include "isolate/block.h"

struct kw_pending *kw_pending_make(void); /* NULL: no memory */
void kw_pending_free(struct kw_pending *pending);

/* A function of the application's; false: no memory. `drop` before it has run: whether it was there. */
bool kw_pending_add_function(struct kw_pending *pending, uint64_t token);
bool kw_pending_take_function(struct kw_pending *pending, uint64_t token);

/* A copy between `host` and the place in a block, into the block or out of it: its token; 0: no memory. */
uint64_t kw_pending_add_copy(struct kw_pending *pending, uint64_t stream, void *host, const kw_block_place *place,
                             uint64_t size, bool out_of_block);
/* Does it, after those of its stream that are under way; a block that the bytes come out of is free then.
 * KW_ERR_NOT_FOUND for a token that is none. */
kw_status kw_pending_copy(struct kw_pending *pending, uint64_t token);
/* Forgets it. */
void kw_pending_drop_copy(struct kw_pending *pending, uint64_t token);
/* The stream has it now. */
void kw_pending_enqueued(struct kw_pending *pending, uint64_t token);
/* How many copies were enqueued so far. Once a wait has said that the stream is past what it was given before, none of
 * its copies up to there may still come: the application's memory may be gone. A plugin that says so and has not asked
 * is cut off. */
uint64_t kw_pending_last(struct kw_pending *pending);
void kw_pending_end_copies(struct kw_pending *pending, uint64_t stream, uint64_t last);
/* Whether a copy that is still to come stores to some of these bytes. */
bool kw_pending_stores_to(struct kw_pending *pending, const void *bytes, uint64_t size);

/* No copy runs from here on, and none is running when this returns. */
void kw_pending_stop(struct kw_pending *pending);

#endif /* KEYWAY_CORE_PENDING_H */
