/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stream is called is what its device is called.
 */
#include "mutant.h"

static kw_status native_handle(void *device, kw_object_kind kind, void *object, kw_native_handle *out_handle) {
  const kw_status status = kw_mutant_real.interop.native_handle(device, kind, object, out_handle);
  if (status != KW_OK && kind != KW_OBJECT_STREAM) return status;
  if (kind == KW_OBJECT_STREAM) out_handle->handle = device;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.native_handle = native_handle;
}
