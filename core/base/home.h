/* SPDX-License-Identifier: Apache-2.0
 *
 * The user's own folder.
 */
#ifndef KEYWAY_HOME_H
#define KEYWAY_HOME_H

/* $HOME, if that is the absolute path of a folder that is there, otherwise NULL: below what is not there (/nonexistent)
 * nothing is made. The text is the environment's. */
const char *kw_home(void);

#endif /* KEYWAY_HOME_H */
