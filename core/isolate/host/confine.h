/* SPDX-License-Identifier: Apache-2.0
 *
 * What the process of an isolated plugin may not do, from before the plugin is loaded to its end.
 */
#ifndef KEYWAY_ISOLATE_CONFINE_H
#define KEYWAY_ISOLATE_CONFINE_H

#include <stdbool.h>

/* What a manifest allows beyond the profile; words of the command line, ended by NULL: "execute", "network", or a path
 * below /dev/. */
typedef char *const *kw_allowances;

/* Confines the process for ever, as far as this kernel and this build can. False: it could not be done as it should.
 * *out_missing says to people what there is not of it; "" when nothing. */
bool kw_confine(kw_allowances allowed, const char **out_missing);

#endif /* KEYWAY_ISOLATE_CONFINE_H */
