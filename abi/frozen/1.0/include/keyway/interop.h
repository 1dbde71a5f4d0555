/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway for applications that share memory: tensors on memory of others, files among it, memory for others, addresses
 * for frameworks, and DLPack. The conventions are those of keyway.h.
 */
#ifndef KEYWAY_INTEROP_H
#define KEYWAY_INTEROP_H

#include <keyway/keyway.h>

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor; /* dlpack.h; any copy of the standard's header will do */
struct DLManagedTensorVersioned;

/* ---- Imports ----------------------------------------------------------------------------------------------------- */

/* Called once, with what was given beside it, when no stream uses an import any more. On whatever thread releases its
 * last tensor, allocates next on the device, trims or closes it; it must not wait for streams. */
typedef void(KW_CALL *kw_deleter)(void *user);

/* A tensor u8[size] on memory that somebody else made, used where it lies: nothing is copied, by no one. Other dtypes
 * and shapes are views of it (kw_tensor_reinterpret), at multiples of their size from an address that is one, too. The
 * memory stays valid until `deleter` (may be NULL) has been called with `user`, which is when the last tensor on it is
 * gone and the work that uses it has ended, at the latest when the device closes. A handle (KW_HANDLE_FD and on) stays
 * the caller's. With KW_EXTERNAL_READ_ONLY such tensors are arguments only: as a result, as an argument marked (a!) and
 * for kw_tensor_write they are KW_ERR_INVALID_ARGUMENT. KW_ERR_UNSUPPORTED where the device cannot: copy instead. On
 * failure the deleter is not called. */
KW_API kw_status kw_tensor_import(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                                  kw_tensor **out_tensor);

/* A read-only tensor u8[size of the file] on a file that is mapped, not read: pages come as they are used and go when
 * memory is short. The file must not become shorter while the tensor lives (SIGBUS on use). KW_ERR_NOT_FOUND without
 * such a file, KW_ERR_IO and the system's reason where it cannot be read; KW_ERR_UNSUPPORTED as above. */
KW_API kw_status kw_tensor_from_file(kw_device *device, const char *path, kw_tensor **out_tensor);

/* Whether ops may not write to the tensor: it lies in memory that was imported read-only. */
KW_API bool kw_tensor_is_read_only(const kw_tensor *tensor);

/* ---- Exports ----------------------------------------------------------------------------------------------------- */

/* Names the memory of a contiguous tensor for others, this process among them, that take it by kw_tensor_import: all
 * fields of *out_memory. `kind` is KW_HANDLE_IPC, for memory made with KW_MEM_IPC (kw_tensor_create_in), or another one
 * but KW_HANDLE_HOST, for such made with KW_MEM_EXPORTABLE; KW_ERR_INVALID_ARGUMENT for other memory,
 * KW_ERR_UNSUPPORTED for a kind that the device does not have. A handle is the caller's to close; imports made of it
 * stay. The bytes of KW_HANDLE_IPC may be sent to any process of the same user, and are good for imports while the
 * tensor's memory lives. An export waits for nothing: whoever imports sees what work has written by then, and both
 * sides keep their work apart. */
KW_API kw_status kw_tensor_export(const kw_tensor *tensor, kw_handle_kind kind, kw_external_memory *out_memory);

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* For frameworks that do arithmetic on pointers to tensors. Each device has one range of addresses, reserved when it is
 * first asked for, of which tensors get stretches. Nobody can access it: who follows such a pointer is stopped at once.
 * Thread-safe. */

/* A stretch of addresses for a contiguous tensor: as long as the tensor, its start a multiple of 512 and of the
 * tensor's alignment. No other stretch begins before it has ended by at least a byte, and the addresses of a stretch
 * that was released come back late. The stretch keeps the tensor. KW_ERR_OUT_OF_MEMORY when no address is left. */
KW_API kw_status kw_address_reserve(kw_tensor *tensor, void **out_address);
/* Makes the stretch that starts at `address` stand for another contiguous tensor of the device, of the same size in
 * bytes: what holds the old addresses finds the new memory. */
KW_API kw_status kw_address_assign(void *address, kw_tensor *tensor);
/* Ends the stretch that starts at `address`. NULL is ignored. */
KW_API kw_status kw_address_release(void *address);
/* The device in whose range an address lies; NULL for all others. */
KW_API kw_device *kw_address_device(const void *address);
/* A view with element (0, 0, ...) at an address inside of a stretch, or just behind it for one without elements; dtype,
 * shape and strides as given. KW_ERR_NOT_FOUND where there is no stretch, KW_ERR_INVALID_ARGUMENT where the view
 * reaches past the memory. kw_tensor_describe of it says which memory that is, and where in it. Whoever asks for the
 * same view again may get the same tensor: each is to be released once. */
KW_API kw_status kw_tensor_at(const void *address, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                              const int64_t *strides, kw_tensor **out_view);

/* ---- Names elsewhere --------------------------------------------------------------------------------------------- */

/* What the tensor's memory, the stream or the device itself is called in the device's own runtime. The tensor's first
 * element is kw_tensor_describe(tensor)->offset bytes behind it. KW_ERR_UNSUPPORTED where the plugin does not say. */
KW_API kw_status kw_tensor_native_handle(const kw_tensor *tensor, kw_native_handle *out_handle);
KW_API kw_status kw_stream_native_handle(kw_stream *stream, kw_native_handle *out_handle);
KW_API kw_status kw_device_native_handle(kw_device *device, kw_native_handle *out_handle);

/* ---- DLPack ------------------------------------------------------------------------------------------------------ */

/* The tensor for another library of this process, without a copy. `consumer`: the stream of the tensor's device on
 * which it will be used: its later work waits for all work that uses the tensor's memory so far, and the memory is not
 * reused before that stream has passed what it was given until the deleter is called. NULL: this call waits. The
 * deleter may be called on any thread, also after the device was closed and while the process exits. The memory is
 * named as the plugin names it (kw_tensor_native_handle), otherwise by kDLExtDev, and then only Keyway understands it.
 * Read-only memory says so; the unversioned form cannot, and is refused for it. */
KW_API kw_status kw_tensor_to_dlpack(kw_tensor *tensor, kw_stream *consumer, struct DLManagedTensorVersioned **out);
KW_API kw_status kw_tensor_to_dlpack_unversioned(kw_tensor *tensor, kw_stream *consumer, struct DLManagedTensor **out);

/* A tensor on what another library, or this one, has exported: its memory where it lies. On success `managed` belongs
 * to the tensor, and its deleter is called as kw_deleter is; on failure it stays the caller's. The caller has made sure
 * that the contents are there, as DLPack's consumers do by passing their stream to the producer. A tensor of Keyway's
 * own on the same device comes back as a view of it; any other must lie in host memory (kDLCPU and its pinned and
 * managed kin) that `device` can import. KW_ERR_UNSUPPORTED: another version's layout, a dtype, a device, a negative
 * stride or a misplaced first element (not at a multiple of its size) that cannot be taken without a copy. */
KW_API kw_status kw_tensor_from_dlpack(kw_device *device, struct DLManagedTensorVersioned *managed,
                                       kw_tensor **out_tensor);
KW_API kw_status kw_tensor_from_dlpack_unversioned(kw_device *device, struct DLManagedTensor *managed,
                                                   kw_tensor **out_tensor);

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_INTEROP_H */
