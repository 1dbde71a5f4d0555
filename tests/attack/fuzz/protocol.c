/* SPDX-License-Identifier: Apache-2.0
 *
 * What a worker that a plugin has overwritten may send to the coordinator: its frames, and the three kinds of messages
 * in them. The first byte says which, and whether the frame has a right header.
 */
#include "wire/protocol.h"

#include "input.h"
#include "program/program_run.h"
#include "wire/case_run.h"
#include "wire/device_facts.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAYLOAD_MOST 60000 /* what a socket takes before anyone reads */

enum { FACTS, CASE_RUN, PROGRAM_RUN, KINDS };

static void read_message(kw_message *message, int kind) {
  if (kind == FACTS) {
    kw_device_facts facts;
    if (kw_device_facts_read(message, &facts)) kw_device_facts_op(&facts, "add.Tensor");
    kw_device_facts_free(&facts);
  } else if (kind == CASE_RUN) {
    static kw_case_run run;
    if (kw_case_run_read(message, &run)) INPUT_CHECK(run.path_count <= KW_CASE_RUN_PATHS);
  } else {
    kw_program_run run;
    if (kw_program_run_read(message, &run)) kw_program_run_free(&run);
  }
}

/* As the other side would send it. */
static void send_frame(int socket, const uint8_t *data, size_t size) {
  const kw_message message = {.data = (unsigned char *)(uintptr_t)data, .length = size};
  INPUT_CHECK(kw_frame_send(socket, KW_FRAME_RESULT, &message));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int ends[2];
  if (size < 2 || size > PAYLOAD_MOST || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
  if (data[0] & 1) {
    send_frame(ends[0], data + 1, size - 1);
  } else {
    INPUT_CHECK(write(ends[0], data + 1, size - 1) == (ssize_t)size - 1);
  }
  close(ends[0]);
  kw_message message = {0};
  kw_frame type;
  if (kw_frame_receive(ends[1], -1, 100, &type, &message) == KW_READ_OK) read_message(&message, data[0] / 2 % KINDS);
  kw_message_free(&message);
  close(ends[1]);
  return 0;
}
