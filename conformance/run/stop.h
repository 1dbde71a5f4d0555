/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that is asked to end: what it has so far is reported then.
 */
#ifndef KEYWAY_CONFORMANCE_STOP_H
#define KEYWAY_CONFORMANCE_STOP_H

/* From now on SIGINT, SIGTERM and SIGHUP ask this process to end, the first one of each; a second one ends it. */
void kw_stop_listen(void);
/* The signal that asked for it; 0 so far. */
int kw_stop_signal(void);

#endif /* KEYWAY_CONFORMANCE_STOP_H */
