/* SPDX-License-Identifier: Apache-2.0
 *
 * Parcels, sockets, and one thread for each thread of the other process.
 */
#include "wire.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Parcels ----------------------------------------------------------------------------------------------------- */

typedef struct piece {
  struct piece *next;
  uint64_t pad; /* what follows is aligned like malloc's */
} piece;

static bool grow(parcel *p, size_t size) {
  if (size <= p->room - p->size) return true;
  size_t room = (p->size + size) * 2;
  uint8_t *data = realloc(p->data, room);
  if (!data) return false;
  p->data = data;
  p->room = room;
  return true;
}

const void *parcel_bytes(parcel *p, size_t size) {
  if (p->bad || size > p->size - p->at) {
    p->bad = true;
    return NULL;
  }
  const void *bytes = p->data + p->at;
  p->at += size;
  return bytes;
}

void parcel_carry(parcel *p, void *data, size_t size) {
  if (size == 0) return;
  if (p->taking) {
    const void *bytes = parcel_bytes(p, size);
    if (bytes) memcpy(data, bytes, size);
  } else if (grow(p, size)) {
    memcpy(p->data + p->size, data, size);
    p->size += size;
  } else {
    p->bad = true;
  }
}

void *parcel_room(parcel *p, size_t size) {
  piece *fresh = size < SIZE_MAX / 2 ? calloc(1, sizeof *fresh + size) : NULL;
  if (!fresh) {
    p->bad = true;
    return NULL;
  }
  fresh->next = p->pieces;
  p->pieces = fresh;
  return fresh + 1;
}

void parcel_end(parcel *p) {
  for (piece *at = p->pieces, *next; at; at = next) {
    next = at->next;
    free(at);
  }
  free(p->data);
  *p = (parcel){.taking = p->taking};
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

typedef struct message_head {
  uint32_t is_reply;
  uint32_t what;
  uint64_t size;
} message_head;

static bool send_all(int fd, const void *data, size_t size) {
  for (const uint8_t *at = data; size > 0;) {
    ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= (size_t)sent;
  }
  return true;
}

static bool receive_all(int fd, void *data, size_t size) {
  for (uint8_t *at = data; size > 0;) {
    ssize_t got = recv(fd, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

static bool send_message(int fd, bool is_reply, uint32_t what, const parcel *p) {
  const message_head head = {.is_reply = is_reply, .what = what, .size = p->size};
  return send_all(fd, &head, sizeof head) && send_all(fd, p->data, p->size);
}

/* Into a fresh parcel, to be taken from. */
static bool receive_message(int fd, message_head *head, parcel *p) {
  *p = (parcel){.taking = true};
  if (!receive_all(fd, head, sizeof *head) || !grow(p, head->size)) return false;
  p->size = head->size;
  return receive_all(fd, p->data, p->size);
}

/* ---- Threads and their sockets ----------------------------------------------------------------------------------- */

static int control_fd = -1;
static pipe_answer *answer_call;
static pthread_key_t closes_socket; /* holds the socket of this thread, plus 1 */
static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER;

static int thread_socket(void) {
  return (int)(intptr_t)pthread_getspecific(closes_socket) - 1;
}

static void use_socket(int fd) {
  pthread_setspecific(closes_socket, (void *)(intptr_t)(fd + 1));
}

static void close_socket(void *value) {
  close((int)(intptr_t)value - 1);
}

void pipe_start(int control, pipe_answer *answer) {
  control_fd = control;
  answer_call = answer;
  pthread_key_create(&closes_socket, close_socket);
}

typedef union descriptor_room {
  struct cmsghdr head;
  char bytes[CMSG_SPACE(sizeof(int))];
} descriptor_room;

static bool send_descriptor(int fd) {
  char byte = 0;
  descriptor_room room = {.bytes = {0}};
  struct iovec data = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  room.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
  memcpy(CMSG_DATA(&room.head), &fd, sizeof fd);
  pthread_mutex_lock(&control_lock);
  ssize_t sent;
  do sent = sendmsg(control_fd, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  pthread_mutex_unlock(&control_lock);
  return sent == 1;
}

static int receive_descriptor(void) {
  char byte;
  descriptor_room room = {.bytes = {0}};
  struct iovec data = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  ssize_t got;
  do got = recvmsg(control_fd, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != 1 || message.msg_controllen < CMSG_LEN(sizeof(int))) return -1;
  int fd;
  memcpy(&fd, CMSG_DATA(&room.head), sizeof fd);
  return fd;
}

/* The socket of this thread, a new one at its first call; -1 when there is no other process. */
static int own_socket(void) {
  if (thread_socket() >= 0) return thread_socket();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  bool sent = send_descriptor(ends[1]);
  close(ends[1]);
  if (!sent) {
    close(ends[0]);
    return -1;
  }
  use_socket(ends[0]);
  return ends[0];
}

static bool answer(int fd, uint32_t what, parcel *request) {
  parcel reply = {0};
  answer_call(what, request, &reply);
  bool sent = send_message(fd, true, what, &reply);
  parcel_end(&reply);
  return sent;
}

bool pipe_call(uint32_t what, const parcel *request, parcel *reply) {
  int fd = own_socket();
  if (fd < 0 || !send_message(fd, false, what, request)) return false;
  message_head head;
  while (receive_message(fd, &head, reply)) {
    if (head.is_reply) return true;
    bool answered = answer(fd, head.what, reply);
    parcel_end(reply);
    if (!answered) return false;
  }
  parcel_end(reply);
  return false;
}

static void *answer_thread(void *socket) {
  const int fd = (int)(intptr_t)socket;
  message_head head;
  parcel request;
  fesetenv(FE_DFL_ENV);
  use_socket(fd);
  while (receive_message(fd, &head, &request)) {
    bool answered = answer(fd, head.what, &request);
    parcel_end(&request);
    if (!answered) break;
  }
  parcel_end(&request);
  return NULL;
}

bool pipe_thread(void *(*body)(void *), void *argument) {
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, NULL, body, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) pthread_detach(thread);
  return started;
}

void pipe_listen(void) {
  for (int fd; (fd = receive_descriptor()) >= 0;) {
    if (!pipe_thread(answer_thread, (void *)(intptr_t)fd)) close(fd);
  }
}
