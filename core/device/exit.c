/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's exit handler: closes the device that the library keeps open, then shuts the plugins down.
 */
#include "device/exit.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"

#include <stdlib.h>

static atomic_bool exiting;
static kw_device *_Atomic kept;
static void (*_Atomic before)(void);

static void shut_down(void) {
  if (kw_fork_happened() || atomic_exchange(&exiting, true)) return;
  kw_exit_step *first = atomic_load(&before);
  if (first != NULL) first();
  kw_device *device = atomic_exchange(&kept, NULL);
  if (device != NULL) kw_device_close(device);
  kw_plugins_shut_down();
}

void kw_exit_register(void) {
  /* Handlers run in reverse order: after each load and first open there may be new ones of drivers, which must run
   * after ours. The first call of shut_down does the work. */
  if (atexit(shut_down) != 0) kw_log(KW_LOG_WARN, "plugins will not be shut down at exit: atexit is full");
}

void kw_exit_before(kw_exit_step *step) {
  atomic_store(&before, step);
}

kw_status kw_exit_check(void) {
  if (!atomic_load_explicit(&exiting, memory_order_acquire)) return KW_OK;
  return kw_fail(KW_ERR_UNSUPPORTED, "the process is exiting and the plugins are shut down: finish before exit");
}

kw_device *kw_exit_kept(void) {
  return atomic_load(&kept);
}

kw_device *kw_exit_keep(kw_device *device) {
  kw_device *other = NULL;
  if (atomic_compare_exchange_strong(&kept, &other, device)) return device;
  kw_device_close(device);
  return other;
}
