/* SPDX-License-Identifier: Apache-2.0
 *
 * The objects that ONNX Runtime knows this library by: one factory for each plugin of Keyway, which offers the plugin's
 * devices, and an execution provider for each session that uses one of them.
 */
#ifndef KEYWAY_ORT_PROVIDER_H
#define KEYWAY_ORT_PROVIDER_H

#include <keyway/keyway.h>

#include "ort_tables.h"

/* In ONNX Runtime's descriptions of memory: no vendor of PCI devices has this number. */
#define KW_ORT_VENDOR_ID 0x4b57u

/* Bytes of a text for people: what failed where, and the whole chain of Keyway's message. */
#define KW_ORT_TEXT 4608

/* As many of a plugin's devices are offered; ONNX Runtime asks for no more. */
#define KW_ORT_DEVICES_AT_MOST 16

/* ONNX Runtime's functions; set when it opens the library, before anything else is called. */
extern const ort_api *kw_ort;
extern const ort_ep_api *kw_ort_eps;
/* The version of its API that tables for it may be filled by, at most KW_ORT_API_NEWEST. */
extern uint32_t kw_ort_api_version;

typedef struct factory {
  ort_ep_factory slots; /* first: ONNX Runtime sees only this */
  char name[80];        /* of the provider: "keyway.npu" for the devices npu:0, npu:1, ... */
  char key[64];         /* "npu" */
  char vendor[64];
  uint32_t first_device, device_count; /* of the list of kw_device_get_entry those whose plugin this is */
  struct {
    OrtHardwareDevice *hardware;
    OrtMemoryInfo *memory[2];        /* the device's, and the host's that it copies fastest with */
  } offered[KW_ORT_DEVICES_AT_MOST]; /* ONNX Runtime keeps no copies */
  uint32_t offered_count;
  OrtKernelRegistry *registry;
  ort_data_transfer transfer;
} factory;

typedef struct captures captures;
typedef struct profiler profiler;

typedef struct provider {
  ort_ep slots; /* first */
  factory *factory;
  kw_device *device;
  uint32_t device_index;
  kw_dtype autocast;
  char *only;                   /* operators that are visible, separated by commas; NULL: all */
  char *report;                 /* a file that gets a line for each node; NULL: none */
  captures *captures;           /* NULL: runs are not captured */
  bool has_nodes;               /* kernels were made for it */
  _Atomic unsigned running;     /* runs that have begun and not ended */
  char *host_input;             /* an input of the model that a node reads on the host; NULL: there is none */
  _Atomic(profiler *) profiler; /* NULL: the session does not profile */
} provider;

/* ONNX Runtime's status for Keyway's: NULL for KW_OK, otherwise `what` and the whole chain of Keyway's message. */
OrtStatus *kw_ort_status(kw_status status, const char *what);
/* One of the provider's own words. */
OrtStatus *kw_ort_refuse(OrtErrorCode code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* memory.c */
/* The device whose memory it is; to be closed. */
OrtStatus *kw_ort_device_open(const OrtMemoryDevice *memory, kw_device **out_device);
OrtStatus *kw_ort_memory_info(uint32_t device_index, OrtDeviceMemoryType type, OrtMemoryInfo **out_info);
OrtStatus *kw_ort_allocator_create(const OrtMemoryInfo *info, ort_allocator **out_allocator);
void kw_ort_allocator_release(ort_allocator *allocator);
void kw_ort_transfer_init(ort_data_transfer *transfer);
/* Copies one value between host and device, or two devices, after what the stream was given, or, without one, all
 * streams of runs (kw_ort_stream_behind). The copy has happened when it returns, but for one between devices on a
 * stream. */
OrtStatus *kw_ort_copy(const OrtValue *from, OrtValue *to, const void *stream);

/* stream.c */
OrtStatus *kw_ort_stream_create(const OrtMemoryDevice *memory, ort_sync_stream **out_stream);
/* NULL for NULL. */
kw_stream *kw_ort_stream_of(const OrtSyncStream *of);
/* What ONNX Runtime gives a node of a device's as its stream, if it is one of that device; otherwise its default
 * stream. */
kw_stream *kw_ort_stream_for(const void *handle, kw_device *device);
/* The same; the default stream then does its next work after all that the streams of runs were given until now. */
kw_status kw_ort_stream_behind(const void *handle, kw_device *device, kw_stream **out_stream);
/* A node that the calling thread computes uses it. */
OrtStatus *kw_ort_stream_use(const provider *of, kw_stream *stream);
/* At the end of the calling thread's run: waits for what that has used and nobody has waited for, and returns the first
 * error of it. `last`: no other run goes on, and what other threads have used is waited for, too. */
OrtStatus *kw_ort_stream_settle(const provider *of, bool last);
/* It ends, and its runs have. */
void kw_ort_stream_forget(const provider *of);

/* interop.c */
OrtStatus *kw_ort_importer_create(const OrtEpDevice *of, ort_external_importer **out_importer);

/* provider.c */
OrtStatus *kw_ort_provider_create(factory *factory, const char *device, const OrtSessionOptions *options,
                                  ort_ep **out_ep);
void kw_ort_provider_release(ort_ep *ep);

/* registry.c */
OrtStatus *kw_ort_registry_make(const char *provider, OrtKernelRegistry **out_registry);

#endif
