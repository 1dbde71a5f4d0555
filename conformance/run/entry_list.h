/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that a person writes about cases: JSON, a list of objects whose members are texts, all of them there.
 */
#ifndef KEYWAY_CONFORMANCE_ENTRY_LIST_H
#define KEYWAY_CONFORMANCE_ENTRY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kw_entry_field {
  const char *key;
  const char *what; /* "say why the case is known to fail" */
} kw_entry_field;

typedef struct kw_entry_list {
  uint32_t count, field_count;
  char **texts;    /* field_count of each entry, clean, never empty */
  uint32_t *lines; /* of the file, from 1 */
} kw_entry_list;

/* Reads a file whose objects have these members and no others. False: *out_message is "FILE:LINE: what is wrong"; out
 * is zeroed then. */
bool kw_entry_list_read(const char *path, const kw_entry_field *fields, uint32_t field_count, kw_entry_list *out_list,
                        char *out_message, size_t size);
const char *kw_entry_list_text(const kw_entry_list *list, uint32_t entry, uint32_t field);
void kw_entry_list_free(kw_entry_list *list);

/* Whether the text, an id or a glob, is about the case. */
bool kw_entry_matches(const char *pattern, const char *id);

#endif /* KEYWAY_CONFORMANCE_ENTRY_LIST_H */
