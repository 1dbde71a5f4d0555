/* SPDX-License-Identifier: Apache-2.0
 *
 * Gates: streams that the host holds up.
 */
#include "contract_helpers.h"
#include "hold.h"

kw_gate *kw_gate_close_behind(kw_stream *stream) {
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_gate *gate = kw_gate_take(stream);
  KW_CHECK(gate, "this test closes too many gates at once");
  KW_CHECK_OK(kw_stream_call_host(stream, kw_gate_wait, gate));
  return gate;
}

void kw_gate_reach(kw_gate *gate) {
  bool held = kw_gate_await(gate);
  kw_gate_check();
  KW_CHECK(held, "a callback ran on the calling thread, inside call_host: it cannot hold up its stream");
}

kw_gate *kw_gate_close(kw_stream *stream) {
  kw_gate *gate = kw_gate_close_behind(stream);
  kw_gate_reach(gate);
  return gate;
}

void kw_gate_open(kw_gate *gate) {
  kw_gate_let_go(gate);
  kw_gate_check();
}
