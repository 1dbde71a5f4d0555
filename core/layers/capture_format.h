/* SPDX-License-Identifier: Apache-2.0
 *
 * A capture: the file that the capture layer writes and `keyway replay` reads. Little-endian, like the hosts that there
 * are.
 *
 *   file    magic[8] version:u32 reserved:u32 record...
 *   record  type:u32 reserved:u32 size:u64 payload[size]
 *   text    length:u32 bytes[length]
 *   view    buffer:u64 offset:u64 dtype:u32 rank:u32 shape:i64[rank] strides:i64[rank]
 *   value   tag:u32 kind:u32 count:u32, then by tag: view; count times present:u32 [view]; i64; i64[count]; f64; u32;
 *           text; the 16 bytes of a scalar; nothing for none and for a generator
 *
 * Everything is told in terms of buffers: the memory of one tensor and its views, which has a number that no other
 * buffer of the file has. A view is an offset in bytes from a buffer's start, a dtype, a shape and strides. What an
 * application does with tensors, views of them and addresses comes out the same: which elements a call reads and
 * writes.
 */
#ifndef KEYWAY_CORE_CAPTURE_FORMAT_H
#define KEYWAY_CORE_CAPTURE_FORMAT_H

#include "base/bytes.h"

#include <keyway/keyway.h>

#include <string.h>

#define KW_CAPTURE_MAGIC "kwcapt\r\n"
#define KW_CAPTURE_VERSION UINT32_C(1)
#define KW_CAPTURE_HEADER 16u /* bytes of the file's, and of a record's */

typedef uint32_t kw_capture_type;
enum {
  KW_CAPTURE_BUFFER = 1,   /* number:u64 size:u64 device:text. There it is, contents undefined */
  KW_CAPTURE_WRITE = 2,    /* view bytes... The elements, densely packed: the host's, or what was found there */
  KW_CAPTURE_READ = 3,     /* number:u64 view. The application reads the elements */
  KW_CAPTURE_RESULT = 4,   /* number:u64 bytes... And this is what it got */
  KW_CAPTURE_COPY = 5,     /* view:to view:from */
  KW_CAPTURE_CALL = 6,     /* see kw_capture_call_head */
  KW_CAPTURE_CONSTANT = 7, /* view on:u32. kw_tensor_set_constant */
  KW_CAPTURE_BEGIN = 8,    /* stream:u64. What is called with this stream from here on is recorded as a graph */
  KW_CAPTURE_GRAPH = 9,    /* stream:u64 number:u64. End of that; number 0: thrown away */
  KW_CAPTURE_LAUNCH = 10,  /* number:u64 */
  KW_CAPTURE_DESTROY = 11, /* number:u64 */
  KW_CAPTURE_END = 12      /* full:u32. The last record; full: by the limit, not by the application's end */
};

/* A call, of kw_op_call or kw_plan_run: op:text kernel:text ("": the usual choice) stream:u64 (of a recording; 0: none)
 * math:u32 deterministic:u32 autocast:u32 random:u32 [algorithm:u32 seed:u64 offset:u64 (the generator's, before)]
 * arg_count:u32 value... out_count:u32, and for each result how:u32 [size:u64 view]. */
enum {
  KW_CAPTURE_OUT_NONE = 0,  /* there is none, or it is an argument */
  KW_CAPTURE_OUT_GIVEN = 1, /* the application gave it: view */
  KW_CAPTURE_OUT_MADE = 2   /* a new buffer of `size` bytes: size, view */
};

static inline void kw_capture_u32(kw_bytes *out, uint32_t value) {
  kw_bytes_put(out, &value, sizeof value);
}

static inline void kw_capture_u64(kw_bytes *out, uint64_t value) {
  kw_bytes_put(out, &value, sizeof value);
}

static inline void kw_capture_text(kw_bytes *out, const char *text) {
  kw_capture_u32(out, (uint32_t)strlen(text));
  kw_bytes_put_text(out, text);
}

static inline void kw_capture_view(kw_bytes *out, uint64_t buffer, uint64_t offset, const kw_tensor_ref *ref) {
  kw_capture_u64(out, buffer);
  kw_capture_u64(out, offset);
  kw_capture_u32(out, ref->dtype);
  kw_capture_u32(out, ref->rank);
  kw_bytes_put(out, ref->shape, ref->rank * sizeof ref->shape[0]);
  kw_bytes_put(out, ref->strides, ref->rank * sizeof ref->strides[0]);
}

/* The 16 bytes before `size` bytes of payload. */
static inline void kw_capture_record(kw_bytes *out, kw_capture_type type, uint64_t size) {
  kw_capture_u32(out, type);
  kw_capture_u32(out, 0);
  kw_capture_u64(out, size);
}

static inline void kw_capture_header(kw_bytes *out) {
  kw_bytes_put(out, KW_CAPTURE_MAGIC, 8);
  kw_capture_u32(out, KW_CAPTURE_VERSION);
  kw_capture_u32(out, 0);
}

#endif /* KEYWAY_CORE_CAPTURE_FORMAT_H */
