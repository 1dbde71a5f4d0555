/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of events: where and when each was last recorded.
 */
#ifndef KEYWAY_MUTANT_EVENT_H
#define KEYWAY_MUTANT_EVENT_H

#include "mutant.h"

/* Watches event.record and event.destroy; call it before replacing slots of the group. */
void kw_mutant_watch_events(kw_mutant *mutant);

/* The stream on which the event was last recorded; NULL: on none. */
void *kw_mutant_event_stream(const void *event);
/* When that was called: nanoseconds. */
uint64_t kw_mutant_event_time(const void *event);
/* Whether this was asked before since the event was recorded. */
bool kw_mutant_event_waited(const void *event);

#endif /* KEYWAY_MUTANT_EVENT_H */
