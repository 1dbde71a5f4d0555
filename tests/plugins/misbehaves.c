/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose slots do, once its device is open, the one thing that the variable FIXTURE_MISDEED names.
 */
#define FIXTURE_KEY "misbehaves"
#include "fixture.h"

#include <fenv.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static bool does(const char *misdeed) {
  const char *named = getenv("FIXTURE_MISDEED");
  return named != NULL && strcmp(named, misdeed) == 0;
}

static void on_signal(int number) {
  (void)number;
}

static kw_status open_and_change_process(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  if (does("slot-changes-process")) signal(SIGUSR2, on_signal);
  if (does("slot-changes-umask")) umask(0);
  if (does("slot-changes-environment")) setenv("FIXTURE_LEFT", "behind", 1);
  return fixture_open(plugin, index, info, out_device);
}

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (does("slot-without-result")) return KW_OK;
  if (does("slot-status-unknown")) return (kw_status)77;
  if (does("slot-touches-result")) {
    static char none;
    *out_mem = &none;
    return KW_ERR_OUT_OF_MEMORY;
  }
  return fixture_alloc(device, info, out_mem);
}

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  (void)device;
  const clock_t begin = clock();
  while (does("slot-slow") && clock() - begin < CLOCKS_PER_SEC / 100) continue;
  *out_free = does("slot-number-absurd") ? 2 : 1;
  *out_total = 1;
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  if (does("kernel-changes-process")) fesetround(FE_UPWARD);
  return fixture_add(call);
}

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  (void)call;
  *out_size = does("kernel-size-absurd") ? UINT64_MAX - 1 : 0;
  return KW_OK;
}

static kw_status init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  fixture_host = host;
  *out_plugin = &fixture_state;
  return host->register_kernel(host->ctx, &(kw_kernel_desc){.struct_size = sizeof(kw_kernel_desc),
                                                            .op = "add.Tensor",
                                                            .name = "add",
                                                            .dtypes = {{KW_DTYPE_BIT(KW_F32), 0}},
                                                            .known_args = 2,
                                                            .can_implement = fixture_can_add,
                                                            .workspace_size = workspace_size,
                                                            .launch = launch});
}

static const kw_memory_api memory_table = {
    .struct_size = sizeof memory_table, .alloc = alloc, .dealloc = fixture_free, .copy = fixture_copy, .usage = usage};

#define FIXTURE_OPEN open_and_change_process
#define FIXTURE_MEMORY &memory_table
#define FIXTURE_INIT init
#include "fixture_plugin.h"
