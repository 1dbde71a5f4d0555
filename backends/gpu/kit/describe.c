/* SPDX-License-Identifier: Apache-2.0
 *
 * What every backend says of a device in the same form: whether it is emulated, and its stable id.
 */
#include <keyway/gpu.h>
#include <stdio.h>
#include <string.h>

uint64_t kw_gpu_device_flags(const char *name) {
  return strstr(name, "(emulated)") ? KW_DEVICE_EMULATED : 0;
}

void kw_gpu_id_pci(char *out, size_t size, uint32_t domain, uint32_t bus, uint32_t device, uint32_t function) {
  snprintf(out, size, "pci:%04x:%02x:%02x.%x", (unsigned)domain, (unsigned)bus, (unsigned)device, (unsigned)function);
}

void kw_gpu_id_uuid(char *out, size_t size, const uint8_t uuid[16]) {
  size_t used = (size_t)snprintf(out, size, "uuid:");
  for (int i = 0; i < 16 && used < size; ++i) used += (size_t)snprintf(out + used, size - used, "%02x", uuid[i]);
}
