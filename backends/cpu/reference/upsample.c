/* SPDX-License-Identifier: Apache-2.0
 *
 * The axes of upsampling.
 */
#include "upsample.h"

void kw_upsample_axes(kw_upsample_axis *axes, kw_upsample_kind kind, const kw_tensor_ref *large,
                      const kw_tensor_ref *small, const kw_value *rest) {
  const bool chooses = kind == KW_UPSAMPLE_LINEAR || kind == KW_UPSAMPLE_CUBIC;
  for (uint32_t d = 0; d + 2 < small->rank; d++) {
    const kw_value *scale = &rest[chooses + d];
    axes[d] = (kw_upsample_axis){.kind = kind, .in = small->shape[d + 2], .out = large->shape[d + 2]};
    if (chooses) axes[d].align_corners = rest[0].u.b;
    if (scale->tag == KW_TAG_FLOAT) axes[d].scale = scale->u.f;
  }
}

int64_t kw_upsample_nearest(const kw_upsample_axis *axis, int64_t i) {
  __extension__ typedef __int128 wide;
  const bool middle = axis->kind == KW_UPSAMPLE_NEAREST_EXACT;
  const double place = axis->scale > 0 ? ((double)i + (middle ? 0.5 : 0)) / axis->scale : 0;
  if (axis->scale > 0) return place < (double)axis->in ? (int64_t)place : axis->in - 1;
  const wide twice = 2 * (wide)i + middle;
  return (int64_t)(twice * axis->in / (2 * (wide)axis->out));
}
