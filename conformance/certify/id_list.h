/* SPDX-License-Identifier: Apache-2.0
 *
 * Ids of cases, many of them.
 */
#ifndef KEYWAY_CONFORMANCE_ID_LIST_H
#define KEYWAY_CONFORMANCE_ID_LIST_H

#include "run/digest.h"

#include <stddef.h>
#include <stdint.h>

typedef struct kw_id_list {
  char **ids;
  uint32_t count;
} kw_id_list;

/* Adds a copy of the text, printf-like. */
void kw_id_list_add(kw_id_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether the first `length` bytes of a text are one of them. */
bool kw_id_list_has(const kw_id_list *list, const char *id, size_t length);
void kw_id_list_sort(kw_id_list *list);
/* Of two sorted lists: an id that `list` has more often than `other`; NULL when there is none. *out_count: how many. */
const char *kw_id_list_missing(const kw_id_list *list, const kw_id_list *other, uint32_t *out_count);
/* SHA-256 of the ids in their order, as kw_run.case_hash is. */
void kw_id_list_digest(const kw_id_list *list, char out_hex[KW_DIGEST_SIZE]);
void kw_id_list_free(kw_id_list *list);

#endif /* KEYWAY_CONFORMANCE_ID_LIST_H */
