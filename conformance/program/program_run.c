/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a program, packed and unpacked.
 */
#include "program/program_run.h"

#include <stdlib.h>
#include <string.h>

static void put(kw_message *message, const kw_program_bytes *bytes) {
  kw_message_put_u32(message, bytes->data != NULL);
  if (bytes->data) kw_message_put_bytes(message, bytes->data, bytes->size);
}

static kw_program_bytes get(kw_message *message) {
  kw_program_bytes bytes = {NULL, 0};
  if (kw_message_get_u32(message)) bytes.data = kw_message_get_bytes(message, &bytes.size);
  return bytes;
}

void kw_program_run_write(const kw_program_run *run, kw_message *message) {
  kw_message_put_string(message, run->id);
  kw_message_put_string(message, run->untried);
  kw_message_put_string(message, run->failure);
  kw_message_put_u32(message, run->refused);
  kw_message_put_f64(message, run->seconds);
  kw_message_put_u32(message, run->seen_count);
  for (uint32_t i = 0; i < run->seen_count; i++) {
    const kw_program_seen *seen = &run->seen[i];
    kw_message_put_u32(message, seen->act);
    kw_message_put_u32(message, seen->storage);
    put(message, &seen->free);
    put(message, &seen->waited);
  }
  kw_message_put_u32(message, run->judged_count);
  for (uint32_t i = 0; i < run->judged_count; i++) {
    const kw_program_judged *one = &run->judged[i];
    kw_message_put_u32(message, one->call);
    for (uint32_t t = 0; t < KW_CASE_TENSORS; t++) put(message, &one->inputs[t]);
    for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) {
      put(message, &one->free[r]);
      put(message, &one->waited[r]);
    }
  }
}

static void read_judged(kw_message *message, kw_program_judged *one) {
  one->call = kw_message_get_u32(message);
  for (uint32_t t = 0; t < KW_CASE_TENSORS; t++) one->inputs[t] = get(message);
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) {
    one->free[r] = get(message);
    one->waited[r] = get(message);
  }
}

bool kw_program_run_read(kw_message *message, kw_program_run *out) {
  memset(out, 0, sizeof *out);
  out->id = kw_message_get_string(message);
  out->untried = kw_message_get_string(message);
  out->failure = kw_message_get_string(message);
  out->refused = kw_message_get_u32(message);
  out->seconds = kw_message_get_f64(message);
  out->seen_count = kw_message_get_u32(message);
  bool good = !message->bad && out->seen_count <= KW_PROGRAM_ACTS + KW_PROGRAM_STORAGES;
  out->seen = good ? calloc(out->seen_count + 1u, sizeof *out->seen) : NULL;
  for (uint32_t i = 0; out->seen && i < out->seen_count; i++) {
    kw_program_seen *seen = &out->seen[i];
    seen->act = kw_message_get_u32(message);
    seen->storage = kw_message_get_u32(message);
    seen->free = get(message);
    seen->waited = get(message);
  }
  out->judged_count = kw_message_get_u32(message);
  good = good && !message->bad && out->judged_count <= KW_PROGRAM_CALLS;
  out->judged = good ? calloc(out->judged_count + 1u, sizeof *out->judged) : NULL;
  for (uint32_t i = 0; out->judged && i < out->judged_count; i++) read_judged(message, &out->judged[i]);
  if (out->seen && out->judged && !message->bad && message->at == message->length) return true;
  kw_program_run_free(out);
  return false;
}

void kw_program_run_free(kw_program_run *run) {
  free(run->seen);
  free(run->judged);
  run->seen = NULL;
  run->judged = NULL;
  run->seen_count = run->judged_count = 0;
}
