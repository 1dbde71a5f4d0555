/* SPDX-License-Identifier: Apache-2.0
 *
 * The slots as they are sent: kw_send_GROUP_SLOT for each of slots.def, for those that do more than that.
 */
#ifndef KEYWAY_CORE_PROXY_SLOTS_H
#define KEYWAY_CORE_PROXY_SLOTS_H

#include "isolate/proxy.h"

#define KW_SLOT(group, name, since, required, parameters, arguments) \
  kw_status KW_CALL kw_send_##group##_##name parameters;
#include "slots.def"

/* A call that ends something of a device's, or KW_OK: it has ended with the process. */
static inline bool kw_proxy_is_gone(const void *device) {
  return kw_link_is_dead(((const kw_target *)device)->link);
}
static inline kw_status kw_proxy_end(const void *device, kw_status status) {
  return status == KW_ERR_DEVICE_LOST && kw_proxy_is_gone(device) ? KW_OK : status;
}
#define KW_PROXY_END(device, call) (kw_proxy_is_gone(device) ? KW_OK : kw_proxy_end(device, call))

#endif /* KEYWAY_CORE_PROXY_SLOTS_H */
