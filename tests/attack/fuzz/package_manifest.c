/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifests of certification packages, which `keyway verify` reads before anything is known to be signed.
 */
#include "certify/manifest.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input_file_named(KW_PACKAGE_MANIFEST, data, size);
  kw_manifest manifest;
  char message[512];
  if (kw_manifest_read(input_directory(), &manifest, message, sizeof message)) kw_manifest_free(&manifest);
  return 0;
}
