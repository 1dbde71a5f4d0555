/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies that a plugin's process asks for: each once, those of a stream one after the other, none once it is stopped.
 */
#include "isolate/pending.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 64, LOOKS = 20000 };

static unsigned char target[SIZE];

static uint64_t add(struct kw_pending *pending, uint64_t stream, void *from) {
  return kw_pending_add_copy(pending, stream, from, &(kw_block_place){.bytes = target}, SIZE, false);
}

static void a_copy_is_done_once(void **state) {
  (void)state;
  struct kw_pending *pending = kw_pending_make();
  unsigned char from[SIZE];
  memset(from, 1, SIZE);
  const uint64_t token = add(pending, 1, from), dropped = add(pending, 1, from), late = add(pending, 1, from);
  kw_pending_drop_copy(pending, dropped);
  assert_int_equal(kw_pending_copy(pending, dropped), KW_ERR_NOT_FOUND);
  assert_int_equal(kw_pending_copy(pending, token), KW_OK);
  assert_memory_equal(target, from, SIZE);
  assert_int_equal(kw_pending_copy(pending, token), KW_ERR_NOT_FOUND);
  kw_pending_stop(pending);
  assert_int_equal(kw_pending_copy(pending, late), KW_ERR_NOT_FOUND);
  kw_pending_free(pending);
}

/* ---- Two at once ------------------------------------------------------------------------------------------------- */

static unsigned char *guarded; /* a page that can be read once its protection is taken away */
static atomic_bool first_reads, second_done;

/* While the first copy is under way the second has time to overtake it. */
static void on_read(int signal) {
  (void)signal;
  atomic_store(&first_reads, true);
  for (int i = 0; i < LOOKS && !atomic_load(&second_done); i++) sched_yield();
  mprotect(guarded, (size_t)sysconf(_SC_PAGESIZE), PROT_READ);
}

typedef struct copier {
  struct kw_pending *pending;
  uint64_t token;
} copier;

static void *copy(void *user) {
  const copier *c = user;
  kw_pending_copy(c->pending, c->token);
  return NULL;
}

/* A process that asks for the second before the first is done: what the application has afterwards is the second. */
static void copies_of_a_stream_do_not_overtake_each_other(void **state) {
  (void)state;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  guarded = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(guarded != MAP_FAILED);
  memset(guarded, 1, SIZE);
  mprotect(guarded, page, PROT_NONE);
  struct sigaction before;
  sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_read}, &before);
  unsigned char second[SIZE];
  memset(second, 2, SIZE);
  struct kw_pending *pending = kw_pending_make();
  copier first = {pending, add(pending, 7, guarded)}, other = {pending, add(pending, 7, second)};
  pthread_t thread;
  pthread_create(&thread, NULL, copy, &first);
  while (!atomic_load(&first_reads)) sched_yield();
  copy(&other);
  atomic_store(&second_done, true);
  pthread_join(thread, NULL);
  assert_memory_equal(target, second, SIZE);
  sigaction(SIGSEGV, &before, NULL);
  kw_pending_free(pending);
  munmap(guarded, page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_is_done_once),
      cmocka_unit_test(copies_of_a_stream_do_not_overtake_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
