/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing messages: numbers of 8 bytes, and bytes after their count, padded to 8. Whoever runs past the end
 * gets zeroes, and the message is broken from then on: it is enough to look once, at the end.
 *
 * A message lies in memory that the other process may change at any time. So each number is fetched exactly once, and
 * bytes are copied before anybody looks at them.
 */
#ifndef KEYWAY_CORE_MESSAGE_H
#define KEYWAY_CORE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct kw_message {
  unsigned char *at, *end; /* at is a multiple of 8 */
  bool broken;
} kw_message;

/* Room for `size` bytes from here on; NULL, and broken, when there are not so many. */
static inline unsigned char *kw_message_skip(kw_message *m, uint64_t size) {
  const uint64_t left = (uint64_t)(m->end - m->at);
  if (m->broken || size > left || ((size + 7) & ~UINT64_C(7)) > left) {
    m->broken = true;
    return NULL;
  }
  unsigned char *here = m->at;
  m->at += (size + 7) & ~UINT64_C(7);
  return here;
}

static inline void kw_put_u64(kw_message *m, uint64_t number) {
  unsigned char *to = kw_message_skip(m, sizeof number);
  if (to != NULL) memcpy(to, &number, sizeof number);
}

static inline uint64_t kw_take_u64(kw_message *m) {
  const unsigned char *from = kw_message_skip(m, sizeof(uint64_t));
  return from != NULL ? *(const volatile uint64_t *)(const void *)from : 0;
}

static inline uint32_t kw_take_u32(kw_message *m) {
  return (uint32_t)kw_take_u64(m);
}

/* A fixed number of bytes. */
static inline void kw_put_raw(kw_message *m, const void *bytes, uint64_t size) {
  unsigned char *to = kw_message_skip(m, size);
  if (to != NULL && size > 0) memcpy(to, bytes, size);
}

static inline void kw_take_raw(kw_message *m, void *out, uint64_t size) {
  const unsigned char *from = kw_message_skip(m, size);
  if (from != NULL) {
    memcpy(out, from, size);
  } else {
    memset(out, 0, size);
  }
}

static inline void kw_put_text(kw_message *m, const char *text) {
  const uint64_t length = text != NULL ? strlen(text) : 0;
  kw_put_u64(m, length);
  kw_put_raw(m, text, length);
}

/* The text, NUL-terminated, cut to `size` bytes. */
static inline void kw_take_text(kw_message *m, char *out, uint64_t size) {
  const uint64_t length = kw_take_u64(m);
  const unsigned char *from = kw_message_skip(m, length);
  const uint64_t fits = from == NULL ? 0 : length < size ? length : size - 1;
  if (fits > 0) memcpy(out, from, fits);
  out[fits] = '\0';
}

#endif /* KEYWAY_CORE_MESSAGE_H */
