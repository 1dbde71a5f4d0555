/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole buffers are kept, so that views that overlap stay what they are.
 */
#include "replay_cut.h"

#include "base/need.h"
#include "interrupt.h"

#include <stdio.h>
#include <stdlib.h>

static kw_capture_place whole(uint64_t number, uint64_t size) {
  return (kw_capture_place){
      .buffer = number, .dtype = KW_U8, .rank = 1, .shape = {(int64_t)size}, .strides = {1}, .size = size};
}

static void keep(kw_replay_cut *cut, kw_replay_side *side, uint64_t number) {
  for (size_t i = 0; i < cut->count; ++i)
    if (cut->kept[i].number == number) return;
  if (number >= side->limit || !side->buffers[number].tensor) return;
  kw_replay_kept kept = {.number = number, .size = side->buffers[number].size};
  kept.data = calloc(1, kept.size > 0 ? (size_t)kept.size : 1);
  cut->kept = realloc(cut->kept, (cut->count + 1) * sizeof *cut->kept);
  if (!kept.data || !cut->kept) kw_out_of_memory();
  const kw_capture_place place = whole(number, kept.size);
  if (kw_replay_side_read(side, &place, kept.data) != KW_OK) kw_error_clear(); /* zeros: the call will say why */
  cut->kept[cut->count++] = kept;
}

void kw_replay_cut_begin(kw_replay_cut *cut, kw_replay_side *side, const kw_capture_call *call, bool alone) {
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    const kw_capture_value *value = &call->args[i];
    if (value->value.tag == KW_TAG_TENSOR) keep(cut, side, value->places->buffer);
    for (uint32_t k = 0; value->value.tag == KW_TAG_TENSOR_LIST && k < value->value.count; ++k)
      if (value->present[k]) keep(cut, side, value->places[k].buffer);
  }
  for (uint32_t i = 0; i < call->out_count; ++i) {
    const kw_capture_out *out = &call->outs[i];
    if (out->how == KW_CAPTURE_OUT_GIVEN || (alone && out->how == KW_CAPTURE_OUT_MADE))
      keep(cut, side, out->place.buffer);
  }
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Appends a record, and frees its payload. */
static void put(kw_bytes *file, kw_capture_type type, kw_bytes *payload, const void *data, size_t size) {
  kw_capture_record(file, type, payload->size + size);
  kw_bytes_put(file, payload->data, payload->size);
  kw_bytes_put(file, data, size);
  file->failed |= payload->failed;
  kw_bytes_free(payload);
}

static void put_place(kw_bytes *out, const kw_capture_place *place) {
  kw_tensor_ref ref = {.dtype = place->dtype, .rank = (uint8_t)place->rank};
  memcpy(ref.shape, place->shape, sizeof ref.shape);
  memcpy(ref.strides, place->strides, sizeof ref.strides);
  kw_capture_view(out, place->buffer, place->offset, &ref);
}

static void put_kept(kw_bytes *file, const kw_replay_kept *kept, const char *device) {
  kw_bytes buffer = {0}, write = {0};
  kw_capture_u64(&buffer, kept->number);
  kw_capture_u64(&buffer, kept->size);
  kw_capture_text(&buffer, device);
  put(file, KW_CAPTURE_BUFFER, &buffer, NULL, 0);
  const kw_capture_place place = whole(kept->number, kept->size);
  put_place(&write, &place);
  put(file, KW_CAPTURE_WRITE, &write, kept->data, (size_t)kept->size);
}

/* The call as it stands in the file, but recorded by no graph. */
static void put_call(kw_bytes *file, const kw_capture_entry *entry) {
  const size_t recording = KW_CAPTURE_HEADER + 8 + strlen(entry->call.op) + strlen(entry->call.kernel);
  char *copy = kw_bytes_extend(file, entry->record_size);
  if (!copy) return;
  memcpy(copy, entry->record, entry->record_size);
  memset(copy + recording, 0, sizeof entry->call.recording);
}

/* What an application would have read. */
static void put_result(kw_bytes *file, kw_replay_side *side, uint64_t number, const kw_capture_place *place) {
  if (!kw_replay_side_holds(side, place)) return; /* a view that is wider than its memory: no result */
  void *data = malloc(place->size > 0 ? (size_t)place->size : 1);
  kw_bytes read = {0}, result = {0};
  if (!data) kw_out_of_memory();
  if (kw_replay_side_read(side, place, data) == KW_OK) {
    kw_capture_u64(&read, number);
    put_place(&read, place);
    put(file, KW_CAPTURE_READ, &read, NULL, 0);
    kw_capture_u64(&result, number);
    put(file, KW_CAPTURE_RESULT, &result, data, (size_t)place->size);
  }
  free(data);
}

/* Under another name first. */
static bool save(const kw_bytes *file, const char *path) {
  char *part = malloc(strlen(path) + sizeof ".part");
  if (!part) kw_out_of_memory();
  sprintf(part, "%s.part", path);
  kw_cli_interrupt_file(part);
  FILE *out = fopen(part, "wbe");
  bool good = out && fwrite(file->data, 1, file->size, out) == file->size;
  if (out) good = fclose(out) == 0 && good;
  good = good && rename(part, path) == 0;
  if (out && !good) remove(part);
  kw_cli_interrupt_file(NULL);
  free(part);
  return good;
}

uint64_t kw_replay_cut_write(const kw_replay_cut *cut, kw_replay_side *side, const kw_capture_entry *entry,
                             const char *path) {
  kw_bytes file = {0}, end = {0};
  kw_capture_header(&file);
  for (size_t i = 0; i < cut->count; ++i) put_kept(&file, &cut->kept[i], kw_device_name(side->device));
  put_call(&file, entry);
  uint64_t number = 1;
  for (uint32_t i = 0; i < entry->call.out_count; ++i)
    if (entry->call.outs[i].how != KW_CAPTURE_OUT_NONE) put_result(&file, side, number++, &entry->call.outs[i].place);
  for (uint32_t i = 0; i < entry->call.arg_count; ++i) { /* those that it may have changed */
    const kw_capture_value *value = &entry->call.args[i];
    if (value->value.tag == KW_TAG_TENSOR) put_result(&file, side, number++, value->places);
  }
  kw_capture_u32(&end, 0);
  put(&file, KW_CAPTURE_END, &end, NULL, 0);
  const uint64_t size = !file.failed && save(&file, path) ? file.size : 0;
  kw_bytes_free(&file);
  return size;
}

void kw_replay_cut_free(kw_replay_cut *cut) {
  for (size_t i = 0; i < cut->count; ++i) free(cut->kept[i].data);
  free(cut->kept);
  *cut = (kw_replay_cut){0};
}
