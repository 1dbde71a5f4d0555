/* SPDX-License-Identifier: Apache-2.0
 *
 * The application's memory that copies read or write while they are under way. All under the objects' lock.
 */
#ifndef KEYWAY_CORE_VALIDATION_HOST_COPIES_H
#define KEYWAY_CORE_VALIDATION_HOST_COPIES_H

#include <stdbool.h>
#include <stdint.h>

/* Work number `count` of the stream in place `slot` (order.c) copies from host memory, or to it. */
void kw_host_copies_add(uint32_t slot, uint64_t count, const void *host, uint64_t size, bool reads_host);
/* The host has seen the work of each stream up to `seen`: what those copies have read has to be as it was. */
void kw_host_copies_passed(const uint64_t *seen);
/* Whether a copy that has not been waited for uses some of this memory. */
bool kw_host_copies_use(const void *memory, uint64_t size);

#endif /* KEYWAY_CORE_VALIDATION_HOST_COPIES_H */
