/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers more kernels than a search through all of them at each registration would get done in a test's time, and
 * then some that are refused: for their name, a flag, no known_args, a dtype that there is not,
 * and mixed dtypes without can_implement.
 */
#define FIXTURE_KEY "many_kernels"
#include "fixture.h"

#define COUNT 200000

static kw_status register_many(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  fixture_host = host;
  *out_plugin = &fixture_state;
  char name[32];
  kw_kernel_desc kernel = {.struct_size = sizeof kernel,
                           .op = "add.Tensor",
                           .name = name,
                           .dtypes = {{1, 0}},
                           .known_args = 2,
                           .launch = fixture_add};
  for (int i = 0; i < COUNT; i++) {
    snprintf(name, sizeof name, "kernel_%d", i);
    kw_status status = host->register_kernel(host->ctx, &kernel);
    if (status != KW_OK) return status;
  }
  snprintf(name, sizeof name, "kernel_%d", COUNT / 2);
  if (host->register_kernel(host->ctx, &kernel) != KW_ERR_INVALID_ARGUMENT) return KW_ERR_INTERNAL;
  kernel.name = "critical";
  kernel.flags = UINT64_C(1) << 63;
  if (host->register_kernel(host->ctx, &kernel) != KW_ERR_UNSUPPORTED) return KW_ERR_INTERNAL;
  kernel.flags = 0;
  kernel.known_args = 0;
  if (host->register_kernel(host->ctx, &kernel) != KW_ERR_INVALID_ARGUMENT) return KW_ERR_INTERNAL;
  kernel.known_args = 3;
  kernel.dtypes.bits[1] = 1;
  if (host->register_kernel(host->ctx, &kernel) != KW_ERR_INVALID_ARGUMENT) return KW_ERR_INTERNAL;
  kernel.dtypes.bits[1] = 0;
  kernel.flags = KW_KERNEL_MIXED_DTYPES;
  if (host->register_kernel(host->ctx, &kernel) != KW_ERR_INVALID_ARGUMENT) return KW_ERR_INTERNAL;
  kernel.name = name;
  kernel.flags = UINT64_C(1) << 31; /* a hint that no host knows */
  kernel.op = "sub.Tensor";         /* the same name for another op */
  return host->register_kernel(host->ctx, &kernel);
}

#define FIXTURE_INIT register_many
#include "fixture_plugin.h"
