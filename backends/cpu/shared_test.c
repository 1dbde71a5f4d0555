/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory by descriptors and bytes that come from elsewhere: any bytes give the memory meant or none, and what
 * could take its pages away is not mapped.
 */
#include "shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 10000 };

static const char *reason;

static unsigned count_descriptors(void) {
  unsigned count = 0;
  DIR *all = opendir("/proc/self/fd");
  while (readdir(all) != NULL) ++count;
  closedir(all);
  return count;
}

static kw_cpu_block *new_block(void) {
  kw_cpu_block *block = kw_cpu_shared_create(SIZE, true);
  assert_non_null(block);
  assert_int_equal(block->size, SIZE);
  memset(block + 1, 0x5a, SIZE);
  return block;
}

/* Finds the memory that is meant, or none. */
static bool finds(const uint8_t bytes[KW_IPC_SIZE]) {
  const int file = kw_cpu_shared_find(bytes, &reason);
  if (file < 0) {
    assert_non_null(reason);
    return false;
  }
  const char *memory = kw_cpu_shared_map(file, 0, SIZE, true, &reason);
  assert_non_null(memory);
  for (int i = 0; i < SIZE; i++) assert_int_equal(memory[i], 0x5a);
  kw_cpu_shared_unmap((void *)memory, SIZE);
  close(file);
  return true;
}

static void changed_bytes_find_nothing_else(void **state) {
  (void)state;
  uint8_t bytes[KW_IPC_SIZE], changed[KW_IPC_SIZE];
  kw_cpu_block *block = new_block();
  kw_cpu_shared_name(block, bytes);
  const unsigned descriptors = count_descriptors();
  assert_true(finds(bytes));
  for (size_t i = 0; i < sizeof bytes; i++) {
    for (int value = 0; value < 256; value++) {
      memcpy(changed, bytes, sizeof bytes);
      changed[i] = (uint8_t)value;
      const bool same = changed[i] == bytes[i], place = i < 8; /* process and descriptor: there may be another */
      if (!place || same) assert_int_equal(finds(changed), same);
      if (place && !same) finds(changed);
    }
    memcpy(changed, bytes, sizeof bytes);
    memset(changed + i, 0, sizeof changed - i);
    if (memcmp(changed, bytes, sizeof bytes) != 0) assert_false(finds(changed));
    memset(changed, 0xff, sizeof changed);
    memcpy(changed, bytes, i);
    assert_false(finds(changed));
  }
  kw_cpu_shared_destroy(block);
  assert_false(finds(bytes)); /* freed */
  assert_int_equal(count_descriptors(), descriptors - 1);
}

/* Bytes that name a descriptor of another kind: it is not even opened. */
static void other_descriptors_are_not_found(void **state) {
  (void)state;
  uint8_t bytes[KW_IPC_SIZE];
  int ends[2];
  kw_cpu_block *block = new_block();
  assert_int_equal(pipe(ends), 0);
  const uint32_t others[] = {(uint32_t)ends[0], (uint32_t)ends[1], 0, 1, 2};
  kw_cpu_shared_name(block, bytes);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    memcpy(bytes + 4, &others[i], sizeof others[i]);
    assert_false(finds(bytes));
  }
  close(ends[0]);
  close(ends[1]);
  kw_cpu_shared_destroy(block);
}

static void refuses(int file, uint64_t offset, uint64_t size, bool read_only, const char *why) {
  assert_null(kw_cpu_shared_map(file, offset, size, read_only, &reason));
  assert_non_null(strstr(reason, why));
}

static void only_what_stays_is_mapped(void **state) {
  (void)state;
  kw_cpu_block *block = new_block();
  const int file = block->file, open_ended = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  const int reader = open(path, O_RDONLY | O_CLOEXEC);
  assert_int_equal(ftruncate(open_ended, SIZE), 0);
  refuses(open_ended, 0, SIZE, false, "sealed");
  refuses(zero, 0, SIZE, false, "sealed");
  refuses(-1, 0, SIZE, false, "sealed");
  refuses(file, 0, SIZE + 1, false, "past its end");
  refuses(file, SIZE, 1, false, "past its end");
  refuses(file, 1, UINT64_MAX, false, "past its end");
  refuses(file, UINT64_MAX, 1, false, "past its end");
  refuses(reader, 0, SIZE, false, "for reading only");
  char *memory = kw_cpu_shared_map(reader, 4099, 1000, true, &reason);
  assert_non_null(memory);
  ((char *)(block + 1))[4099] = 7;
  assert_int_equal(memory[0], 7);
  kw_cpu_shared_unmap(memory, 1000);
  assert_int_equal(ftruncate(file, SIZE / 2), -1); /* nobody can */
  assert_int_equal(ftruncate(file, 2 * SIZE), -1);
  close(reader);
  close(zero);
  close(open_ended);
  kw_cpu_shared_destroy(block);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changed_bytes_find_nothing_else),
      cmocka_unit_test(other_descriptors_are_not_found),
      cmocka_unit_test(only_what_stays_is_mapped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
