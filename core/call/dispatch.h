/* SPDX-License-Identifier: Apache-2.0
 *
 * kw_op_call, from the library's start on.
 */
#ifndef KEYWAY_CORE_DISPATCH_H
#define KEYWAY_CORE_DISPATCH_H

/* Makes kw_op_call what kw_call_nested leads to. At the library's start. */
void kw_dispatch_start(void);

#endif /* KEYWAY_CORE_DISPATCH_H */
