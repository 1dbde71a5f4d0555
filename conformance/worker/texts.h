/* SPDX-License-Identifier: Apache-2.0
 *
 * Which texts mean something to a vendor's op. A schema does not say which there are; those that its reference tells
 * from others stand in the plugin's file.
 */
#ifndef KEYWAY_CONFORMANCE_TEXTS_H
#define KEYWAY_CONFORMANCE_TEXTS_H

#include "case/signature.h"

/* Fills in the texts of all arguments of `io_op` that take one, out of the constants in the file. The device takes
 * calls with each, and each changes what the reference says of some data; of an argument without a default the first
 * may be any that is taken. */
void kw_worker_find_texts(const kw_op *op, kw_device *device, const char *plugin_path, kw_suite_op *io_op);

#endif /* KEYWAY_CONFORMANCE_TEXTS_H */
