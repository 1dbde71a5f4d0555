/* SPDX-License-Identifier: Apache-2.0
 *
 * The head of bytes for other processes. Names go into it as hashes, which tell mistakes, not forgery: whether bytes
 * are good for memory only the plugin can tell.
 */
#include "device/ipc.h"

#include "base/error.h"
#include "base/hash.h"

#include <string.h>

#define MAGIC 0x6377776bu /* "kwwc" */
#define VERSION 1u

typedef struct head {
  uint32_t magic;
  uint16_t version;
  uint16_t length; /* of all bytes, this head among them */
  uint32_t plugin; /* its vendor and key */
  uint32_t device; /* its stable id; where it has none its number */
  uint32_t driver; /* the version */
  uint32_t zero[3];
} head;

_Static_assert(sizeof(head) + KW_IPC_SIZE == sizeof((kw_external_memory *)0)->ipc, "head and payload fill the bytes");

static head head_of(const kw_device *device) {
  const kw_plugin *plugin = device->plugin;
  const uint32_t vendor = kw_hash_text(kw_hash_text(KW_HASH_INIT, plugin->vendor), ".");
  return (head){.magic = MAGIC,
                .version = VERSION,
                .length = sizeof(head) + KW_IPC_SIZE,
                .plugin = kw_hash_text(vendor, plugin->key),
                .device = kw_hash_text(KW_HASH_INIT, device->info.stable_id) ^
                          (device->info.stable_id[0] == '\0' ? device->index : 0),
                .driver = kw_hash_text(KW_HASH_INIT, device->info.driver_version)};
}

kw_status kw_ipc_seal(const kw_device *device, uint8_t bytes[128]) {
  static const uint8_t zeros[sizeof(head)];
  if (memcmp(bytes + KW_IPC_SIZE, zeros, sizeof zeros) != 0) {
    return kw_fail(KW_ERR_INTERNAL, "%s: interop.export_memory has written more than KW_IPC_SIZE bytes", device->name);
  }
  const head own = head_of(device);
  memmove(bytes + sizeof own, bytes, KW_IPC_SIZE);
  memcpy(bytes, &own, sizeof own);
  return KW_OK;
}

kw_status kw_ipc_open(const kw_device *device, uint8_t bytes[128]) {
  const head own = head_of(device);
  head given;
  memcpy(&given, bytes, sizeof given);
  if (given.magic != own.magic || given.length != own.length || memcmp(given.zero, own.zero, sizeof own.zero) != 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "these are no bytes that kw_tensor_export gave for KW_HANDLE_IPC, or not all of them: pass `ipc` on "
                   "as it was");
  }
  const char *differs = given.version != own.version ? "another version of the library"
                        : given.plugin != own.plugin ? "another plugin"
                        : given.device != own.device ? "another device"
                        : given.driver != own.driver ? "another version of the driver"
                                                     : NULL;
  if (differs != NULL) {
    return kw_fail(KW_ERR_UNSUPPORTED, "the bytes were exported by %s than %s here: use the same on both sides",
                   differs, device->name);
  }
  memmove(bytes, bytes + sizeof own, KW_IPC_SIZE);
  memset(bytes + KW_IPC_SIZE, 0, sizeof own);
  return KW_OK;
}
