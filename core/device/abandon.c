/* SPDX-License-Identifier: Apache-2.0
 *
 * An abandoned device keeps its plugin and its handle; the slots that core calls with it are those below.
 */
#include "device/abandon.h"

#include "base/error.h"
#include "base/fork.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- What is given up -------------------------------------------------------------------------------------------- */

typedef struct kept {
  void *pointer;
  struct kept *next;
} kept;

static kept *_Atomic all;

void kw_abandon_keep(void *pointer) {
  kept *node = malloc(sizeof *node);
  if (node == NULL) return; /* it is not freed either way */
  *node = (kept){pointer, atomic_load(&all)};
  while (!atomic_compare_exchange_weak(&all, &node->next, node)) continue;
}

/* ---- The slots --------------------------------------------------------------------------------------------------- */

static kw_status refuse(void) {
  return kw_error_offer(kw_fail(KW_ERR_DEVICE_LOST, "the device was abandoned"));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  static kw_status KW_CALL refuse_##group##_##name parameters {      \
    return refuse();                                                 \
  }
#include "slots.def"
#pragma GCC diagnostic pop

/* For slots that end something: the plugin is not told. */
static kw_status KW_CALL keep_object(void *device, void *object) {
  (void)device;
  kw_abandon_keep(object);
  return KW_OK;
}

static kw_plugin nobody;

static void make_nobody(void) {
  nobody.key = nobody.vendor = "";
#define KW_SLOT(group, name, since, required, parameters, arguments) nobody.group.name = refuse_##group##_##name;
#include "slots.def"
  nobody.memory.dealloc = nobody.memory.free_host = keep_object;
  nobody.stream.destroy = nobody.event.destroy = nobody.graph.destroy = keep_object;
  nobody.interop.release_memory = keep_object;
}

/* ---- Abandoning -------------------------------------------------------------------------------------------------- */

kw_status kw_device_abandon(kw_device *device) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_abandon: argument device is NULL.");
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  pthread_once(&once, make_nobody);
  kw_device_mark_if_lost(device, KW_ERR_DEVICE_LOST);
  atomic_store(&device->slots, &nobody);
  atomic_store(&device->abandoned, true);
  return KW_OK;
}
