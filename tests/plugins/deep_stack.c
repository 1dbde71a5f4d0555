/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that uses all the stack that it may, in slots, in a kernel and in bodies of parallel_for.
 */
#define FIXTURE_KEY "deep"
#include "fixture.h"

#define SHARE (160u << 10) /* as plugin.h says */
#define OWN_FRAMES 1024u   /* of the functions here, beside the array */

/* Touches all of it. */
static __attribute__((noinline)) int use_stack(void) {
  volatile char deep[SHARE - OWN_FRAMES];
  for (size_t i = 0; i < sizeof deep; i++) deep[i] = (char)i;
  return deep[sizeof deep / 2];
}

static kw_status deep_open(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  use_stack();
  return fixture_open(plugin, index, info, out_device);
}

static kw_status deep_alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  use_stack();
  return fixture_alloc(device, info, out_mem);
}

static void body(void *user, int64_t begin, int64_t end) {
  const kw_call *call = user;
  const float *a = fixture_floats(call->args[0].u.tensor), *b = fixture_floats(call->args[1].u.tensor);
  use_stack();
  for (int64_t i = begin; i < end; i++) fixture_floats(call->outs[0])[i] = a[i] + b[i];
}

static kw_status deep_add(const kw_call *call) {
  use_stack();
  return fixture_host->parallel_for(fixture_host->ctx, call->outs[0]->numel, 1, body, (void *)(uintptr_t)call);
}

#define FIXTURE_OPEN deep_open
#define FIXTURE_ALLOC deep_alloc
#define FIXTURE_LAUNCH deep_add
#include "fixture_plugin.h"
