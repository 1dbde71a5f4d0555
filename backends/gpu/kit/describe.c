/* SPDX-License-Identifier: Apache-2.0
 *
 * What every backend says of a device in the same form: whether it is emulated, its stable id, its place in the system.
 */
#include "kit/device.h"

#include <stdio.h>
#include <string.h>

kw_status kw_gpu_give_int(kw_attribute *out_value, int64_t value) {
  out_value->type = KW_ATTRIBUTE_INT;
  out_value->u.i = value;
  return KW_OK;
}

kw_status kw_gpu_give_bool(kw_attribute *out_value, bool value) {
  out_value->type = KW_ATTRIBUTE_BOOL;
  out_value->u.b = value;
  return KW_OK;
}

kw_status kw_gpu_bus_attribute(const char *id, const char *key, kw_attribute *out_value) {
  static const struct {
    const char *key, *file;
  } files[] = {{"numa_node", "numa_node"}, {"pci_vendor_id", "vendor"}, {"pci_device_id", "device"}};
  if (strncmp(id, "pci:", 4) != 0) return KW_ERR_NOT_FOUND;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
    char path[128];
    int value = -1; /* what a machine of one node says, too */
    if (strcmp(files[i].key, key) != 0) continue;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.40s/%s", id + 4, files[i].file);
    FILE *file = fopen(path, "re");
    if (!file) return KW_ERR_NOT_FOUND;
    const bool there = fscanf(file, "%i", &value) == 1 && value >= 0;
    fclose(file);
    return there ? kw_gpu_give_int(out_value, value) : KW_ERR_NOT_FOUND;
  }
  return KW_ERR_NOT_FOUND;
}

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
