/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames and payloads, cut short and overwritten as a broken worker would.
 */
#include "wire/device_facts.h"
#include "wire/case_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const float floats[6] = {1, 2, 3, 4, 5, 6};

static void write_result(kw_message *message) {
  kw_case_run result = {.id = "add.Tensor/f32/prime/1", .run = 1, .launches = 3, .path_count = 2};
  result.paths[0] =
      (kw_case_run_path){.kernel = "tiled", .message = "", .defect = "input 1 changed", .output_count = 1};
  result.paths[0].outputs[0] = (kw_case_run_output){.dtype = KW_F32,
                                                    .rank = 2,
                                                    .shape = {2, 3},
                                                    .data = floats,
                                                    .length = sizeof floats,
                                                    .expected_dtype = KW_DTYPE_NONE};
  result.paths[1] =
      (kw_case_run_path){.kernel = "", .status = KW_ERR_NOT_IMPLEMENTED, .message = "no kernel", .defect = ""};
  kw_case_run_write(&result, message);
}

static void unit_round_trip(void **state) {
  (void)state;
  kw_message message = {0};
  write_result(&message);
  kw_case_run result;
  assert_true(kw_case_run_read(&message, &result));
  assert_string_equal(result.id, "add.Tensor/f32/prime/1");
  assert_int_equal(result.run, 1);
  assert_int_equal(result.launches, 3);
  assert_int_equal(result.path_count, 2);
  assert_string_equal(result.paths[0].defect, "input 1 changed");
  assert_memory_equal(result.paths[0].outputs[0].data, floats, sizeof floats);
  assert_int_equal(result.paths[1].status, KW_ERR_NOT_IMPLEMENTED);
  assert_string_equal(result.paths[1].message, "no kernel");
  kw_message_free(&message);
}

static void every_truncation_is_refused(void **state) {
  (void)state;
  kw_message message = {0};
  write_result(&message);
  size_t whole = message.length;
  for (size_t length = 0; length < whole; length++) {
    kw_message cut = {.data = message.data, .length = length};
    kw_case_run result;
    assert_false(kw_case_run_read(&cut, &result));
  }
  kw_message_free(&message);
}

/* Any byte may be anything: the reader must stay inside the message, which a copy of exactly its size shows. */
static void every_wrong_byte_is_survived(void **state) {
  (void)state;
  kw_message message = {0};
  write_result(&message);
  for (size_t at = 0; at < message.length; at++) {
    unsigned char *copy = malloc(message.length);
    memcpy(copy, message.data, message.length);
    copy[at] ^= 0x80;
    kw_message changed = {.data = copy, .length = message.length};
    kw_case_run result;
    if (kw_case_run_read(&changed, &result)) assert_in_range(result.path_count, 0, KW_CASE_RUN_PATHS);
    free(copy);
  }
  kw_message_free(&message);
}

/* Well-formed, but not what a result may be. */
static void impossible_results_are_refused(void **state) {
  (void)state;
  kw_case_run result = {.id = "x", .path_count = KW_CASE_RUN_PATHS}, read;
  for (uint32_t i = 0; i < KW_CASE_RUN_PATHS; i++) {
    result.paths[i] = (kw_case_run_path){.kernel = "k", .message = "", .defect = ""};
  }
  kw_message message = {0};
  kw_case_run_write(&result, &message);
  size_t whole = message.length;
  assert_true(kw_case_run_read(&message, &read));
  kw_message_put_u32(&message, 0); /* something behind the end */
  message.at = 0;
  assert_false(kw_case_run_read(&message, &read));

  uint32_t count = KW_CASE_RUN_PATHS + 1; /* one path too many, all of them complete */
  size_t at = 8 + 2 + 4 + 3 * 8, path = (whole - at - 4) / KW_CASE_RUN_PATHS;
  kw_message longer = {0};
  kw_case_run_write(&result, &longer);
  memcpy(longer.data + at, &count, sizeof count);
  kw_message tail = {.data = longer.data + at + 4, .length = path};
  unsigned char *bytes = malloc(whole + path);
  memcpy(bytes, longer.data, whole);
  memcpy(bytes + whole, tail.data, path);
  kw_message many = {.data = bytes, .length = whole + path};
  assert_false(kw_case_run_read(&many, &read));
  free(bytes);
  kw_message_free(&longer);

  result.path_count = 1; /* fewer bytes than the shape says */
  result.paths[0].output_count = 1;
  result.paths[0].outputs[0] = (kw_case_run_output){.dtype = KW_F32,
                                                    .rank = 1,
                                                    .shape = {7},
                                                    .data = floats,
                                                    .length = sizeof floats,
                                                    .expected_dtype = KW_DTYPE_NONE};
  kw_message_clear(&message);
  kw_case_run_write(&result, &message);
  assert_false(kw_case_run_read(&message, &read));

  kw_message_clear(&message);
  kw_message_put_bytes(&message, "no end", 6); /* a string without its NUL */
  assert_string_equal(kw_message_get_string(&message), "");
  assert_true(message.bad);
  kw_message_free(&message);
}

static void facts_round_trip(void **state) {
  (void)state;
  uint32_t count;
  const kw_suite_op *table = kw_suite_ops(&count);
  kw_op_facts op = {.op = table[3], .kernels = 5, .decomposed = 2};
  char *contracts[] = {"memory/zero_size", "copy/strided"};
  kw_effort efforts[] = {KW_EFFORT_QUICK, KW_EFFORT_THOROUGH};
  kw_device_facts facts = {.text = "", .device = "npu:0", .product = "NPU", .emulated = true, .flush = 256};
  facts.ops = &op;
  facts.op_count = 1;
  facts.contracts = contracts;
  facts.contract_efforts = efforts;
  facts.contract_count = 2;
  kw_message message = {0};
  kw_device_facts_write(&facts, &message);
  kw_device_facts read;
  assert_true(kw_device_facts_read(&message, &read));
  assert_string_equal(read.device, "npu:0");
  assert_int_equal(read.ops[0].kernels, 5);
  assert_ptr_equal(read.ops[0].op.row.schema, table[3].row.schema); /* rules come from our own table */
  assert_string_equal(read.contracts[1], "copy/strided");
  assert_int_equal(read.contract_efforts[1], KW_EFFORT_THOROUGH);
  kw_device_facts_free(&read);
  for (size_t length = 0; length < message.length; length++) {
    kw_message cut = {.data = message.data, .length = length};
    assert_false(kw_device_facts_read(&cut, &read));
  }
  kw_message_free(&message);
}

static void frames_round_trip(void **state) {
  (void)state;
  int fds[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  kw_message out = {0}, in = {0};
  kw_message_put_string(&out, "hello");
  assert_true(kw_frame_send(fds[0], KW_FRAME_RUN, &out));
  kw_frame type;
  assert_int_equal(kw_frame_receive(fds[1], -1, 1000, &type, &in), KW_READ_OK);
  assert_int_equal(type, KW_FRAME_RUN);
  assert_string_equal(kw_message_get_string(&in), "hello");
  assert_int_equal(kw_frame_receive(fds[1], -1, 0, &type, &in), KW_READ_TIMEOUT);
  assert_int_equal(write(fds[0], "this is not a frame at all......", 32), 32);
  assert_int_equal(kw_frame_receive(fds[1], -1, 1000, &type, &in), KW_READ_GARBAGE);
  while (kw_frame_receive(fds[1], -1, 0, &type, &in) == KW_READ_GARBAGE) { /* the rest of the text */
  }
  static const uint32_t foreign[4] = {0x12345678, KW_FRAME_RUN, 0, 0}; /* right but for its first word */
  assert_int_equal(write(fds[0], foreign, sizeof foreign), sizeof foreign);
  assert_int_equal(kw_frame_receive(fds[1], -1, 1000, &type, &in), KW_READ_GARBAGE);
  close(fds[0]);
  assert_int_equal(kw_frame_receive(fds[1], -1, 1000, &type, &in), KW_READ_END);
  assert_false(kw_frame_send(fds[1], KW_FRAME_RUN, &out)); /* and no SIGPIPE */
  close(fds[1]);
  kw_message_free(&out);
  kw_message_free(&in);
}

/* A frame that comes a byte at a time, with a wait that ends in between, is the frame; and the next one begins anew. */
static void frames_come_in_parts(void **state) {
  (void)state;
  int fds[2], back[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, back), 0);
  kw_message out = {0}, in = {0};
  kw_message_put_string(&out, "hello");
  for (int round = 0; round < 2; round++) {
    char bytes[64];
    assert_true(kw_frame_send(fds[0], KW_FRAME_RUN, &out));
    ssize_t length = read(fds[1], bytes, sizeof bytes);
    assert_true(length > 16 && length < (ssize_t)sizeof bytes);
    kw_frame_part part = {.length = 0};
    kw_frame type = 0;
    for (ssize_t i = 0; i < length; i++) {
      assert_int_equal(kw_frame_receive_more(&part, back[1], -1, 0, &type, &in), KW_READ_TIMEOUT);
      assert_int_equal(write(back[0], bytes + i, 1), 1);
    }
    assert_int_equal(kw_frame_receive_more(&part, back[1], -1, 0, &type, &in), KW_READ_OK);
    assert_int_equal(type, KW_FRAME_RUN);
    assert_string_equal(kw_message_get_string(&in), "hello");
  }
  for (int i = 0; i < 2; i++) {
    close(fds[i]);
    close(back[i]);
  }
  kw_message_free(&out);
  kw_message_free(&in);
}

/* A process is dead and something else still holds its socket, as a child that it has started may. */
static void death_is_seen(void **state) {
  (void)state;
  int fds[2];
  kw_message out = {0}, in = {0};
  kw_frame type;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  kw_message_put_string(&out, "its last");
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) _exit(kw_frame_send(fds[0], KW_FRAME_RESULT, &out) ? 0 : 1);
  int life = pidfd_open(pid, 0);
  assert_true(life >= 0);
  assert_int_equal(kw_frame_receive(fds[1], life, 10000, &type, &in), KW_READ_OK);
  assert_string_equal(kw_message_get_string(&in), "its last");
  assert_int_equal(kw_frame_receive(fds[1], life, 10000, &type, &in), KW_READ_END);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  close(life);
  close(fds[0]);
  close(fds[1]);
  kw_message_free(&out);
  kw_message_free(&in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unit_round_trip),      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(facts_round_trip),     cmocka_unit_test(every_wrong_byte_is_survived),
      cmocka_unit_test(frames_round_trip),    cmocka_unit_test(impossible_results_are_refused),
      cmocka_unit_test(frames_come_in_parts), cmocka_unit_test(death_is_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
