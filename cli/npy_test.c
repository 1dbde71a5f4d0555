/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of NumPy's .npy format, right, of other versions, and damaged.
 */
#include "npy.h"

#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = P_tmpdir "/keyway-npy-XXXXXX", path[64];

/* Writes version, length, header (padded as numpy does not insist on) and elements. */
static void write_file(int version, const char *header, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  uint32_t length = (uint32_t)strlen(header);
  fwrite("\x93NUMPY", 1, 6, file);
  fputc(version, file);
  fputc(0, file);
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) fputc((int)(length >> 8 * i & 0xff), file);
  fwrite(header, 1, length, file);
  fwrite(data, 1, size, file);
  assert_int_equal(fclose(file), 0);
}

static void check_refused(const char *says) {
  kw_cli_npy array;
  char message[KW_CLI_NPY_MESSAGE];
  if (kw_cli_npy_read(path, &array, message)) fail_msg("read, but wanted \"%s\"", says);
  if (!strstr(message, says) || !strstr(message, path)) fail_msg("wanted \"%s\": %s", says, message);
  assert_null(array.data);
}

static void round_trip_of_every_dtype(void **state) {
  (void)state;
  char message[KW_CLI_NPY_MESSAGE];
  unsigned char data[6 * 16];
  for (size_t i = 0; i < sizeof data; ++i) data[i] = (unsigned char)(i & 1);
  for (kw_dtype d = 0; kw_dtype_name(d) != NULL; ++d) {
    kw_cli_npy in = {d, (uint32_t)kw_dtype_size(d), 2, {2, 3}, 6, data}, out;
    if (!kw_cli_npy_write(path, &in, message) || !kw_cli_npy_read(path, &out, message)) fail_msg("%s", message);
    bool raw = d == KW_BF16 || d == KW_F8E4M3FN || d == KW_F8E5M2 || d >= KW_F8E4M3FNUZ;
    assert_int_equal(out.dtype, raw ? KW_DTYPE_NONE : d);
    assert_int_equal(out.item_size, in.item_size);
    assert_true(out.rank == 2 && out.shape[0] == 2 && out.shape[1] == 3 && out.numel == 6);
    assert_memory_equal(out.data, data, 6 * in.item_size);
    kw_cli_npy_free(&out);
  }
}

static void ranks_zero_to_sixteen(void **state) {
  (void)state;
  char message[KW_CLI_NPY_MESSAGE];
  float value = 3;
  for (uint32_t rank = 0; rank <= KW_MAX_RANK; ++rank) {
    kw_cli_npy in = {KW_F32, 4, rank, {0}, 1, &value}, out;
    for (uint32_t i = 0; i < rank; ++i) in.shape[i] = 1;
    if (!kw_cli_npy_write(path, &in, message) || !kw_cli_npy_read(path, &out, message)) fail_msg("%s", message);
    assert_int_equal(out.rank, rank);
    assert_memory_equal(out.shape, in.shape, sizeof in.shape);
    kw_cli_npy_free(&out);
  }
  kw_cli_npy empty = {KW_F64, 8, 2, {3, 0}, 0, &value}, out;
  assert_true(kw_cli_npy_write(path, &empty, message) && kw_cli_npy_read(path, &out, message));
  assert_true(out.numel == 0 && out.shape[0] == 3 && out.data != NULL);
  kw_cli_npy_free(&out);
}

/* Byte for byte what numpy 2.4 writes for numpy.save(f, numpy.array([[1, 2, 3]], dtype='u1')). */
static void header_is_numpys(void **state) {
  (void)state;
  char message[KW_CLI_NPY_MESSAGE], got[256];
  kw_cli_npy in = {KW_U8, 1, 2, {1, 3}, 3, (unsigned char[]){1, 2, 3}};
  assert_true(kw_cli_npy_write(path, &in, message));
  FILE *file = fopen(path, "rb");
  size_t size = fread(got, 1, sizeof got, file);
  fclose(file);
  assert_int_equal(size, 128 + 3);
  static const char want[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1, 3), }   ";
  assert_memory_equal(got, want, sizeof want - 1);
  assert_int_equal(got[127], '\n');
  assert_memory_equal(got + 128, "\1\2\3", 3);
}

static void versions_orders_and_spellings(void **state) {
  (void)state;
  char message[KW_CLI_NPY_MESSAGE];
  static const int16_t columns[] = {1, 4, 2, 5, 3, 6}, rows[] = {1, 2, 3, 4, 5, 6};
  static const char *const headers[] = {
      "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
      "{\"shape\":(2,3,),\"descr\":\"<i2\",\"fortran_order\":True}\n",
      " { 'fortran_order' : True , 'shape' : ( 2L , 3L ) , 'descr' : '=i2' } \n",
  };
  for (int version = 1; version <= 3; ++version) {
    write_file(version, headers[version - 1], columns, sizeof columns);
    kw_cli_npy out;
    if (!kw_cli_npy_read(path, &out, message)) fail_msg("%s", message);
    assert_int_equal(out.dtype, KW_I16);
    assert_memory_equal(out.data, rows, sizeof rows);
    kw_cli_npy_free(&out);
  }
  /* Any byte but 0 is true. */
  write_file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\0\1\x7f", 3);
  kw_cli_npy out;
  assert_true(kw_cli_npy_read(path, &out, message));
  assert_memory_equal(out.data, "\0\1\1", 3);
  kw_cli_npy_free(&out);
}

static const struct {
  const char *header, *says;
} damaged[] = {
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "'>f4' is big-endian"},
    {"{'descr': '<M8', 'fortran_order': False, 'shape': (1,), }", "'<M8' has no counterpart"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "'|O' has no counterpart"},
    {"{'descr': '', 'fortran_order': False, 'shape': (1,), }", "'' has no counterpart"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "records"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "promises 8 bytes of elements, 4 are there"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "more elements than memory"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", "more elements than memory"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "a size below"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "expected a size, found '-1"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }", "expected ','"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }", "16 dimensions"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "expected a size"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", "expected '('"},
    {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", "True or False"},
    {"{'descr': '<f4', 'fortran_order': False, }", "is missing"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "a second 'descr'"},
    {"{'descr': '<f4', 'order': False, 'shape': (1,), }", "the key 'order'"},
    {"{'descr' '<f4', 'fortran_order': False, 'shape': (1,), }", "expected ':'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", "expected the end"},
    {"{'descr': '<f4', 'fortran_order': False 'shape': (1,), }", "expected ','"},
    {"{'descr': '<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4', 'fortran_order': False, 'shape': (1,), }", "short quoted"},
    {"{'descr: <f4", "short quoted"},
    {"{", "quoted text"},
    {"", "expected '{'"},
};

static void damaged_files_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; ++i) {
    write_file(1 + (int)(i % 3), damaged[i].header, "\0\0\0\0", 4);
    check_refused(damaged[i].says);
  }
  write_file(9, "", "", 0);
  check_refused("version 9.0");
  assert_int_equal(truncate(path, 9), 0);
  check_refused("version 9.0");
  write_file(2, "{}", "", 0);
  assert_int_equal(truncate(path, 10), 0);
  check_refused("cut short inside its header");
  write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "", 0);
  assert_int_equal(truncate(path, 40), 0);
  check_refused("cut short inside its header");
  assert_int_equal(truncate(path, 3), 0);
  check_refused("is no .npy file");
  assert_int_equal(unlink(path), 0);
  check_refused("cannot be opened");
  kw_cli_npy array;
  char message[KW_CLI_NPY_MESSAGE];
  assert_false(kw_cli_npy_read(folder, &array, message));
  assert_non_null(strstr(message, "not a regular file"));
}

/* No byte of the header, changed to anything, may crash the reader (run with a sanitizer). */
static void any_damaged_byte_is_survived(void **state) {
  (void)state;
  char message[KW_CLI_NPY_MESSAGE], good[128];
  kw_cli_npy in = {KW_F16, 2, 2, {2, 2}, 4, (uint16_t[]){1, 2, 3, 4}}, out;
  assert_true(kw_cli_npy_write(path, &in, message));
  FILE *file = fopen(path, "r+b");
  assert_int_equal(fread(good, 1, sizeof good, file), sizeof good);
  static const unsigned char bytes[] = {0, 1, '\'', '(', ')', ',', '9', ' ', 'V', 0xff};
  for (long at = 0; at < (long)sizeof good; ++at) {
    for (size_t i = 0; i < sizeof bytes; ++i) {
      fseek(file, at, SEEK_SET);
      fputc(i + 1 < sizeof bytes ? bytes[i] : good[at], file);
      fflush(file);
      if (kw_cli_npy_read(path, &out, message)) kw_cli_npy_free(&out);
    }
  }
  fclose(file);
}

static void writing_is_all_or_nothing(void **state) {
  (void)state;
  char message[KW_CLI_NPY_MESSAGE];
  kw_cli_npy array = {KW_U8, 1, 1, {3}, 3, (unsigned char[]){1, 2, 3}};
  assert_true(kw_cli_npy_write("/dev/null", &array, message));
  assert_false(kw_cli_npy_write("no/such/folder/x.npy", &array, message));
  assert_non_null(strstr(message, "no/such/folder/x.npy: cannot be written"));
  /* A new file has the usual permissions, and nothing but it is left. */
  umask(022);
  assert_true(kw_cli_npy_write(path, &array, message));
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0644);
}

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/x.npy", folder);
  return 0;
}

/* Fails when a temporary file was left behind. */
static int remove_folder(void **state) {
  (void)state;
  unlink(path);
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip_of_every_dtype), cmocka_unit_test(ranks_zero_to_sixteen),
      cmocka_unit_test(header_is_numpys),          cmocka_unit_test(versions_orders_and_spellings),
      cmocka_unit_test(damaged_files_are_refused), cmocka_unit_test(any_damaged_byte_is_survived),
      cmocka_unit_test(writing_is_all_or_nothing),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
