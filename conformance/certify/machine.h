/* SPDX-License-Identifier: Apache-2.0
 *
 * What a certificate says of the machine that a device was judged on.
 */
#ifndef KEYWAY_CONFORMANCE_MACHINE_H
#define KEYWAY_CONFORMANCE_MACHINE_H

#include "wire/device_facts.h"

/* JSON: system, processor, memory, the device's driver, Keyway's version and what it was told by its environment; to be
 * freed. */
char *kw_machine_describe(const kw_device_facts *facts);

#endif /* KEYWAY_CONFORMANCE_MACHINE_H */
