#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/abi_next.py TREE 1.1|2.0

Makes a version of the ABI that there is not yet of a copy of the tree: 1.1 has one of everything that a minor may add,
in the headers, in the host and in the example NPU; 2.0 is a major in which fields have changed places.
"""
import re
import sys
from pathlib import Path

PLUGIN, TYPES, SLOTS = "abi/include/keyway/plugin.h", "abi/include/keyway/types.h", "abi/slots.def"
NPU = "examples/vendor_npu"

HEADERS_1_1 = [
    (TYPES, "  KW_EXT_VENDOR = 1 /* a kw_ext_vendor */", "  KW_EXT_VENDOR = 1,\n  KW_EXT_PACE = 2"),
    (PLUGIN, "} kw_memory_api;",
     "  kw_status(KW_CALL *advise)(void *device, kw_mem mem, uint32_t advice);\n} kw_memory_api;"),
    (PLUGIN, "#define KW_GROUP_DEVICE", """typedef struct kw_power_api {
  uint32_t struct_size;
  uint32_t reserved;
  kw_status(KW_CALL *limit)(void *device, uint64_t watts);
} kw_power_api;
#define KW_GROUP_POWER "keyway.power/1"
#define KW_POWER_API_MIN 16u
#define KW_STATUS_TIRED ((kw_status)((uint32_t)KW_CLASS_RETRY << 24 | 2))
#define KW_KERNEL_HINT (UINT64_C(1) << 20)
#define KW_KERNEL_INSIST (UINT64_C(1) << 40)
#define KW_MATH_LOOSE 16u
#define KW_GROUP_DEVICE"""),
    (SLOTS, "KW_SLOT_GROUP(stream,", """KW_SLOT(memory, advise, 1, 0, (void *device, kw_mem mem, uint32_t advice),
        (device, mem, advice))
KW_SLOT_GROUP(stream,"""),
    (SLOTS, "KW_NATIVE_SLOT(KW_NATIVE_CALL_HOST", """KW_SLOT_GROUP(power, POWER, 0, 0, "")
KW_SLOT(power, limit, 1, 1, (void *device, uint64_t watts), (device, watts))
KW_NATIVE_SLOT(KW_NATIVE_CALL_HOST"""),
]
# The host asks for what is new, does without where the plugin does not know it, and tells what became of it.
HOST_1_1 = [
    ("core/plugin/kernel.c", "#define KNOWN_FLAGS UINT64_C(0)", "#define KNOWN_FLAGS KW_KERNEL_INSIST"),
    ("core/device/stream_life.c", "#include <stdlib.h>", "#include <stdio.h>\n#include <stdlib.h>"),
    ("core/device/stream_life.c",
     "  kw_status status = KW_ASK(device->slots, stream.create, device->handle, &info, &stream->handle);",
     """  const kw_ext plain = {sizeof plain, 0x1234, NULL};
  const kw_ext pace = {sizeof pace, KW_EXT_PACE | KW_EXT_CRITICAL, &plain};
  info.next = &pace;
  kw_status status = KW_ASK(device->slots, stream.create, device->handle, &info, &stream->handle);
  fprintf(stderr, "host 1.1: critical extension: %d\\n", (int)status);
  info.next = &plain;
  if (status == KW_ERR_UNSUPPORTED)
    status = KW_ASK(device->slots, stream.create, device->handle, &info, &stream->handle);
  fprintf(stderr, "host 1.1: memory.advise: %d, power.limit: %d\\n",
          (int)KW_ASK(device->slots, memory.advise, device->handle, NULL, 1),
          (int)KW_ASK(device->slots, power.limit, device->handle, 100));"""),
]
# The plugin offers what is new; its init fails where a host answers otherwise than docs/abi.md says.
OFFERS = """
static kw_status fails(const kw_call *call) {
  (void)call;
  return KW_ERR_INTERNAL; /* nobody may choose these kernels */
}

/* A kernel that this host is to answer so. */
static bool offer(const kw_host_api *host, const kw_kernel_desc *like, kw_status before, kw_status since) {
  kw_kernel_desc kernel = *like;
  kernel.struct_size = sizeof kernel;
  kernel.known_args = 3;
  kernel.launch = fails;
  if (!kernel.op) kernel.op = "add.Tensor";
  if (!kernel.dtypes.bits[0]) kernel.dtypes.bits[0] = KW_DTYPE_BIT(KW_F32);
  return host->register_kernel(host->ctx, &kernel) == (KW_ABI_MINOR(host->abi_version) >= 1 ? since : before);
}

static bool offer_next(const kw_host_api *host) {
  const kw_ext ext = {sizeof ext, 0x1235 | KW_EXT_CRITICAL, NULL};
  const kw_kernel_desc hint = {.name = "hint", .flags = KW_KERNEL_HINT, .priority = KW_PRIORITY_OFF};
  const kw_kernel_desc insist = {.name = "insist", .flags = KW_KERNEL_INSIST, .priority = KW_PRIORITY_OFF};
  const kw_kernel_desc loose = {.name = "loose", .math_needs = KW_MATH_LOOSE, .priority = 1000};
  const kw_kernel_desc dtype = {.name = "dtype", .dtypes = {{UINT64_C(1) << 60, 0}}, .priority = 1000};
  const kw_kernel_desc op = {.name = "op", .op = "add.Next"}, extended = {.name = "extended", .next = &ext};
  return offer(host, &hint, KW_OK, KW_OK) && offer(host, &insist, KW_ERR_UNSUPPORTED, KW_OK) &&
         offer(host, &loose, KW_OK, KW_OK) &&
         offer(host, &dtype, KW_OK, KW_ERR_INVALID_ARGUMENT) && /* a bit that 1.1 does not know either */
         offer(host, &op, KW_ERR_NOT_FOUND, KW_ERR_NOT_FOUND) &&
         offer(host, &extended, KW_ERR_UNSUPPORTED, KW_ERR_UNSUPPORTED);
}

static kw_status npu_limit(void *device, uint64_t watts) {
  (void)device, (void)watts;
  return KW_OK;
}
static const kw_power_api npu_power_api = {.struct_size = sizeof(kw_power_api), .limit = npu_limit};

static kw_status npu_init("""
PLUGIN_1_1 = [
    (f"{NPU}/plugin.c", "kw_ext_check(next, NULL, 0)", "kw_ext_check(next, &(const uint32_t){KW_EXT_PACE}, 1)"),
    (f"{NPU}/plugin.c", "static kw_status npu_init(", OFFERS),
    (f"{NPU}/plugin.c", "  status = npu_register_kernels(host);",
     "  status = offer_next(host) ? npu_register_kernels(host)\n"
     "                            : npu_fail(host, KW_ERR_INTERNAL, \"a host has answered an offer wrongly\");"),
    (f"{NPU}/plugin.c", "{KW_GROUP_DEVICE, &npu_device_api},",
     "{KW_GROUP_POWER, &npu_power_api}, {KW_GROUP_DEVICE, &npu_device_api},"),
    (f"{NPU}/plugin.c", "  if (strcmp(key, \"com.acme.serial\") == 0) {",
     "  if (strcmp(key, \"com.acme.later\") == 0) return KW_STATUS_TIRED;\n"
     "  if (strcmp(key, \"com.acme.serial\") == 0) {"),
    (f"{NPU}/plugin.c", "static const kw_option_desc *const npu_options[] = {&queue_depth};",
     "static const kw_option_desc pace = {\n"
     "    .struct_size = sizeof pace, .place = KW_OPTION_OPEN, .key = \"pace\", .value = \"1\",\n"
     "    .text = \"new in 1.1\"};\n"
     "static const kw_option_desc *const npu_options[] = {&queue_depth, &pace};"),
    (f"{NPU}/memory.c", "const kw_memory_api npu_memory_api = {\n    .struct_size = sizeof(kw_memory_api),",
     "static kw_status npu_advise(void *device, kw_mem mem, uint32_t advice) {\n"
     "  (void)device, (void)mem, (void)advice;\n  return KW_OK;\n}\n"
     "const kw_memory_api npu_memory_api = {\n    .struct_size = sizeof(kw_memory_api),\n    .advise = npu_advise,"),
]
# A later major may do what it likes beyond the first bytes.
EDITS_2_0 = [
    (PLUGIN, "  void *dst_host;\n  kw_mem dst_mem;", "  kw_mem dst_mem;\n  void *dst_host;"),
    (PLUGIN, "  const char *key;         /* the device key",
     "  const char *more;\n  const char *key;         /* the device key"),
]


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("1.1", "2.0"):
        sys.exit(__doc__)
    tree, version = Path(sys.argv[1]), sys.argv[2]
    major, minor = version.split(".")
    text = (tree / TYPES).read_text()
    text, times = re.subn(r"KW_ABI_MAKE\(1, 0\)( +/\* the version these)", rf"KW_ABI_MAKE({major}, {minor})\1", text)
    text, more = re.subn(r"(KW_ABI_VERSION_TEXT) \"1\.0\"", rf'\1 "{version}"', text)
    if major == "2":
        text = text.replace("KW_ABI_VERSION_MIN KW_ABI_MAKE(1, 0)", "KW_ABI_VERSION_MIN KW_ABI_MAKE(2, 0)")
    if times != 1 or more != 1:
        sys.exit("abi_next: types.h says its version otherwise than this script knows")
    (tree / TYPES).write_text(text)
    for path, what, instead in HEADERS_1_1 + HOST_1_1 + PLUGIN_1_1 if version == "1.1" else EDITS_2_0:
        text = (tree / path).read_text()
        if text.count(what) != 1:
            sys.exit(f"abi_next: {path} has {text.count(what)} times: {what}")
        (tree / path).write_text(text.replace(what, instead))


if __name__ == "__main__":
    main()
