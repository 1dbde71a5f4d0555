/* SPDX-License-Identifier: Apache-2.0
 *
 * What ops want of their inputs and attributes: domains and values, per op.
 */
#ifndef KEYWAY_CONFORMANCE_ATTR_H
#define KEYWAY_CONFORMANCE_ATTR_H

#include "case/case.h"

/* The domain of an argument's values in classes that are not about values. */
kw_domain kw_case_domain(const kw_case *c, uint32_t arg);

/* Fills the arguments that are no tensors. False when the case number asks for a combination that does not exist. */
bool kw_case_set_attrs(kw_case *c);

#endif /* KEYWAY_CONFORMANCE_ATTR_H */
