/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between host and device that a mutant makes by itself.
 */
#ifndef KEYWAY_MUTANT_COPY_H
#define KEYWAY_MUTANT_COPY_H

#include "mutant.h"

/* Copies of this kind, of 64 KiB and more, go by way of one buffer of the device, in pieces, whichever stream they are
 * on. */
void kw_mutant_copy_by_buffer(kw_mutant *mutant, kw_copy_kind kind);

/* Of a copy of this kind of more than 64 KiB the last page is left until its stream is waited for, or another copy
 * comes. */
void kw_mutant_leave_last_page(kw_mutant *mutant, kw_copy_kind kind);

#endif /* KEYWAY_MUTANT_COPY_H */
