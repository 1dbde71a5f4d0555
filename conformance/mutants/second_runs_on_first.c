/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels for streams of the second device run on the first one, at once: nothing that its own streams have queued is
 * waited for. After s2cnn pull request 16: a compiled kernel belongs to the device that was current then, and was kept
 * for all.
 */
#include "mutant_two.h"

static void *first_default;

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status == KW_OK && (info->flags & KW_STREAM_DEFAULT) && device == kw_mutant_device(0)) {
    first_default = *out_stream;
  }
  return status;
}

static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  if (call->device == kw_mutant_device(1) && kw_mutant_device(0) && first_default) copy.stream = first_default;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->op = "*";
  mutant->launch = launch;
  mutant->stream.create = create;
}
