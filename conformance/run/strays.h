/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that a plugin has put where nobody finds them: in sessions of their own, their parents gone.
 */
#ifndef KEYWAY_CONFORMANCE_STRAYS_H
#define KEYWAY_CONFORMANCE_STRAYS_H

#define KW_STRAYS_MARK 64

/* From now on such processes become children of this one. The mark, "NAME=VALUE", is to be in the environment of
 * workers. */
void kw_strays_take_in(char out_mark[KW_STRAYS_MARK]);
/* Ends all those. To be called when no worker runs. */
void kw_strays_end(void);

#endif /* KEYWAY_CONFORMANCE_STRAYS_H */
