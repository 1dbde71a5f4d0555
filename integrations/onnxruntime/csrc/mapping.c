/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of mapping.def as a table.
 */
#include "mapping.h"

#include "ops.h"

#define CALLS(text) text, NULL
#define BY(function) NULL, function
#define ROW(op_type, first, last, dtypes, host, ...) {"", op_type, first, last, dtypes, host, false, __VA_ARGS__},
#define OUTPUTS_ON_HOST(op_type, first, last, ...) {"", op_type, first, last, ANY, 0, true, __VA_ARGS__},

const mapping kw_ort_mappings[] = {
#include "mapping.def"
};
const unsigned kw_ort_mapping_count = sizeof kw_ort_mappings / sizeof *kw_ort_mappings;
