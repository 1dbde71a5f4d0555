/* SPDX-License-Identifier: Apache-2.0
 *
 * The version of the conformance suite.
 */
#ifndef KEYWAY_CONFORMANCE_SUITE_VERSION_H
#define KEYWAY_CONFORMANCE_SUITE_VERSION_H

/* What a level has to pass is frozen under this name in conformance/mustpass/; another list is another version. */
#define KW_SUITE_VERSION "1.0"

#endif /* KEYWAY_CONFORMANCE_SUITE_VERSION_H */
