/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices and streams that live in a plugin's process: whose services ask by what the plugin calls them, and who is
 * told when the process ends.
 */
#ifndef KEYWAY_CORE_OBJECTS_H
#define KEYWAY_CORE_OBJECTS_H

#include "isolate/proxy.h"

struct kw_objects *kw_objects_make(void); /* NULL: no memory */
void kw_objects_free(struct kw_objects *objects);

/* False: no memory. */
bool kw_objects_add_device(struct kw_objects *objects, kw_target *device);
void kw_objects_remove_device(struct kw_objects *objects, const kw_target *device);
/* By the plugin's handle; NULL when there is none. */
kw_target *kw_objects_device(struct kw_objects *objects, uint64_t handle);

bool kw_objects_add_stream(struct kw_objects *objects, uint64_t handle, uint64_t token);
void kw_objects_remove_stream(struct kw_objects *objects, uint64_t handle);
/* Whether a stream has this token: another's a plugin must not blame. */
bool kw_objects_has_token(struct kw_objects *objects, uint64_t token);

/* The process has ended: each stream is told, and its device with it. */
void kw_objects_report_lost(struct kw_objects *objects, const kw_host_api *host, const char *text);

#endif /* KEYWAY_CORE_OBJECTS_H */
