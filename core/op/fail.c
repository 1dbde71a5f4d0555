/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages about arguments.
 */
#include "op/fail.h"

#include "base/error.h"
#include "base/ref.h"

#include <stdarg.h>
#include <stdio.h>

kw_status kw_op_fail(const kw_op *op, uint32_t index, const char *format, ...) {
  char text[2 * KW_SHAPE_TEXT + 256];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument '%s': %s", op->schema.name, op->schema.args[index].name, text);
}
