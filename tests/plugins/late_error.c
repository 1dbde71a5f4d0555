/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose launches succeed, and report an asynchronous error.
 */
#define FIXTURE_KEY "late_error"
#include "fixture.h"

static kw_status launch_and_fail_later(const kw_call *call) {
  const fixture_stream *stream = call->stream;
  return fixture_host->report_async_error(fixture_host->ctx, stream->token, call->call_id, KW_ERR_INTERNAL,
                                          "fixtureInterrupt: a bit has flipped");
}

#define FIXTURE_LAUNCH launch_and_fail_later
#include "fixture_plugin.h"
