/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace's calls of ops: an event of the category "op" has the op's name, and the call in its arguments, as
 * "cat([f32[2], f32[2]]) on npu:0".
 */
#include "model_trace.h"
#include "base/need.h"
#include "trace_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The dtypes in a call's text: the words that a '[' follows. */
static uint64_t dtypes_of(const char *call) {
  uint64_t dtypes = 0;
  for (const char *at = strchr(call, '['); at; at = strchr(at + 1, '[')) {
    char word[16];
    const char *begin = at;
    while (begin > call && isalnum((unsigned char)begin[-1])) --begin;
    const size_t length = (size_t)(at - begin);
    if (length == 0 || length >= sizeof word) continue;
    memcpy(word, begin, length);
    word[length] = '\0';
    const kw_dtype dtype = kw_dtype_from_name(word);
    if (dtype != KW_DTYPE_NONE) dtypes |= UINT64_C(1) << dtype;
  }
  return dtypes;
}

static kw_model_op *find(const kw_model_ops *ops, const char *name) {
  for (uint32_t i = 0; i < ops->count; ++i)
    if (strcmp(ops->items[i].name, name) == 0) return &ops->items[i];
  return NULL;
}

static void take_event(const cJSON *event, kw_model_ops *ops) {
  const cJSON *category = cJSON_GetObjectItemCaseSensitive(event, "cat");
  const cJSON *name = cJSON_GetObjectItemCaseSensitive(event, "name");
  const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args"), *text;
  if (!cJSON_IsString(category) || !cJSON_IsString(name) || strcmp(category->valuestring, "op") != 0) return;
  kw_model_op *op = find(ops, name->valuestring);
  if (!op) {
    op = &ops->items[ops->count++];
    snprintf(op->name, sizeof op->name, "%s", name->valuestring);
  }
  cJSON_ArrayForEach(text, args) if (cJSON_IsString(text)) op->dtypes |= dtypes_of(text->valuestring);
}

bool kw_model_ops_read(const char *path, kw_model_ops *out_ops, char *message, size_t size) {
  cJSON *document;
  const cJSON *events = kw_trace_events_read(path, &document, message, size), *event;
  *out_ops = (kw_model_ops){0};
  if (events) {
    out_ops->items = calloc((size_t)cJSON_GetArraySize(events) + 1, sizeof *out_ops->items);
    if (!out_ops->items) kw_out_of_memory();
    cJSON_ArrayForEach(event, events) take_event(event, out_ops);
    if (out_ops->count == 0) snprintf(message, size, "%s is the trace of a run that called no op", path);
  }
  cJSON_Delete(document);
  if (out_ops->count > 0) return true;
  kw_model_ops_free(out_ops);
  return false;
}

void kw_model_ops_free(kw_model_ops *ops) {
  free(ops->items);
  *ops = (kw_model_ops){0};
}

uint64_t kw_model_op_dtypes(const kw_model_ops *ops, const char *name) {
  const kw_model_op *op = find(ops, name);
  return op ? op->dtypes : 0;
}
