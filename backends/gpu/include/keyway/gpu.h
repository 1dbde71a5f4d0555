/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway's plugin kit: a whole plugin for a chip whose runtime compiles kernels (OpenCL, CUDA, HIP, Level Zero, a
 * vendor's own), in a static library that the plugin links (CMake target keyway::gpu, pkg-config package keyway-gpu).
 *
 * The plugin fills a kw_gpu_driver, the table of what its runtime can do, and answers keyway_plugin_query with
 * kw_gpu_query. Everything else is the kit's: the slots of plugin.h, their checks, the life of devices and streams, and
 * a kernel for every op. Kernels of the plugin's own go beside the kit's with a higher priority.
 *
 * The kit is linked into the plugin and promises no binary compatibility: rebuild with the headers it came with.
 */
#ifndef KEYWAY_GPU_H
#define KEYWAY_GPU_H

#include <keyway/plugin.h>
#include <pthread.h>

/* ---- Devices and streams ----------------------------------------------------------------------------------------- */

/* A physical device, as the runtime names it. */
typedef struct kw_gpu_physical {
  void *owner; /* the runtime's platform or driver that it belongs to; NULL where there is but one */
  void *id;
} kw_gpu_physical;

typedef struct kw_gpu_list kw_gpu_list; /* of physical devices */

/* Adds a device; for use inside find. KW_ERR_OUT_OF_MEMORY, with its text, when the host has none. */
kw_status kw_gpu_list_add(kw_gpu_list *list, void *owner, void *id);
/* The value of one of the driver's options of KW_OPTION_INIT; for use inside find. */
const char *kw_gpu_list_option(const kw_gpu_list *list, const kw_option_desc *option);

typedef struct kw_gpu_driver kw_gpu_driver;

/* An open device: the head of the plugin's own struct, where it has one. */
typedef struct kw_gpu_device {
  const kw_gpu_driver *driver;
  const kw_host_api *host;
  kw_gpu_physical physical;
  bool has_f64;                     /* computes in double precision */
  struct kw_gpu_programs *programs; /* what is built so far */
  struct kw_gpu_activity *activity; /* marks that nobody has drained; NULL: the driver has none */
  pthread_mutex_t memories_lock;
  struct kw_gpu_memory *memories; /* of another kind than KW_MEM_DEVICE, or not its own alone; under memories_lock */

  /* The plugin's, all zeros before open. */
  uint32_t vector_bytes; /* 64 on a CPU: an item of a kernel takes that many bytes of a tensor at a time (the prelude is
                            OpenCL C). 0 on a GPU: one element */
  pthread_mutex_t lock;  /* for the plugin's own use: the kit never takes it */
  void *handle;
} kw_gpu_device;

/* A stream: the head of the plugin's own struct, where it has one. */
typedef struct kw_gpu_stream {
  kw_gpu_device *device;
  uint64_t token;                     /* of kw_stream_info */
  struct kw_gpu_callbacks *callbacks; /* the thread that runs them; NULL before the first */
  struct kw_gpu_recorder *recorder;   /* of what is enqueued while a graph is recorded; otherwise NULL */

  /* The plugin's, all zeros before stream_create. */
  pthread_mutex_t lock; /* for appending; the kit holds it while it calls callback_hold */
  bool failed;          /* kw_gpu_stream_fail has reported; the plugin clears it, locked, when it has synchronised */
  void *handle;
} kw_gpu_stream;

/* Reports to the host that work on the stream failed after it was enqueued, unless `failed` says that the host knows.
 * The stream is locked. `call_id` is the launch's that failed, 0 when that is not known. */
void kw_gpu_stream_fail(kw_gpu_stream *stream, uint64_t call_id, kw_status status, const char *text);

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* One kernel parameter: a buffer, or bytes by value when `data` is set. */
typedef struct kw_gpu_arg {
  kw_mem mem;
  const void *data;
  size_t size;
} kw_gpu_arg;

typedef struct kw_gpu_launch {
  void *kernel;
  const kw_gpu_arg *args;
  uint32_t arg_count;
  uint32_t local[2]; /* items of a work-group; always the same for one kernel */
  uint64_t groups[2];
  uint64_t call_id;
} kw_gpu_launch;

/* ---- Host callbacks ---------------------------------------------------------------------------------------------- */

/* A function of the host's that a stream has to call: the head of the plugin's own struct, where it has one. Each
 * stream has a thread for them, started at its first: a callback may block for long, and must hold up neither the
 * runtime's own threads nor other streams. They run in the order in which they were enqueued. */
typedef struct kw_gpu_callback {
  struct kw_gpu_callback *next;
  kw_gpu_stream *stream;
  uint64_t token;
} kw_gpu_callback;

/* ---- The driver -------------------------------------------------------------------------------------------------- */

/* What a runtime can do. Every function follows the rules of plugin.h for slots: it may be called from any thread, and
 * one that fails has called host->set_error (kw_gpu_error does). "(optional)": NULL says that the runtime cannot; the
 * host or the kit then does without. */
struct kw_gpu_driver {
  /* What the plugin says of itself: see kw_plugin_desc. */
  const char *key, *vendor, *version, *description;
  const char *build;     /* __VERSION__ */
  const char *sanitizer; /* KW_GPU_SANITIZER */

  /* ---- Devices ---- */

  /* What probe, find and open do to handlers of signals is undone: a runtime with a compiler inside installs some. */

  /* kw_plugin_desc.probe. (optional: the runtime is always there) */
  kw_status (*probe)(const char **out_reason);
  /* Adds every device to `list`, in the runtime's order; called once, at init. That there is none is no error. */
  kw_status (*find)(const kw_host_api *host, kw_gpu_list *list);
  /* kw_device_api.info. */
  kw_status (*describe)(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info);
  /* Whether it computes in double precision. (optional: all devices do) */
  bool (*has_f64)(const kw_gpu_physical *physical);
  /* What a built module depends on beside its sources: the device, the versions of driver and compiler, their options.
   * An empty text: modules are not kept on disk. (optional: they are not) */
  void (*identify)(const kw_gpu_physical *physical, char *out, size_t size);
  /* Kernels and ops of the plugin's own; called at init, after the kit's are registered. (optional) */
  kw_status (*register_kernels)(const kw_host_api *host, bool has_f64);
  size_t device_size; /* of the struct that begins with a kw_gpu_device; 0: that alone */
  /* kw_device_api.attribute, but without a text: KW_ERR_NOT_FOUND for what the runtime does not tell. What follows from
   * the place on the bus (numa_node, pci_vendor_id, pci_device_id) the kit finds out itself. (optional) */
  kw_status (*attribute)(const kw_host_api *host, const kw_gpu_physical *physical, const char *key,
                         kw_attribute *out_value);
  /* Makes the runtime's part of a device whose head is filled. What fails leaves nothing behind. (optional) */
  kw_status (*open)(kw_gpu_device *device, const kw_open_info *info);
  /* Undoes open; kernels and modules are destroyed. (optional) */
  kw_status (*close)(kw_gpu_device *device);

  /* ---- Memory: see kw_memory_api ---- */

  uint32_t mem_kinds; /* bit k: alloc knows kw_mem_kind k; KW_MEM_DEVICE is known without */
  uint64_t mem_flags; /* of KW_MEM_'s critical ones: those that alloc knows, for KW_MEM_DEVICE */
  /* The kind is a known one, and so are critical flags. */
  kw_status (*alloc)(kw_gpu_device *device, const kw_alloc_info *info, kw_mem *out_mem);
  /* `kind` is what it was allocated as, which kw_gpu_mem_kind knows no more: the address may have a new owner before
   * this returns. When it fails, kw_gpu_mem_kind knows the memory again. */
  kw_status (*dealloc)(kw_gpu_device *device, kw_mem mem, kw_mem_kind kind);
  /* The kind is one of the three of plugin.h. */
  kw_status (*copy)(kw_gpu_device *device, kw_gpu_stream *stream, const kw_copy_info *copy);
  /* (optional) */
  kw_status (*fill)(kw_gpu_device *device, kw_gpu_stream *stream, kw_mem mem, uint64_t offset, uint64_t size,
                    const void *pattern, uint32_t pattern_size);
  /* (optional) */
  kw_status (*usage)(kw_gpu_device *device, uint64_t *out_free, uint64_t *out_total);
  /* (optional, both) */
  kw_status (*alloc_host)(kw_gpu_device *device, uint64_t size, void **out_memory);
  kw_status (*free_host)(kw_gpu_device *device, void *memory);
  /* (optional) */
  kw_status (*copy_peer)(kw_gpu_device *device, kw_gpu_stream *stream, kw_gpu_device *src_device,
                         const kw_copy_info *copy);
  /* kw_gpu_map_by_address and its counterpart, where a kw_mem is an address that the host reaches unless it is
   * KW_MEM_DEVICE. (optional, both) */
  kw_status (*map)(kw_gpu_device *device, kw_gpu_stream *stream, const kw_map_info *info, void **out_pointer);
  kw_status (*unmap)(kw_gpu_device *device, kw_gpu_stream *stream, const kw_map_info *info, void *pointer);
  /* Where memory lies that a driver has imported whose `groups` have the interop group: one place imported twice has
   * two kw_mem, and what is written to one is read from the other. False for memory that is no import, true for one,
   * with the host's address of it, or NULL where there is none that tells places apart. (optional: nothing is imported
   * by itself) */
  bool (*import_place)(kw_gpu_device *device, kw_mem mem, const void **out_host);

  /* ---- Memory of others and for others (optional; where a kw_mem is an address) ---- */

  /* host_register, host_unregister and native_handle are there together, or none of this part is. */

  /* From here on the process's devices reach these pages of the host, which no other registration overlaps.
   * KW_ERR_UNSUPPORTED for pages that they do not reach. */
  kw_status (*host_register)(kw_gpu_device *device, void *begin, uint64_t size, bool read_only);
  kw_status (*host_unregister)(kw_gpu_device *device, void *begin);
  /* What this device calls registered pages. (optional: what the host calls them) */
  kw_status (*host_address)(kw_gpu_device *device, void *begin, void **out_there);
  /* Memory by other handles than host ranges, and its end; memory for others. (optional, all three) */
  kw_status (*import_handle)(kw_gpu_device *device, const kw_external_memory *info, kw_mem *out_mem);
  kw_status (*release_handle)(kw_gpu_device *device, kw_mem mem);
  kw_status (*export_handle)(kw_gpu_device *device, kw_mem mem, kw_external_memory *inout_info);
  /* kw_interop_api.native_handle, for the kinds that there are. `imported`: the memory is the host's. */
  kw_status (*native_handle)(kw_gpu_device *device, kw_object_kind kind, void *object, bool imported,
                             kw_native_handle *out_handle);

  /* ---- Streams: see kw_stream_api ---- */

  size_t stream_size; /* of the struct that begins with a kw_gpu_stream; 0: that alone */
  /* Makes the runtime's part of a stream whose head is filled. What fails leaves nothing behind. */
  kw_status (*stream_create)(kw_gpu_stream *stream, uint64_t flags);
  /* The stream was synchronised, and its callbacks have run. */
  kw_status (*stream_destroy)(kw_gpu_stream *stream);
  /* KW_ERR_TIMEOUT after timeout_ns nanoseconds; a runtime that knows no such limit waits with kw_gpu_poll. */
  kw_status (*stream_synchronize)(kw_gpu_stream *stream, uint64_t timeout_ns);
  /* (optional) */
  kw_status (*stream_query)(kw_gpu_stream *stream);

  /* ---- Host callbacks (optional, all three) ---- */

  size_t callback_size; /* of the struct that begins with a kw_gpu_callback; 0: that alone */
  /* Marks on the stream what was enqueued before, and holds what comes after until callback_done. The stream is locked.
   * What fails leaves nothing behind. */
  kw_status (*callback_hold)(kw_gpu_callback *callback);
  /* Returns when all that was before has finished or failed; then the callback runs, whatever became of the work. */
  void (*callback_wait)(kw_gpu_callback *callback);
  /* Lets the stream go on. */
  void (*callback_done)(kw_gpu_callback *callback);

  /* ---- Events (optional, all) ---- */

  /* Where an event of the runtime is good for one record and counts references: one of kw_event_api then holds that of
   * its last record. A plugin whose runtime's events can be recorded again has a group of its own among `groups`. */
  kw_status (*event_record)(kw_gpu_stream *stream, void **out_event); /* with a reference for the caller */
  kw_status (*event_wait)(kw_gpu_stream *stream, void *event);
  /* Work that failed has passed as well: its stream reports the failure. */
  kw_status (*event_query)(kw_gpu_device *device, void *event);
  kw_status (*event_synchronize)(kw_gpu_device *device, void *event, uint64_t timeout_ns);
  kw_status (*event_elapsed)(kw_gpu_device *device, void *start, void *end, uint64_t *out_ns);
  void (*event_keep)(void *event); /* one reference more */
  void (*event_drop)(void *event); /* one less */

  /* ---- Activity records (optional, all): see kw_activity_api ---- */

  /* What tells when a command ran, an event of the runtime's for instance, is its mark: kw_gpu_activity_note gives it
   * to the kit. Whether the command has finished or failed; does not wait. */
  bool (*mark_passed)(kw_gpu_device *device, void *mark);
  /* When a command that has passed began and ended, in nanoseconds on the device's clock. False: it has no times. */
  bool (*mark_times)(kw_gpu_device *device, void *mark, uint64_t *out_begin, uint64_t *out_end);
  void (*mark_drop)(kw_gpu_device *device, void *mark);
  /* What the device's clock shows at some moment of this call, in nanoseconds. Waits for no stream. */
  kw_status (*device_now)(kw_gpu_device *device, uint64_t *out_ns);

  /* ---- Programs and launches ---- */

  /* Modules and kernels are made by one thread at a time for a device, and live until that is closed. */

  /* Defines the kernels' dialect in the runtime's language: kw_gpu_prelude_opencl, or one like it. */
  const char *prelude;
  /* Compiles `sources`, to be read one after the other. No fast-math, no contraction. `name` says which program of the
   * kit this is ("elementwise/8"): for messages, and to find what was compiled ahead (kw_gpu_programs_visit). */
  kw_status (*module_build)(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                            void **out_module);
  void (*module_destroy)(kw_gpu_device *device, void *module);
  /* A built module as bytes (to be freed with free), and a module from such bytes. Where both are given, modules are
   * kept on disk between processes; bytes that come back are those that were kept, or module_load is not called. What
   * either cannot do is no error: the module is built from source then. (optional) */
  kw_status (*module_save)(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size);
  kw_status (*module_load)(kw_gpu_device *device, const char *name, const void *bytes, size_t size, void **out_module);
  kw_status (*kernel_create)(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
  void (*kernel_destroy)(kw_gpu_device *device, void *kernel);
  kw_status (*launch)(kw_gpu_device *device, kw_gpu_stream *stream, const kw_gpu_launch *launch);

  /* Groups of the plugin's own: graphs, energy, a vendor's. Their slots get a kw_gpu_device and a kw_gpu_stream.
   * The kit has graphs for every driver, in which element-wise launches that follow each other are one; by those of a
   * driver that has them it launches a graph as a whole. */
  const kw_group *groups;
  uint32_t group_count;

  /* Options of the plugin's own, beside those of the kit: see kw_plugin_desc. They reach open. (optional) */
  uint32_t option_count;
  const kw_option_desc *const *options;
};

/* For the end of keyway_plugin_query: a plugin over this driver, or why this host cannot have it. A library has one
 * driver. Thread-safe. */
kw_status kw_gpu_query(const kw_gpu_driver *driver, const kw_query_info *host, const kw_plugin_desc **out_plugin,
                       const char **out_reason);

/* Waits where the runtime's own waits have no limit: calls query(user) until it says something other than
 * KW_ERR_NOT_READY, which is then the answer, with pauses between that grow to a millisecond. KW_ERR_TIMEOUT after
 * timeout_ns nanoseconds; 0 asks once. */
kw_status kw_gpu_poll(kw_status (*query)(void *user), void *user, uint64_t timeout_ns);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t kw_gpu_now_ns(void);

/* kw_gpu_driver.sanitizer of what is compiled here. */
#if defined(__SANITIZE_ADDRESS__)
#define KW_GPU_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define KW_GPU_SANITIZER "thread"
#else
#define KW_GPU_SANITIZER ""
#endif

/* ---- For the driver's functions ---------------------------------------------------------------------------------- */

/* Attaches the text to the calling thread's error and returns `status`. The text is cut at 2500 bytes. */
__attribute__((format(printf, 3, 4))) kw_status kw_gpu_error(const kw_host_api *host, kw_status status,
                                                             const char *format, ...);
/* For a slot's info: KW_OK, or the refusal of a critical flag or extension, of which the kit knows none. */
kw_status kw_gpu_check_critical(const kw_host_api *host, uint64_t flags, const kw_ext *next);

/* Inside copy and fill: the call_id of the launch that they are a part of, since an op may be no more than that; 0 when
 * the host asks for them itself. */
uint64_t kw_gpu_launching(void);

/* For a driver with graphs of its own, before it enqueues what the kit has not asked for, such as the work of a kernel
 * of its own with KW_KERNEL_CAPTURABLE: the kit enqueues first what it holds back while the stream records. */
void kw_gpu_settle(kw_gpu_stream *stream);

/* Whether commands are to be marked. */
bool kw_gpu_activity_on(const kw_gpu_device *device);
/* Takes over the mark of a command that was enqueued while that was so. The stream is locked, so that marks come in the
 * order of its commands. `id`: of a graph, its launch's; otherwise the call_id of the launch that the command is a part
 * of, 0 for a copy or fill that is none. */
void kw_gpu_activity_note(kw_gpu_stream *stream, kw_activity_kind kind, uint64_t id, void *mark);

/* The ends of a copy where a kw_mem is an address. */
void *kw_gpu_copy_to(const kw_copy_info *copy);
const void *kw_gpu_copy_from(const kw_copy_info *copy);

/* The kind that memory was allocated of; KW_MEM_DEVICE for what the kit did not allocate. */
kw_mem_kind kw_gpu_mem_kind(kw_gpu_device *device, kw_mem mem);

/* kw_gpu_driver.map and unmap for address and host that see each other's writes at once: nothing to do, and
 * KW_ERR_UNSUPPORTED for KW_MEM_DEVICE. */
kw_status kw_gpu_map_by_address(kw_gpu_device *device, kw_gpu_stream *stream, const kw_map_info *info,
                                void **out_pointer);
kw_status kw_gpu_unmap_by_address(kw_gpu_device *device, kw_gpu_stream *stream, const kw_map_info *info, void *pointer);

/* kw_device_info.flags of a device of that name: one that says "(emulated)", as the devices of test drivers do, is. */
uint64_t kw_gpu_device_flags(const char *name);

/* For attribute: give the value, and return KW_OK. */
kw_status kw_gpu_give_int(kw_attribute *out_value, int64_t value);
kw_status kw_gpu_give_bool(kw_attribute *out_value, bool value);

/* A stable id in the form that all backends give it, so that a chip has one id through every runtime. The PCI address
 * where it is known, otherwise the UUID. */
void kw_gpu_id_pci(char *out, size_t size, uint32_t domain, uint32_t bus, uint32_t device, uint32_t function);
void kw_gpu_id_uuid(char *out, size_t size, const uint8_t uuid[16]);

/* ---- The kernels without the plugin ------------------------------------------------------------------------------ */

/* Fills the head of a device; compiles nothing yet. `identity` is what kw_gpu_driver.identify gives, NULL for none; it
 * is copied. Fails when the host is out of memory; then there is nothing to finish. Of the driver the kernels use what
 * stands under programs and launches, copy and fill. */
kw_status kw_gpu_device_start(kw_gpu_device *device, const kw_gpu_driver *driver, const kw_host_api *host, bool has_f64,
                              const char *identity);
/* Destroys all kernels and modules. */
void kw_gpu_device_finish(kw_gpu_device *device);

/* Registers the kit's kernels; for use inside init. `has_f64`: some device computes in double precision. */
kw_status kw_gpu_register(const kw_host_api *host, bool has_f64);
/* Registers "matrix" and "matrix_tf32" beside them, products by matrix instructions, for a driver whose prelude has
 * them (kw_gpu_prelude_cuda); for use inside register_kernels. They are off: they have yet to run on hardware. */
kw_status kw_gpu_register_matrix(const kw_host_api *host);

/* ---- The kernels' text ------------------------------------------------------------------------------------------- */

extern const char kw_gpu_prelude_opencl[]; /* OpenCL C 1.2 */
extern const char kw_gpu_prelude_cuda[];   /* CUDA C++ and HIP, for NVRTC and hipRTC */

/* For runtimes without a compiler: every program that module_build can be asked for, to be compiled ahead. Stops at the
 * first status other than KW_OK, and returns it. */
typedef kw_status (*kw_gpu_visit_fn)(void *user, const char *name, const char *const *sources, uint32_t source_count);
kw_status kw_gpu_programs_visit(const char *prelude, kw_gpu_visit_fn visit, void *user);

#endif /* KEYWAY_GPU_H */
