/* SPDX-License-Identifier: Apache-2.0
 *
 * As a plugin built with the headers of ABI 0.8 would be: its tables end where the first slots of 0.9 begin.
 */
#define FIXTURE_KEY "old"
#include "fixture.h"

typedef struct memory_api_0_8 {
  uint32_t struct_size;
  uint32_t reserved;
  kw_status (*alloc)(void *device, const kw_alloc_info *info, kw_mem *out_mem);
  kw_status (*free)(void *device, kw_mem mem);
  kw_status (*copy)(void *device, void *stream, const kw_copy_info *copy);
} memory_api_0_8;
_Static_assert(sizeof(memory_api_0_8) == KW_MEMORY_API_MIN, "the memory table of 0.8");

typedef struct stream_api_0_8 {
  uint32_t struct_size;
  uint32_t reserved;
  kw_status (*create)(void *device, const kw_stream_info *info, void **out_stream);
  kw_status (*destroy)(void *device, void *stream);
  kw_status (*synchronize)(void *device, void *stream);
} stream_api_0_8;
_Static_assert(sizeof(stream_api_0_8) == KW_STREAM_API_MIN, "the stream table of 0.8");

static const memory_api_0_8 memory = {sizeof memory, 0, fixture_alloc, fixture_free, fixture_copy};
static const stream_api_0_8 stream = {sizeof stream, 0, fixture_stream_create, fixture_stream_destroy,
                                      fixture_stream_synchronize};

#define FIXTURE_ABI KW_ABI_MAKE(0, 8)
#define FIXTURE_DESC_SIZE KW_PLUGIN_DESC_MIN
#define FIXTURE_MEMORY &memory
#define FIXTURE_STREAM &stream
#include "fixture_plugin.h"
