/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that runs one block of a decoder, as in GPT-2 or in Llama, or trains it.
 */
#include "program.h"

#include <stddef.h>

static const char usage[] =
    "usage: decoder_block [--device NAME] [--plugin FILE]... [--recorded DIR] [--train] gpt2|llama\n"
    "\n"
    "Runs one block of a decoder on the device and compares what comes of it with what PyTorch has computed.\n"
    "\n"
    "  --device NAME    a name as in `keyway list` (npu:0) or a policy (gpu); default: auto\n"
    "  --plugin FILE    load this plugin too\n"
    "  --recorded DIR   where the recorded tensors are; default: beside this program's source\n"
    "  --train          train: twice forward, loss, backward, AdamW; then forward\n"
    "  --help           print this\n"
    "\n"
    "Exit status: 0 all tensors agree, 1 some do not or the device failed, 2 wrong usage, or no such device or file.\n";

int main(int argc, char **argv) {
  static const char *const names[] = {"gpt2", "llama", NULL};
  return program_run(argc, argv, usage, names);
}
