/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults on demand: who may order them.
 */
#ifndef KEYWAY_CORE_FAULT_H
#define KEYWAY_CORE_FAULT_H

/* KW_INIT_TEST: from now on, in this process. */
void kw_faults_allow(void);

#endif /* KEYWAY_CORE_FAULT_H */
