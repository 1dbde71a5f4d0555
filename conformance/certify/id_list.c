/* SPDX-License-Identifier: Apache-2.0
 *
 * Ids of cases: collected, sorted and held against each other.
 */
#include "certify/id_list.h"

#include "base/need.h"
#include "core/base/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kw_id_list_add(kw_id_list *list, const char *format, ...) {
  char **ids = kw_array_grow(list->ids, list->count, sizeof *ids);
  if (!ids) kw_out_of_memory();
  list->ids = ids;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&ids[list->count], format, arguments) < 0) kw_out_of_memory();
  va_end(arguments);
  list->count++;
}

bool kw_id_list_has(const kw_id_list *list, const char *id, size_t length) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (strlen(list->ids[i]) == length && memcmp(list->ids[i], id, length) == 0) return true;
  }
  return false;
}

static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

void kw_id_list_sort(kw_id_list *list) {
  if (list->count > 0) qsort(list->ids, list->count, sizeof *list->ids, compare);
}

const char *kw_id_list_missing(const kw_id_list *list, const kw_id_list *other, uint32_t *out_count) {
  const char *first = NULL;
  *out_count = 0;
  for (uint32_t i = 0, o = 0; i < list->count; i++) {
    while (o < other->count && strcmp(other->ids[o], list->ids[i]) < 0) o++;
    if (o < other->count && strcmp(other->ids[o], list->ids[i]) == 0) {
      o++;
      continue;
    }
    if (!first) first = list->ids[i];
    ++*out_count;
  }
  return first;
}

void kw_id_list_digest(const kw_id_list *list, char out_hex[KW_DIGEST_SIZE]) {
  kw_digest digest;
  kw_digest_begin(&digest);
  for (uint32_t i = 0; i < list->count; i++) kw_digest_add(&digest, list->ids[i]);
  kw_digest_end(&digest, out_hex);
}

void kw_id_list_free(kw_id_list *list) {
  for (uint32_t i = 0; i < list->count; i++) free(list->ids[i]);
  free(list->ids);
  *list = (kw_id_list){0};
}
