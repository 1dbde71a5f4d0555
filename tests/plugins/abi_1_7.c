/* SPDX-License-Identifier: Apache-2.0
 *
 * As a plugin built with the headers of ABI 1.7 would be: longer tables, groups that this host does not know.
 */
#define FIXTURE_KEY "newer"
#include "fixture.h"

typedef struct memory_api_1_7 {
  kw_memory_api known;
  kw_status (*advise)(void *device, kw_mem mem, uint32_t advice);
} memory_api_1_7;

typedef struct stream_api_1_7 {
  kw_stream_api known;
  kw_status (*set_priority)(void *device, void *stream, int32_t priority);
} stream_api_1_7;

typedef struct kernel_desc_1_7 {
  kw_kernel_desc known;
  const char *layout;
} kernel_desc_1_7;

static const memory_api_1_7 memory = {
    .known = {.struct_size = sizeof memory, .alloc = fixture_alloc, .dealloc = fixture_free, .copy = fixture_copy}};
static const stream_api_1_7 stream = {.known = {.struct_size = sizeof stream,
                                                .create = fixture_stream_create,
                                                .destroy = fixture_stream_destroy,
                                                .synchronize = fixture_stream_synchronize}};

static kw_status init_1_7(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  if (host->abi_version != KW_ABI_VERSION) {
    return host->set_error(host->ctx, KW_ERR_ABI_MISMATCH, "the agreed version is the lower of the two");
  }
  fixture_host = host;
  const kernel_desc_1_7 kernel = {.known = {.struct_size = sizeof kernel,
                                            .op = "add.Tensor",
                                            .name = "fast",
                                            .dtypes = {{KW_DTYPE_BIT(KW_F32) | UINT64_C(1) << 40, 1}},
                                            .known_args = 2,
                                            .can_implement = fixture_can_add,
                                            .launch = fixture_add},
                                  .layout = "strided"};
  *out_plugin = &fixture_state;
  return host->register_kernel(host->ctx, &kernel.known);
}

/* Groups that only 1.7 and a vendor know. */
static const struct {
  uint32_t struct_size, reserved;
} compile_table = {sizeof compile_table, 0}, power_table = {sizeof power_table, 0};

#define FIXTURE_ABI KW_ABI_MAKE(1, 7)
#define FIXTURE_INFO_MORE(info)                     \
  (info)->reserved = 7;                             \
  (info)->flush_subnormal = (kw_dtype_mask) {       \
    { KW_DTYPE_BIT(KW_F16) | UINT64_C(1) << 40, 1 } \
  }
#define FIXTURE_DESC_SIZE (sizeof(kw_plugin_desc) + 16)
#define FIXTURE_MEMORY &memory
#define FIXTURE_STREAM &stream
#define FIXTURE_INIT init_1_7
#define FIXTURE_MORE_GROUPS               \
  {"keyway.compile/1", &compile_table}, { \
    "com.acme.power/1", &power_table      \
  }
#include "fixture_plugin.h"
