/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for a thread's part of a loop, from the host.
 */
#include "room.h"

void *kw_fast_room(const kw_host_api *host, uint64_t bytes, atomic_int *status) {
  void *room;
  const kw_status allocated = host->host_alloc(host->ctx, bytes, 64, &room);
  if (allocated == KW_OK) return room;
  atomic_store(status, allocated);
  return NULL;
}
