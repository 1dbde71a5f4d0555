/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process holds, as the system, the C library and the device's plugin count it.
 */
#ifndef KEYWAY_CONTRACT_SOAK_RESOURCES_H
#define KEYWAY_CONTRACT_SOAK_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they are told of: what says most about the object that stays comes first. */
typedef enum kw_resource {
  KW_RESOURCE_DESCRIPTORS, /* open files */
  KW_RESOURCE_THREADS,
  KW_RESOURCE_MAPPINGS,  /* ranges of addresses */
  KW_RESOURCE_DEVICE,    /* bytes of the device's memory that are not free (kw_memory_get_usage) */
  KW_RESOURCE_HEAP,      /* bytes that malloc has given and not got back */
  KW_RESOURCE_RESIDENT,  /* bytes in memory, whoever allocated them */
  KW_RESOURCE_ADDRESSES, /* bytes of addresses, whether or not there is memory behind them, but for malloc's arenas */
  KW_RESOURCE_COUNT
} kw_resource;

/* Per resource: how much of it; -1 where nobody tells. */
typedef struct kw_resources {
  int64_t held[KW_RESOURCE_COUNT];
} kw_resources;

/* Once the device, where there is one, has done all that it was given and gave back what the library caches. Where more
 * threads run than `before` (may be NULL) had, it waits for those that are about to end. */
void kw_resources_take(const kw_resources *before, kw_resources *out);

/* Whether memory says anything here: sanitizers keep what is freed. */
bool kw_resource_memory_tells(void);
/* Bytes of the heap alone. */
int64_t kw_resource_heap(void);

/* "descriptors", "bytes of the heap": for texts. */
const char *kw_resource_name(kw_resource resource);
/* Whether it is counted in bytes. */
bool kw_resource_is_memory(kw_resource resource);
/* What kind of thing the highest descriptor is: "/dev/null", "/memfd", "socket"; "" where that is not known. */
void kw_resource_last_descriptor(char *out_text, size_t size);

#endif /* KEYWAY_CONTRACT_SOAK_RESOURCES_H */
