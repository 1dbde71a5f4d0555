/* SPDX-License-Identifier: Apache-2.0
 *
 * The one place where a call turns back to the beginning.
 */
#include "call/nested.h"

kw_call_fn kw_call_nested;
