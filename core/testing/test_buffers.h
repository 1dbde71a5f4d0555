/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers and streams of a test's device, for tests of the allocator.
 */
#ifndef KEYWAY_CORE_TEST_BUFFERS_H
#define KEYWAY_CORE_TEST_BUFFERS_H

#include "testing/test_device.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)

static inline kw_buffer *buffer_on(kw_stream *stream, uint64_t size) {
  kw_buffer *buffer = NULL;
  kw_status status = kw_buffer_create(stream, size, &buffer);
  if (status != KW_OK) print_message("%s\n", kw_error_message());
  assert_ok(status);
  return buffer;
}

static inline kw_buffer *buffer_of(test_device *test, uint64_t size) {
  return buffer_on(test->device.default_stream, size);
}

static inline kw_stream *stream_of(test_device *test) {
  kw_stream *stream = NULL;
  assert_ok(kw_stream_create(&test->device, &stream));
  return stream;
}

#endif /* KEYWAY_CORE_TEST_BUFFERS_H */
