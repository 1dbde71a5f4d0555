/* SPDX-License-Identifier: Apache-2.0
 *
 * A short table, and the two ways of a descriptor over the socket.
 */
#include "isolate/wire/descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SEND_TRIES 1000u /* of a message, a millisecond apart */

#define LIMIT_SECONDS 10 /* it was sent before anybody was told of it: it is on its way, or was never sent */

typedef union control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
} control;

void kw_descriptors_init(kw_descriptors *all) {
  memset(all, 0, sizeof *all);
  pthread_mutex_init(&all->lock, NULL);
  pthread_cond_init(&all->changed, NULL);
}

void kw_descriptors_close(kw_descriptors *all) {
  for (uint32_t i = 0; i < KW_DESCRIPTORS; i++)
    if (all->rows[i].number != 0) close(all->rows[i].descriptor);
  pthread_mutex_destroy(&all->lock);
  pthread_cond_destroy(&all->changed);
}

bool kw_descriptors_add(kw_descriptors *all, uint32_t number, int descriptor) {
  uint32_t i = 0;
  pthread_mutex_lock(&all->lock);
  while (i < KW_DESCRIPTORS && all->rows[i].number != 0) i++;
  if (i < KW_DESCRIPTORS) {
    all->rows[i].number = number;
    all->rows[i].descriptor = descriptor;
  }
  pthread_cond_broadcast(&all->changed);
  pthread_mutex_unlock(&all->lock);
  if (i == KW_DESCRIPTORS) close(descriptor);
  return i < KW_DESCRIPTORS;
}

void kw_descriptors_end(kw_descriptors *all) {
  pthread_mutex_lock(&all->lock);
  all->ended = true;
  pthread_cond_broadcast(&all->changed);
  pthread_mutex_unlock(&all->lock);
}

int kw_descriptors_take(kw_descriptors *all, uint32_t number) {
  int descriptor = -1;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += LIMIT_SECONDS;
  pthread_mutex_lock(&all->lock);
  for (bool late = false; !late;) {
    for (uint32_t i = 0; i < KW_DESCRIPTORS && descriptor < 0; i++) {
      if (number == 0 || all->rows[i].number != number) continue;
      descriptor = all->rows[i].descriptor;
      all->rows[i].number = 0;
    }
    if (descriptor >= 0 || all->ended || number == 0) break;
    late = pthread_cond_timedwait(&all->changed, &all->lock, &until) != 0;
  }
  pthread_mutex_unlock(&all->lock);
  return descriptor;
}

bool kw_notice_send(int socket, const kw_wire_notice *notice, int descriptor) {
  struct iovec piece = {(void *)notice, sizeof *notice};
  control extra = {0};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (descriptor >= 0) {
    message.msg_control = extra.bytes;
    message.msg_controllen = sizeof extra.bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  ssize_t sent;
  uint32_t left = SEND_TRIES; /* while the kernel has no memory for it */
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0 || (errno != EINTR && errno != ENOBUFS && errno != ENOMEM)) break;
    if (errno != EINTR) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  } while (--left > 0);
  return sent == (ssize_t)sizeof *notice;
}

kw_arrival kw_notice_receive(int socket, bool wait, kw_wire_notice *out_notice, int *out_descriptor) {
  struct iovec piece = {out_notice, sizeof *out_notice};
  control extra;
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = extra.bytes, .msg_controllen = sizeof extra.bytes};
  *out_descriptor = -1;
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  const bool passes = size < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS);
  if (size < 0) return passes ? KW_ARRIVED_NOTHING : KW_ARRIVED_END;
  const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len >= CMSG_LEN(sizeof(int))) {
    memcpy(out_descriptor, CMSG_DATA(head), sizeof *out_descriptor);
  }
  if (size == 0) return KW_ARRIVED_END;
  if (size == (ssize_t)sizeof *out_notice && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) return KW_ARRIVED;
  if (*out_descriptor >= 0) close(*out_descriptor);
  *out_descriptor = -1;
  return KW_ARRIVED_NONSENSE;
}
