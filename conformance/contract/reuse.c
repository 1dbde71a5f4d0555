/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite memory, stream-ordered reuse: a tensor may be released while work that uses it is queued; its memory goes to
 * no tensor whose work could disturb that work.
 */
#include "contract_helpers.h"

enum { SIZE = 20000, ROUNDS = 8 };

/* The same stream: what takes the memory next on that stream comes after the work that still reads it. */
void kw_contract_memory_reuse_behind_gate(void **state) {
  (void)state;
  kw_stream *stream = kw_test_stream();
  unsigned char *first = kw_test_memory(4 * SIZE), *second = first + SIZE, *got_first = second + SIZE,
                *got_second = got_first + SIZE;
  kw_test_pattern(first, SIZE, 1);
  kw_test_pattern(second, SIZE, 2);
  for (int round = 0; round < ROUNDS; round++) {
    kw_tensor *a = kw_test_bytes_on(stream, SIZE);
    KW_CHECK_OK(kw_tensor_write_async(a, first, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    kw_gate *gate = kw_gate_close(stream);
    KW_CHECK_OK(kw_tensor_read_async(a, got_first, stream));
    kw_tensor_release(a);
    kw_tensor *b = kw_test_bytes_on(stream, SIZE);
    KW_CHECK_OK(kw_tensor_write_async(b, second, stream));
    KW_CHECK_OK(kw_tensor_read_async(b, got_second, stream));
    kw_tensor_release(b);
    kw_gate_open(gate);
    KW_CHECK_OK(kw_stream_synchronize(stream));
    kw_test_same(got_first, first, SIZE, "a tensor released while its read was queued");
    kw_test_same(got_second, second, SIZE, "a tensor that came after it on the same stream");
    memset(got_first, 0, 2 * SIZE);
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(first);
}

/* Another stream: memory that a gated stream still reads is not handed out elsewhere. `home` is the stream that the
 * tensor came from, NULL for the device's default stream. */
static void reuse_elsewhere(kw_stream *gated, kw_stream *home, const char *what) {
  unsigned char *want = kw_test_memory(2 * SIZE), *got = want + SIZE;
  kw_test_pattern(want, SIZE, 3);
  for (int round = 0; round < ROUNDS; round++) {
    kw_tensor *a = kw_test_bytes_on(home, SIZE);
    KW_CHECK_OK(kw_tensor_write(a, want));
    kw_gate *gate = kw_gate_close(gated);
    KW_CHECK_OK(kw_tensor_read_async(a, got, gated));
    kw_tensor_release(a);
    kw_tensor *others[4];
    for (int i = 0; i < 4; i++) others[i] = kw_test_bytes(SIZE, 4 + (uint64_t)i); /* written while the gate is shut */
    kw_gate_open(gate);
    KW_CHECK_OK(kw_stream_synchronize(gated));
    kw_test_same(got, want, SIZE, what);
    for (int i = 0; i < 4; i++) {
      kw_test_expect_bytes(others[i], 4 + (uint64_t)i, "a tensor made while another stream was held up");
      kw_tensor_release(others[i]);
    }
    memset(got, 0, SIZE);
  }
  free(want);
}

void kw_contract_memory_reuse_across_streams(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS);
  kw_stream *stream = kw_test_stream();
  reuse_elsewhere(stream, stream, "a tensor of the gated stream, released while its read was queued");
  reuse_elsewhere(stream, NULL, "a tensor of the default stream, released while another stream's read was queued");
  KW_CHECK_OK(kw_stream_destroy(stream));
}
