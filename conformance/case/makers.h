/* SPDX-License-Identifier: Apache-2.0
 *
 * The makers of cases, each in the file of its kind of ops.
 */
#ifndef KEYWAY_CONFORMANCE_MAKERS_H
#define KEYWAY_CONFORMANCE_MAKERS_H

#include "case/case.h"

/* A maker fills a case of its class and number, or returns false when there is none. A shape rule names the maker of
 * its ops' cases; make.c has the table. */
typedef bool kw_case_maker(kw_case *c);
#define KW_SHAPE_RULE(name, infer, cases, text) kw_case_maker kw_case_make_##cases;
#include "shape_rules.def"
kw_case_maker kw_case_make_vendor;

/* Of KW_CLASS_PATTERNS and KW_CLASS_DENSE. */
kw_case_maker kw_case_make_block;

/* Those that others choose, where a shape rule has ops of several kinds. */
kw_case_maker kw_case_make_scan, kw_case_make_softmax, kw_case_make_random;

#endif /* KEYWAY_CONFORMANCE_MAKERS_H */
