/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages and frames on the socket between coordinator and worker.
 */
#include "wire/protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define FRAME_MAGIC UINT32_C(0x4657434b) /* "KCWF" */
#define FRAME_MAX (UINT64_C(1) << 30)

typedef struct frame_header {
  uint32_t magic;
  uint32_t type;
  uint64_t length;
} frame_header;

void kw_message_free(kw_message *message) {
  free(message->data);
  memset(message, 0, sizeof *message);
}

void kw_message_clear(kw_message *message) {
  message->length = message->at = 0;
  message->bad = false;
}

static bool reserve(kw_message *message, size_t more) {
  if (message->bad) return false;
  size_t needed = message->length + more;
  if (needed <= message->capacity) return true;
  size_t capacity = message->capacity ? message->capacity : 256;
  while (capacity < needed) capacity *= 2;
  unsigned char *data = realloc(message->data, capacity);
  message->bad = data == NULL;
  if (!data) return false;
  message->data = data;
  message->capacity = capacity;
  return true;
}

static void put(kw_message *message, const void *bytes, size_t length) {
  if (!reserve(message, length)) return;
  if (length) memcpy(message->data + message->length, bytes, length);
  message->length += length;
}

void kw_message_put_u32(kw_message *message, uint32_t value) {
  put(message, &value, sizeof value);
}

void kw_message_put_u64(kw_message *message, uint64_t value) {
  put(message, &value, sizeof value);
}

void kw_message_put_f64(kw_message *message, double value) {
  put(message, &value, sizeof value);
}

void kw_message_put_bytes(kw_message *message, const void *bytes, size_t length) {
  kw_message_put_u64(message, length);
  put(message, bytes, length);
}

void kw_message_put_string(kw_message *message, const char *text) {
  kw_message_put_bytes(message, text, strlen(text) + 1);
}

static void get(kw_message *message, void *out, size_t length) {
  memset(out, 0, length);
  if (message->bad || length > message->length - message->at) {
    message->bad = true;
    return;
  }
  memcpy(out, message->data + message->at, length);
  message->at += length;
}

uint32_t kw_message_get_u32(kw_message *message) {
  uint32_t value;
  get(message, &value, sizeof value);
  return value;
}

uint64_t kw_message_get_u64(kw_message *message) {
  uint64_t value;
  get(message, &value, sizeof value);
  return value;
}

double kw_message_get_f64(kw_message *message) {
  double value;
  get(message, &value, sizeof value);
  return value;
}

const void *kw_message_get_bytes(kw_message *message, size_t *out_length) {
  uint64_t length = kw_message_get_u64(message);
  *out_length = 0;
  if (message->bad || length > message->length - message->at) {
    message->bad = true;
    return NULL;
  }
  const void *bytes = message->data + message->at;
  message->at += length;
  *out_length = length;
  return bytes;
}

const char *kw_message_get_string(kw_message *message) {
  size_t length;
  const char *text = kw_message_get_bytes(message, &length);
  if (text && length > 0 && text[length - 1] == 0) return text;
  message->bad = true;
  return "";
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* What goes by: a signal came, or the kernel had no memory at the moment. */
static bool passes(int error) {
  return error == EINTR || error == ENOMEM || error == ENOBUFS;
}

static bool send_all(int fd, const void *bytes, size_t length) {
  const char *p = bytes;
  while (length > 0) {
    ssize_t sent = send(fd, p, length, MSG_NOSIGNAL);
    if (sent < 0 && passes(errno)) continue;
    if (sent <= 0) return false;
    p += sent;
    length -= (size_t)sent;
  }
  return true;
}

bool kw_frame_send(int fd, kw_frame type, const kw_message *message) {
  if (message->bad) return false;
  frame_header header = {FRAME_MAGIC, (uint32_t)type, message->length};
  return send_all(fd, &header, sizeof header) && send_all(fd, message->data, message->length);
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Goes on from *io_length of `length` bytes. */
static kw_read receive_rest(int fd, int process_fd, int64_t deadline, unsigned char *bytes, size_t length,
                            size_t *io_length) {
  while (*io_length < length) {
    int wait = -1;
    if (deadline >= 0) {
      int64_t left = deadline - now_ms();
      wait = left > 0 ? (int)left : 0;
    }
    struct pollfd poll_fds[] = {{.fd = fd, .events = POLLIN}, {.fd = process_fd, .events = POLLIN}};
    int ready = poll(poll_fds, 2, wait);
    if (ready < 0 && passes(errno)) continue;
    if (ready == 0) return KW_READ_TIMEOUT;
    /* Also what a process has sent that is gone by now. */
    ssize_t got = recv(fd, bytes + *io_length, length - *io_length, MSG_DONTWAIT);
    if (got < 0 && passes(errno)) continue;
    if (got <= 0) return KW_READ_END;
    *io_length += (size_t)got;
  }
  return KW_READ_OK;
}

kw_read kw_frame_receive_more(kw_frame_part *part, int fd, int process_fd, int timeout_ms, kw_frame *out_type,
                              kw_message *message) {
  int64_t deadline = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
  frame_header header;
  _Static_assert(sizeof part->header == sizeof header, "a part has room for a header");
  if (part->length < sizeof header) {
    kw_read result = receive_rest(fd, process_fd, deadline, part->header, sizeof header, &part->length);
    if (result != KW_READ_OK) return result;
    kw_message_clear(message);
  }
  memcpy(&header, part->header, sizeof header);
  if (header.magic != FRAME_MAGIC || header.length > FRAME_MAX) return KW_READ_GARBAGE;
  if (!reserve(message, header.length)) return KW_READ_GARBAGE;
  size_t came = part->length - sizeof header;
  kw_read result = receive_rest(fd, process_fd, deadline, message->data, header.length, &came);
  part->length = sizeof header + came;
  if (result != KW_READ_OK) return result;
  message->length = header.length;
  *out_type = (kw_frame)header.type;
  return KW_READ_OK;
}

kw_read kw_frame_receive(int fd, int process_fd, int timeout_ms, kw_frame *out_type, kw_message *message) {
  kw_frame_part part = {.length = 0};
  return kw_frame_receive_more(&part, fd, process_fd, timeout_ms, out_type, message);
}
