/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing messages of Protocol Buffers, field by field, in the wire format
 * (https://protobuf.dev/programming-guides/encoding).
 */
#ifndef KEYWAY_CORE_PROTOBUF_H
#define KEYWAY_CORE_PROTOBUF_H

#include "base/bytes.h"

#include <stdint.h>
#include <string.h>

enum { KW_WIRE_VARINT = 0, KW_WIRE_FIXED64 = 1, KW_WIRE_BYTES = 2, KW_WIRE_FIXED32 = 5 };

static inline void kw_protobuf_varint(kw_bytes *out, uint64_t value) {
  unsigned char text[10];
  size_t length = 0;
  for (; value >= 0x80; value >>= 7) text[length++] = (unsigned char)(value | 0x80);
  text[length++] = (unsigned char)value;
  kw_bytes_put(out, text, length);
}

static inline void kw_protobuf_tag(kw_bytes *out, uint32_t field, uint32_t wire) {
  kw_protobuf_varint(out, (uint64_t)field << 3 | wire);
}

/* uint32, uint64, enum, bool; int64 that is not negative. */
static inline void kw_protobuf_uint(kw_bytes *out, uint32_t field, uint64_t value) {
  kw_protobuf_tag(out, field, KW_WIRE_VARINT);
  kw_protobuf_varint(out, value);
}

static inline void kw_protobuf_fixed64(kw_bytes *out, uint32_t field, uint64_t value) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = (unsigned char)(value >> 8 * i);
  kw_protobuf_tag(out, field, KW_WIRE_FIXED64);
  kw_bytes_put(out, bytes, sizeof bytes);
}

static inline void kw_protobuf_string(kw_bytes *out, uint32_t field, const char *text) {
  const size_t length = strlen(text);
  kw_protobuf_tag(out, field, KW_WIRE_BYTES);
  kw_protobuf_varint(out, length);
  kw_bytes_put(out, text, length);
}

/* A message inside another: what is written between begin and end. The length is a varint of four bytes, which holds
 * up to 2^28. begin returns what end needs. */
static inline size_t kw_protobuf_begin(kw_bytes *out, uint32_t field) {
  kw_protobuf_tag(out, field, KW_WIRE_BYTES);
  kw_bytes_put(out, "\0\0\0\0", 4);
  return out->size;
}

static inline void kw_protobuf_end(kw_bytes *out, size_t begin) {
  if (out->failed) return;
  const size_t length = out->size - begin;
  if (length >> 28 != 0) {
    out->failed = true;
    return;
  }
  for (int i = 0; i < 4; ++i) out->data[begin - 4 + (size_t)i] = (char)((length >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
}

#endif /* KEYWAY_CORE_PROTOBUF_H */
