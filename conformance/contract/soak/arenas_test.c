/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses that malloc has are nobody's growth; those that somebody maps are.
 */
#include "arenas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

enum { THREADS = 6, STACK = 1 << 17, LITTLE = 8 << 20 };
#define ARENA ((int64_t)KW_ARENA_SIZE)

static pthread_barrier_t all_in_malloc;

static void *allocate_main(void *unused) {
  (void)unused;
  void *volatile memory = malloc(1000); /* or the compiler leaves it out */
  pthread_barrier_wait(&all_in_malloc);
  free(memory);
  return NULL;
}

/* Threads that are in malloc at once, each of which gets an arena of its own where there are any. */
static void use_arenas(void) {
  pthread_t threads[THREADS];
  pthread_attr_t attributes; /* stacks are kept for later threads: small ones */
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_barrier_init(&all_in_malloc, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], &attributes, allocate_main, NULL), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&all_in_malloc);
  pthread_attr_destroy(&attributes);
}

/* Of this process, without malloc's. */
static int64_t addresses(void) {
  long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%lld", &pages), 1);
  fclose(file);
  const kw_malloc_addresses of_malloc = kw_malloc_addresses_now();
  return pages * sysconf(_SC_PAGESIZE) - of_malloc.arenas - of_malloc.heap;
}

static void arenas_are_no_growth(void **state) {
  (void)state;
  const int64_t before = addresses(), arenas = kw_malloc_addresses_now().arenas;
  use_arenas();
  const int64_t more = kw_malloc_addresses_now().arenas - arenas;
  assert_int_equal(more % ARENA, 0);
#ifdef __GLIBC__
  assert_true(more >= 2 * ARENA);
#endif
  assert_true(addresses() - before < LITTLE);
}

/* Of a driver, say, that has its device's memory of malloc, which puts what it gets back to other uses. */
static void the_heap_is_no_growth(void **state) {
  (void)state;
  const int64_t before = addresses(), heap = kw_malloc_addresses_now().heap;
  const bool grown = sbrk(2 * LITTLE) != (void *)-1 && kw_malloc_addresses_now().heap - heap >= 2 * LITTLE;
  if (!grown) skip(); /* emulators of other processors show and grow their program's memory in their own way */
  assert_true(addresses() - before < LITTLE);
}

static void mappings_are_growth(void **state) {
  (void)state;
  const int64_t before = addresses();
  void *reserved = mmap(NULL, KW_ARENA_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(reserved != MAP_FAILED);
  assert_true(addresses() - before >= ARENA);
  void *used = mmap(NULL, KW_ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(used != MAP_FAILED);
  assert_true(addresses() - before >= 2 * ARENA);
  munmap(used, KW_ARENA_SIZE);
  munmap(reserved, KW_ARENA_SIZE);
  assert_true(addresses() - before < ARENA);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arenas_are_no_growth), cmocka_unit_test(the_heap_is_no_growth),
                                     cmocka_unit_test(mappings_are_growth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
