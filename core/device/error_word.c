/* SPDX-License-Identifier: Apache-2.0
 *
 * What a word says: the op that the application called << 20 | the op whose kernel found the error << 8 | the number of
 * that op's argument.
 */
#include "device/error_word.h"

#include "base/error.h"
#include "base/thread.h"
#include "base/trace.h"
#include "device/host_memory.h"
#include "device/late_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARG_BITS 8
#define WORD_SIZE 4 /* bytes */

/* A graph's word that a stream has to look at. Holds a reference. */
typedef struct kw_word_use {
  kw_error_word *word;
  struct kw_word_use *next;
} kw_word_use;

/* ---- One word ---------------------------------------------------------------------------------------------------- */

static kw_status enqueue(kw_stream *stream, const kw_copy_info *copy) {
  kw_device *device = stream->device;
  const uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, memory.copy, device->handle, stream->handle, copy);
  kw_trace_stream_span("copy", "error word", device->name, begin, stream->token, 0);
  return status;
}

static kw_status clear(kw_error_word *word, kw_stream *stream) {
  static const uint32_t zero = 0;
  kw_device *device = word->device;
  const kw_copy_info copy = {.struct_size = sizeof copy,
                             .kind = KW_COPY_HOST_TO_DEVICE,
                             .dst_mem = word->mem,
                             .src_host = &zero,
                             .size = WORD_SIZE};
  kw_status status = enqueue(stream, &copy);
  if (status == KW_OK) return KW_OK;
  return kw_device_mark_if_lost(device,
                                kw_from_plugin(status, "clearing the error word of a stream of %s", device->name));
}

static kw_status allocate(kw_device *device, kw_mem *out_mem) {
  const kw_alloc_info info = {
      .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = WORD_SIZE, .alignment = device->info.mem_alignment};
  kw_mem mem = NULL;
  kw_status status = KW_ASK(device->slots, memory.alloc, device->handle, &info, &mem);
  if (status == KW_OK && mem == NULL) status = KW_ERR_INTERNAL;
  if (status != KW_OK) {
    return kw_device_mark_if_lost(device, kw_from_plugin(status, "allocating an error word on %s", device->name));
  }
  *out_mem = mem;
  return KW_OK;
}

kw_status kw_error_word_create(kw_stream *stream, kw_error_word **out_word) {
  kw_device *device = stream->device;
  kw_error_word *word = calloc(1, sizeof *word);
  if (!word) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for an error word of %s", device->name);
  word->device = device;
  atomic_init(&word->refs, 1);
  kw_status status = allocate(device, &word->mem);
  if (status != KW_OK) {
    free(word);
    return status;
  }
  status = clear(word, stream);
  if (status == KW_OK) {
    *out_word = word;
  } else {
    kw_error_word_unref(word);
  }
  return status;
}

void kw_error_word_unref(kw_error_word *word) {
  if (!word || atomic_fetch_sub(&word->refs, 1) != 1) return;
  kw_error_word_unref(atomic_load(&word->duplicates));
  KW_ASK(word->device->slots, memory.dealloc, word->device->handle, word->mem);
  free(word);
}

/* ---- What it says ------------------------------------------------------------------------------------------------ */

uint32_t kw_error_word_code(const kw_op *called, const kw_op *op) {
  return called->id << (KW_OP_ID_BITS + ARG_BITS) | op->id << ARG_BITS;
}

static kw_status explain(const kw_device *device, uint32_t value, char *text, size_t size) {
  const kw_op *called = kw_op_by_id(value >> (KW_OP_ID_BITS + ARG_BITS));
  const kw_op *op = kw_op_by_id(value >> ARG_BITS & ((1u << KW_OP_ID_BITS) - 1));
  const uint32_t arg = value & ((1u << ARG_BITS) - 1);
  if (!called || !op || arg >= op->schema.arg_count) {
    snprintf(text, size,
             "a kernel of %s left 0x%08x in its error word, which names no op's argument: a plugin's defect",
             device->name, value);
    return KW_ERR_INTERNAL;
  }
  snprintf(text, size,
           "%s%s%s: argument '%s': %s is out of range (found while running on %s)\n"
           "What that %s stands for in the result is unspecified; the stream is usable. Check the %s first.",
           called->schema.name, called == op ? "" : ", by ", called == op ? "" : op->schema.name,
           op->schema.args[arg].name, op->generator < 0 ? "an index" : "a weight", device->name,
           op->generator < 0 ? "index" : "row", op->generator < 0 ? "indices" : "weights");
  return KW_ERR_INVALID_ARGUMENT;
}

/* ---- A stream's words -------------------------------------------------------------------------------------------- */

/* Who is second to make the own word keeps it for the end: the stream may still be about to clear it. */
static void keep_duplicate(kw_error_word *own, kw_error_word *duplicate) {
  kw_error_word *head = atomic_load(&own->duplicates);
  do {
    atomic_store(&duplicate->duplicates, head);
  } while (!atomic_compare_exchange_weak(&own->duplicates, &head, duplicate));
}

kw_status kw_error_words_own(kw_stream *stream, kw_error_word **out_word) {
  kw_error_word *own = atomic_load(&stream->words.own);
  if (!own) {
    kw_error_word *made;
    kw_status status = kw_error_word_create(stream, &made);
    if (status != KW_OK) return status;
    if (atomic_compare_exchange_strong(&stream->words.own, &own, made)) {
      own = made;
    } else {
      keep_duplicate(own, made);
    }
  }
  *out_word = own;
  return KW_OK;
}

void kw_error_words_use_own(kw_stream *stream) {
  atomic_bool *used = &stream->words.own_used;
  if (!atomic_load(used)) atomic_store(used, true);
}

static void free_uses(kw_word_use *use) {
  while (use) {
    kw_word_use *next = use->next;
    kw_error_word_unref(use->word);
    free(use);
    use = next;
  }
}

kw_status kw_word_use_create(kw_error_word *word, kw_word_use **out_use) {
  kw_word_use *use = malloc(sizeof *use);
  if (!use) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory to note the use of an error word");
  atomic_fetch_add(&word->refs, 1);
  *use = (kw_word_use){.word = word};
  *out_use = use;
  return KW_OK;
}

void kw_error_words_use(kw_stream *stream, kw_word_use *use) {
  pthread_mutex_lock(&stream->mutex);
  const kw_word_use *known = stream->words.others;
  while (known && known->word != use->word) known = known->next;
  if (!known) {
    use->next = stream->words.others;
    stream->words.others = use;
  }
  pthread_mutex_unlock(&stream->mutex);
  if (known) free_uses(use);
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Out of the thread's hand: what was not looked at, its own word or `uses`, is in use still. */
static void end(kw_stream *stream, kw_word_check *check, bool own, kw_word_use *uses) {
  kw_error_words *words = &stream->words;
  pthread_mutex_lock(&stream->mutex);
  if (own) atomic_store(&words->own_used, true);
  if (uses) {
    kw_word_use *last = uses;
    while (last->next) last = last->next;
    last->next = words->others;
    words->others = uses;
  }
  if (own || uses) ++words->given_back, ++check->given_back;
  kw_word_check **link = &words->checks;
  while (*link != check) link = &(*link)->next;
  *link = check->next;
  pthread_cond_broadcast(&words->ended);
  pthread_mutex_unlock(&stream->mutex);
}

static kw_status fetch(kw_error_word *word, kw_stream *stream, uint32_t *out_value) {
  kw_device *device = word->device;
  const kw_copy_info copy = {.struct_size = sizeof copy,
                             .kind = KW_COPY_DEVICE_TO_HOST,
                             .dst_host = out_value,
                             .src_mem = word->mem,
                             .size = WORD_SIZE};
  return kw_device_mark_if_lost(device, enqueue(stream, &copy));
}

bool kw_error_words_used(kw_stream *stream) {
  pthread_mutex_lock(&stream->mutex);
  const bool used = stream->words.others != NULL || atomic_load(&stream->words.own_used);
  pthread_mutex_unlock(&stream->mutex);
  return used;
}

/* The words in use, in hand from the moment that they are not noted as such any more. */
static void take(kw_stream *stream, kw_word_check *check) {
  kw_error_words *words = &stream->words;
  pthread_mutex_lock(&stream->mutex);
  const bool own = atomic_load(&stream->words.own_used) && atomic_exchange(&stream->words.own_used, false);
  *check = (kw_word_check){.own = own, .count = own, .uses = words->others, .given_back = words->given_back};
  words->others = NULL;
  for (const kw_word_use *use = check->uses; use; use = use->next) ++check->count;
  if (check->count > 0) {
    ++words->begun;
    check->next = words->checks;
    words->checks = check;
  }
  check->number = words->begun;
  pthread_mutex_unlock(&stream->mutex);
}

void kw_error_words_begin_check(kw_stream *stream, kw_word_check *out_check) {
  kw_word_check *check = out_check;
  take(stream, check);
  if (check->count == 0) return;

  check->memory = kw_host_memory_take(check->count * sizeof *check->entries);
  if (!check->memory) { /* at the next wait, then */
    end(stream, check, check->own, check->uses);
    check->count = 0;
    return;
  }
  check->entries = memset(check->memory->bytes, 0, check->count * sizeof *check->entries);
  struct kw_word_entry *entry = check->entries;
  if (check->own) entry++->word = atomic_load(&stream->words.own);
  for (const kw_word_use *use = check->uses; use; use = use->next) entry++->word = use->word;
  for (uint32_t i = 0; i < check->count; ++i) {
    if (fetch(check->entries[i].word, stream, &check->entries[i].value) != KW_OK) check->incomplete = true;
  }
}

void kw_error_words_end_check(kw_stream *stream, kw_word_check *check, bool waited) {
  if (check->count == 0) return;
  if (!waited || check->incomplete) { /* the next wait looks again; the copies may still come */
    kw_host_memory_give(stream, check->memory, waited);
    end(stream, check, check->own, check->uses);
    return;
  }
  kw_device *device = stream->device;
  bool clears = false;
  for (uint32_t i = 0; i < check->count; ++i) {
    const uint32_t value = check->entries[i].value;
    if (value == 0) continue;
    char text[1024];
    kw_status status = explain(device, value, text, sizeof text);
    kw_late_error_keep(stream, status, text);
    clear(check->entries[i].word, stream);
    clears = true;
  }
  /* A graph's word may come to its end here, and the plugin must not free what a stream still writes to. */
  kw_status status = KW_OK;
  if (clears && check->uses)
    status = KW_ASK(device->slots, stream.synchronize, device->handle, stream->handle, kw_wait_limit(device));
  kw_word_use *held = kw_device_mark_if_lost(device, status) == KW_ERR_TIMEOUT ? check->uses : NULL;
  if (!held) free_uses(check->uses);
  kw_host_memory_give(stream, check->memory, true);
  end(stream, check, false, held);
}

static bool has_older(const kw_word_check *checks, uint64_t number) {
  while (checks && checks->number > number) checks = checks->next;
  return checks != NULL;
}

/* Under the stream's mutex. False: one of them has not ended in time. */
static bool wait_for_older(kw_stream *stream, uint64_t number, uint64_t timeout_ns) {
  kw_error_words *words = &stream->words;
  const uint64_t end_ns = kw_trace_now() + (timeout_ns < INT64_MAX ? timeout_ns : INT64_MAX);
  const struct timespec until = {(time_t)(end_ns / 1000000000), (long)(end_ns % 1000000000)};
  int error = 0;
  while (error == 0 && has_older(words->checks, number)) {
    error = timeout_ns == KW_WAIT_FOREVER ? pthread_cond_wait(&words->ended, &stream->mutex)
                                          : pthread_cond_timedwait(&words->ended, &stream->mutex, &until);
  }
  return !has_older(words->checks, number);
}

bool kw_error_words_let_end(kw_stream *stream, const kw_word_check *check, uint64_t timeout_ns, bool *out_again) {
  kw_error_words *words = &stream->words;
  pthread_mutex_lock(&stream->mutex);
  bool late = has_older(words->checks, check->number);
  if (late) late = !wait_for_older(stream, check->number, timeout_ns);
  *out_again = words->given_back != check->given_back;
  pthread_mutex_unlock(&stream->mutex);
  return !late;
}

void kw_error_words_init(kw_stream *stream) {
  kw_condition_init(&stream->words.ended);
}

void kw_error_words_free(kw_stream *stream) {
  free_uses(stream->words.others);
  kw_error_word_unref(atomic_load(&stream->words.own));
  pthread_cond_destroy(&stream->words.ended);
}
