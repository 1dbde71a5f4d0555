/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in a row of mapping.def: calls of ops, inside each other, as text.
 *
 *     add.Tensor(0, 1)                     an op by its name; 0, 1, ...: the node's inputs
 *     leaky_relu(0, @alpha=0.01)           an attribute, and what it is where the node does not say
 *     clamp.Tensor(0, ?1, ?2)              an input that may be missing
 *     clamp(0, min=-1.0, max=none)         numbers, none, true, false, 'text'; arguments by name
 *
 * A number or attribute becomes what the op's schema says in its place. The whole is output 0 of the node.
 */
#ifndef KEYWAY_ORT_EXPRESSION_H
#define KEYWAY_ORT_EXPRESSION_H

#include "run.h"

typedef struct expression expression;

/* NULL with *out_why (static text) for one that cannot be read. */
expression *expression_parse(const char *text, const char **out_why);
void expression_free(expression *expression);
bool expression_run(const expression *expression, run *run);

#endif
