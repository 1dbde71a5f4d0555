/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a file of entries about cases.
 */
#include "run/entry_list.h"

#include "base/need.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t line_at(const char *text, const char *at) {
  uint32_t line = 1;
  for (; text < at; text++) line += *text == '\n';
  return line;
}

/* Where element number `index` of a valid JSON array begins, if it is an object. */
static const char *find_entry(const char *text, uint32_t index) {
  int depth = 0;
  bool quoted = false;
  for (const char *p = text; *p; p++) {
    if (quoted && *p == '\\') {
      p++;
    } else if (quoted) {
      quoted = *p != '"';
    } else if (*p == '"') {
      quoted = true;
    } else if (*p == '{' || *p == '[') {
      if (depth++ == 1 && index-- == 0) return p;
    } else if (*p == '}' || *p == ']') {
      depth--;
    }
  }
  return text;
}

/* '"case", "by" and "reason"' */
static void print_keys(const kw_entry_field *fields, uint32_t count, char *text, size_t size) {
  size_t used = 0;
  *text = 0;
  for (uint32_t f = 0; f < count && used < size; f++) {
    const char *before = f == 0 ? "" : f + 1 == count ? " and " : ", ";
    used += (size_t)snprintf(text + used, size - used, "%s\"%s\"", before, fields[f].key);
  }
}

/* Takes the texts of an entry; false: what is wrong with it. */
static bool read_entry(const cJSON *item, const kw_entry_field *fields, uint32_t count, char **texts, char *wrong,
                       size_t size) {
  char keys[160];
  print_keys(fields, count, keys, sizeof keys);
  if (!cJSON_IsObject(item)) {
    snprintf(wrong, size, "an entry is an object with the members %s", keys);
    return false;
  }
  for (uint32_t f = 0; f < count; f++) {
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(item, fields[f].key);
    if (!cJSON_IsString(member) || !*member->valuestring) {
      snprintf(wrong, size, "this entry has no \"%s\": %s", fields[f].key, fields[f].what);
      return false;
    }
    texts[f] = kw_text_clean(member->valuestring);
  }
  if ((uint32_t)cJSON_GetArraySize(item) == count) return true;
  snprintf(wrong, size, "this entry has members other than %s", keys);
  return false;
}

static bool read_entries(const char *path, const char *text, const kw_entry_field *fields, kw_entry_list *list,
                         char *message, size_t size) {
  const char *end = text;
  char wrong[512] = "";
  cJSON *root = cJSON_ParseWithOpts(text, &end, true);
  if (!root) snprintf(wrong, sizeof wrong, "this is no JSON");
  if (root && !cJSON_IsArray(root)) snprintf(wrong, sizeof wrong, "the file is not a list of entries: [...]");
  uint32_t line = line_at(text, root ? text : end);
  if (!*wrong) {
    const size_t entries = (size_t)cJSON_GetArraySize(root) + 1;
    list->texts = calloc(entries * list->field_count, sizeof *list->texts);
    list->lines = calloc(entries, sizeof *list->lines);
    if (!list->texts || !list->lines) kw_out_of_memory();
    const cJSON *item;
    cJSON_ArrayForEach(item, root) {
      char **texts = &list->texts[list->count * list->field_count];
      line = list->lines[list->count] = line_at(text, find_entry(text, list->count));
      list->count++;
      if (!read_entry(item, fields, list->field_count, texts, wrong, sizeof wrong)) break;
    }
  }
  cJSON_Delete(root);
  if (*wrong) snprintf(message, size, "%s:%u: %s", path, line, wrong);
  return !*wrong;
}

bool kw_entry_list_read(const char *path, const kw_entry_field *fields, uint32_t field_count, kw_entry_list *out_list,
                        char *out_message, size_t size) {
  *out_list = (kw_entry_list){.field_count = field_count};
  char *text;
  if (!kw_text_read_file(path, &text)) {
    snprintf(out_message, size, "%s cannot be read: %s", path, strerror(errno));
    return false;
  }
  bool good = read_entries(path, text, fields, out_list, out_message, size);
  free(text);
  if (!good) kw_entry_list_free(out_list);
  return good;
}

const char *kw_entry_list_text(const kw_entry_list *list, uint32_t entry, uint32_t field) {
  return list->texts[entry * list->field_count + field];
}

void kw_entry_list_free(kw_entry_list *list) {
  for (uint32_t i = 0; i < list->count * list->field_count; i++) free(list->texts[i]);
  free(list->texts);
  free(list->lines);
  *list = (kw_entry_list){0};
}

bool kw_entry_matches(const char *pattern, const char *id) {
  return strcmp(pattern, id) == 0 || fnmatch(pattern, id, 0) == 0;
}
