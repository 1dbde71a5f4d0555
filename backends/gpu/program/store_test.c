/* SPDX-License-Identifier: Apache-2.0
 *
 * The store under damage, foreign files, races of writers and directories that cannot be used.
 */
#include "program/store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64];
static const char *const sources[] = {"a", "bc"};
static const char payload[] = "a compiled module";

static kw_gpu_store_key key_of(const char *identity) {
  kw_gpu_store_key key;
  kw_gpu_store_key_make(&key, identity, sources, 2);
  return key;
}

static char *file_of(const kw_gpu_store_key *key) {
  static char path[160];
  int length = snprintf(path, sizeof path, "%s/deep/er/", directory);
  for (int i = 0; i < 32; ++i) length += snprintf(path + length, 3, "%02x", key->digest[i]);
  return path;
}

static int make_directory(void **state) {
  (void)state;
  char variable[96];
  strcpy(directory, "/tmp/store_test_XXXXXX");
  if (!mkdtemp(directory)) return -1;
  snprintf(variable, sizeof variable, "%s/deep/er", directory);
  return setenv("KEYWAY_MODULE_CACHE", variable, 1);
}

static int remove_directory(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  return system(command);
}

/* What is read under the key: the payload's size, or 0 for nothing. Anything else that is read is a failure. */
static size_t read_back(const kw_gpu_store_key *key) {
  void *bytes = NULL;
  size_t size = 0;
  if (!kw_gpu_store_read(key, &bytes, &size)) return 0;
  assert_int_equal(size, sizeof payload);
  assert_memory_equal(bytes, payload, sizeof payload);
  free(bytes);
  return size;
}

static void what_is_kept_comes_back(void **state) {
  (void)state;
  kw_gpu_store_key key = key_of("one"), other = key_of("another");
  assert_int_equal(read_back(&key), 0);
  kw_gpu_store_write(&key, payload, sizeof payload);
  assert_int_equal(read_back(&key), sizeof payload);
  assert_int_equal(read_back(&other), 0);
}

static void a_key_tells_its_parts_apart(void **state) {
  (void)state;
  const char *const cut_elsewhere[] = {"ab", "c"};
  kw_gpu_store_key key = key_of("one"), other;
  kw_gpu_store_key_make(&other, "one", cut_elsewhere, 2);
  assert_memory_not_equal(&key, &other, sizeof key);
  kw_gpu_store_key_make(&other, "one", sources, 1);
  assert_memory_not_equal(&key, &other, sizeof key);
}

/* The file's bytes; it stays as it is. */
static size_t slurp(const char *path, char *bytes, size_t size) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t count = fread(bytes, 1, size, file);
  fclose(file);
  return count;
}

static void spill(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void damaged_files_are_not_there(void **state) {
  (void)state;
  kw_gpu_store_key key = key_of("damaged");
  char whole[512], changed[512];
  kw_gpu_store_write(&key, payload, sizeof payload);
  char *path = file_of(&key);
  size_t size = slurp(path, whole, sizeof whole);
  assert_true(size > sizeof payload && size < sizeof whole);
  for (size_t cut = 0; cut < size; ++cut) {
    spill(path, whole, cut);
    assert_int_equal(read_back(&key), 0);
  }
  for (size_t bit = 0; bit < 8 * size; ++bit) {
    memcpy(changed, whole, size);
    changed[bit / 8] = (char)(changed[bit / 8] ^ 1 << bit % 8);
    spill(path, changed, size);
    assert_int_equal(read_back(&key), 0);
  }
  memcpy(changed, whole, size);
  changed[size] = 0;
  spill(path, changed, size + 1);
  assert_int_equal(read_back(&key), 0);
  kw_gpu_store_write(&key, payload, sizeof payload); /* mended by the next that is built */
  assert_int_equal(read_back(&key), sizeof payload);
}

static void foreign_files_are_not_there(void **state) {
  (void)state;
  kw_gpu_store_key key = key_of("mine"), other = key_of("theirs");
  char theirs[160];
  kw_gpu_store_write(&other, payload, sizeof payload);
  strcpy(theirs, file_of(&other));
  assert_int_equal(rename(theirs, file_of(&key)), 0);
  assert_int_equal(read_back(&key), 0);
  kw_gpu_store_write(&key, payload, sizeof payload);
  assert_int_equal(chmod(file_of(&key), 0666), 0); /* any user may have written it */
  assert_int_equal(read_back(&key), 0);
  assert_int_equal(unlink(file_of(&key)), 0);
  assert_int_equal(mkfifo(file_of(&key), 0600), 0);
  assert_int_equal(read_back(&key), 0);
}

static void without_a_place_nothing_is_kept(void **state) {
  (void)state;
  kw_gpu_store_key key = key_of("nowhere");
  char variable[96];
  snprintf(variable, sizeof variable, "%s", getenv("KEYWAY_MODULE_CACHE"));
  const char *const places[] = {"off", "/proc/nothing/here", "/dev/null"};
  for (int i = 0; i < 3; ++i) {
    setenv("KEYWAY_MODULE_CACHE", places[i], 1);
    kw_gpu_store_write(&key, payload, sizeof payload);
    assert_int_equal(read_back(&key), 0);
  }
  setenv("KEYWAY_MODULE_CACHE", variable, 1);
  assert_int_equal(read_back(&key), 0);
}

/* Beside this program, as beside a plugin. */
static void what_came_with_the_plugin_is_read(void **state) {
  (void)state;
  kw_gpu_store_key key = key_of("shipped"), other = key_of("not shipped");
  char cache[96], shipped[600], file[700];
  if (program_invocation_name[0] != '/') skip(); /* the loader knows no more of where this program is */
  snprintf(cache, sizeof cache, "%s", getenv("KEYWAY_MODULE_CACHE"));
  snprintf(shipped, sizeof shipped, "%s.modules", program_invocation_name);
  setenv("KEYWAY_MODULE_CACHE", shipped, 1);
  kw_gpu_store_write(&key, payload, sizeof payload);
  snprintf(file, sizeof file, "%s%s", shipped, strrchr(file_of(&key), '/'));
  setenv("KEYWAY_MODULE_CACHE", cache, 1);
  assert_int_equal(read_back(&key), sizeof payload);
  assert_int_equal(read_back(&other), 0);
  setenv("KEYWAY_MODULE_CACHE", "off", 1);
  assert_int_equal(read_back(&key), 0);
  setenv("KEYWAY_MODULE_CACHE", cache, 1);
  assert_int_equal(chmod(file, 0644), 0); /* for all users of an installed plugin */
  assert_int_equal(read_back(&key), sizeof payload);
  assert_int_equal(chmod(file, 0666), 0);
  assert_int_equal(read_back(&key), 0);
  assert_int_equal(unlink(file), 0);
  assert_int_equal(rmdir(shipped), 0);
}

/* Writers of two payloads of different sizes under one key, and a reader: it sees the one or the other, whole. */
static void processes_at_once_see_whole_files(void **state) {
  (void)state;
  enum { LONG = 100000, TURNS = 200 };
  kw_gpu_store_key key = key_of("shared");
  static char longer[LONG];
  memset(longer, 'x', sizeof longer);
  pid_t writers[2];
  kw_gpu_store_write(&key, payload, sizeof payload);
  for (int w = 0; w < 2; ++w) {
    writers[w] = fork();
    if (writers[w] == 0) {
      for (int i = 0; i < TURNS; ++i) kw_gpu_store_write(&key, w ? payload : longer, w ? sizeof payload : LONG);
      _exit(0);
    }
  }
  for (int i = 0; i < TURNS; ++i) {
    char *bytes = NULL;
    size_t size = 0;
    assert_true(kw_gpu_store_read(&key, (void **)&bytes, &size));
    assert_true(size == LONG || size == sizeof payload);
    assert_memory_equal(bytes, size == LONG ? longer : payload, size);
    free(bytes);
  }
  for (int w = 0; w < 2; ++w) {
    int status;
    assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
    assert_int_equal(status, 0);
  }
}

/* The kernel ends it at the hundredth byte. */
static void a_process_that_ends_while_it_writes_leaves_nothing(void **state) {
  (void)state;
  kw_gpu_store_key key = key_of("cut off");
  char command[200];
  const pid_t writer = fork();
  if (writer == 0) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
    static const char large[4096];
    kw_gpu_store_write(&key, large, sizeof large);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(writer, &status, 0), writer);
  assert_true(WIFSIGNALED(status));
  snprintf(command, sizeof command, "test -z \"$(find %s -name '%.64s*')\"", directory,
           strrchr(file_of(&key), '/') + 1);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_kept_comes_back),
      cmocka_unit_test(a_key_tells_its_parts_apart),
      cmocka_unit_test(damaged_files_are_not_there),
      cmocka_unit_test(foreign_files_are_not_there),
      cmocka_unit_test(without_a_place_nothing_is_kept),
      cmocka_unit_test(what_came_with_the_plugin_is_read),
      cmocka_unit_test(processes_at_once_see_whole_files),
      cmocka_unit_test(a_process_that_ends_while_it_writes_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
