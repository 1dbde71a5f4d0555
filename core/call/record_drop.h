/* SPDX-License-Identifier: Apache-2.0
 *
 * Giving up what a record holds.
 */
#ifndef KEYWAY_CORE_RECORD_DROP_H
#define KEYWAY_CORE_RECORD_DROP_H

#include "call/record.h"

/* Drops the nodes from number `count` on: of a call that failed. */
void kw_record_rewind(kw_record *record, uint32_t count);
/* Gives back all that the record has; the record itself is the caller's. No stream runs it. */
void kw_record_free(kw_record *record);

#endif /* KEYWAY_CORE_RECORD_DROP_H */
