/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's services for a plugin in its own process: what it asks for is checked and handed to the host table.
 */
#ifndef KEYWAY_CORE_SERVICE_H
#define KEYWAY_CORE_SERVICE_H

#include "isolate/link.h"

/* A thread that serves this lane until the process has ended. False: there is none to be had. */
bool kw_service_start(kw_link *link, uint32_t lane);

#endif /* KEYWAY_CORE_SERVICE_H */
