/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that embeds sentences.
 */
#include "program.h"

#include <stddef.h>

static const char usage[] =
    "usage: sentence_embedding [--device NAME] [--plugin FILE]... [--recorded DIR]\n"
    "\n"
    "Embeds sentences by a small model like MiniLM on the device and compares what comes of it with what PyTorch has\n"
    "computed.\n"
    "\n"
    "  --device NAME    a name as in `keyway list` (npu:0) or a policy (gpu); default: auto\n"
    "  --plugin FILE    load this plugin too\n"
    "  --recorded DIR   where the recorded tensors are; default: beside this program's source\n"
    "  --help           print this\n"
    "\n"
    "Exit status: 0 all tensors agree, 1 some do not or the device failed, 2 wrong usage, or no such device or file.\n";

int main(int argc, char **argv) {
  static const char *const names[] = {"minilm", NULL};
  return program_run(argc, argv, usage, names);
}
