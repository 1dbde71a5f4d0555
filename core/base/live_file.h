/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process tells of itself while KEYWAY_TOP asks for it, for `keyway top`: a file of text in a folder of the
 * user's, named by the process's id, whole or not there. Written by core/runtime/live.c, read by cli/live_reader.c.
 *
 *     keyway-live 1
 *     process 1234 567 890 python3         id, when it began, when this was written, name
 *     device npu:0 12 3 0 4096 4096 ...    a line for each open device: the members of kw_live_device in their order
 */
#ifndef KEYWAY_CORE_LIVE_FILE_H
#define KEYWAY_CORE_LIVE_FILE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#define KW_LIVE_FIRST_LINE "keyway-live 1"
#define KW_LIVE_PERIOD_MS 500 /* from one writing to the next: what rates and shares are of */
#define KW_LIVE_LIMIT 16384   /* bytes of a file */

typedef struct kw_live_device {
  char name[80];
  uint64_t launches, decomposed, fallbacks;
  uint64_t bytes_to_device, bytes_to_host;
  uint64_t allocated, held, total; /* bytes in tensors, taken from the plugin, and of the device (0 unknown) */
  double launches_per_second;
  double busy; /* the share of looks at which a stream had work; of a cpu device the processors that the process uses */
} kw_live_device;

#define KW_LIVE_INTEGERS(format) \
  " %" format " %" format " %" format " %" format " %" format " %" format " %" format " %" format
#define KW_LIVE_PRINT "device %s" KW_LIVE_INTEGERS(PRIu64) " %.3f %.4f\n"
#define KW_LIVE_SCAN "device %79s" KW_LIVE_INTEGERS(SCNu64) " %lf %lf"

/* The folder: $XDG_RUNTIME_DIR/keyway, without one a folder in the user's cache. -1: there is none, or others may write
 * there. */
int kw_live_folder_open(bool make);

/* When a process began, in the kernel's ticks: with the id it names one process. 0: there is none, or it has ended. */
uint64_t kw_live_start_of(int process);

/* Nanoseconds, by the same clock for all processes. */
uint64_t kw_live_now(void);

#endif /* KEYWAY_CORE_LIVE_FILE_H */
