/* SPDX-License-Identifier: Apache-2.0
 *
 * What convolutions and pools have in common: windows over the dimensions after the first two.
 */
#ifndef KEYWAY_ORT_WINDOW_H
#define KEYWAY_ORT_WINDOW_H

#include "run.h"

#define WINDOW_MAX 8

typedef struct window {
  unsigned dims; /* of space */
  int64_t size[WINDOW_MAX], kernel[WINDOW_MAX], stride[WINDOW_MAX], dilation[WINDOW_MAX];
  int64_t before[WINDOW_MAX], after[WINDOW_MAX]; /* pads */
  int64_t beyond[WINDOW_MAX];                    /* with ceil_mode: what the last window needs after the pads */
  int64_t out[WINDOW_MAX];
} window;

/* Of the node's attributes, with its kernel_shape or, without one, `kernel`. */
bool window_read(run *run, const value *x, const int64_t *kernel, window *out_window);
/* Whether no window fits in, so that the result is empty; it is put then, with x's dtype. */
bool window_none(run *run, const value *x, const window *window);
/* Whether what is padded follows from the sizes of what it is of: by auto_pad or ceil_mode. */
bool window_pads_by_size(const run *run);
/* The same pads before and after in every dimension, and none beyond. */
bool window_symmetric(const window *window);
/* x with pads of a number all around. */
value *window_pad(run *run, const value *x, const window *window, kw_value number, bool beyond);

#endif
