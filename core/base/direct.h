/* SPDX-License-Identifier: Apache-2.0
 *
 * Public functions under the names that core has for them, direct_kw_op_call for kw_op_call: core's calls of them go to
 * the implementation, past the layers, which see the application's calls alone. The compiler includes this ahead of
 * each of core's sources; entry/entry.c has the names that applications know.
 */
#ifndef KEYWAY_CORE_DIRECT_H
#define KEYWAY_CORE_DIRECT_H

#include <keyway/interop.h>
#include <keyway/keyway.h>
#include <keyway/test.h>

#define KW_FUNCTION(type, name, parameters, arguments) type kw_##name parameters __asm__("direct_kw_" #name);
#include "functions.def"

#endif /* KEYWAY_CORE_DIRECT_H */
