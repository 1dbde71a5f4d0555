/* SPDX-License-Identifier: Apache-2.0
 *
 * What a worker is doing, in memory that it shares with the coordinator.
 */
#include "base/worker_note.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static kw_worker_note unread;
static kw_worker_note *own = &unread;

static kw_worker_note *map(int fd) {
  void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void kw_worker_note_open(int fd) {
  kw_worker_note *shared = map(fd);
  if (shared) own = shared;
  close(fd);
}

void kw_worker_note_set(kw_worker_state state, const char *text) {
  snprintf(own->text, sizeof own->text, "%s", text);
  atomic_store(&own->state, (unsigned)state);
  atomic_fetch_add(&own->count, 1);
}

void kw_worker_note_step(void) {
  atomic_fetch_add(&own->steps, 1);
}

void kw_worker_note_begin(void) {
  const off_t end = lseek(STDERR_FILENO, 0, SEEK_END);
  atomic_store(&own->said, end > 0 ? (unsigned long long)end : 0);
}

const char *kw_worker_note_text(void) {
  return own->text;
}

kw_worker_note *kw_worker_note_make(int *out_fd) {
  *out_fd = memfd_create("note", MFD_CLOEXEC);
  kw_worker_note *note = *out_fd >= 0 && ftruncate(*out_fd, sizeof *note) == 0 ? map(*out_fd) : NULL;
  if (note || *out_fd < 0) return note;
  close(*out_fd);
  *out_fd = -1;
  return NULL;
}

void kw_worker_note_unmap(kw_worker_note *note) {
  if (note) munmap(note, sizeof *note);
}

kw_worker_state kw_worker_note_read(const kw_worker_note *note, char *out_text, size_t size) {
  if (size) out_text[0] = 0;
  if (!note) return KW_WORKER_IDLE;
  unsigned state = atomic_load(&note->state);
  size_t length = strnlen(note->text, sizeof note->text);
  if (size) snprintf(out_text, size, "%.*s", (int)length, note->text);
  return state <= KW_WORKER_WAITS ? (kw_worker_state)state : KW_WORKER_IDLE;
}

unsigned long long kw_worker_note_said(const kw_worker_note *note) {
  return note ? atomic_load(&note->said) : 0;
}

unsigned kw_worker_note_count(const kw_worker_note *note) {
  return note ? atomic_load(&note->count) : 0;
}

unsigned kw_worker_note_steps(const kw_worker_note *note) {
  return note ? atomic_load(&note->steps) : 0;
}
