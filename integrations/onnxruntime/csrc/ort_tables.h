/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of functions of ONNX Runtime's C API, as far as the provider calls or fills them. ONNX Runtime only ever
 * appends to them, so that a slot keeps its place; those that are not called are counted. tests/headers_test.c compares
 * places and signatures with a packaged header. What API 24 and newer ones appended, marked below, is in no packaged
 * header yet.
 */
#ifndef KEYWAY_ORT_TABLES_H
#define KEYWAY_ORT_TABLES_H

#include "ort_types.h"

/* The version of the API that the provider asks for: kernel registries begin with it. */
#define KW_ORT_API_VERSION 24
/* The newest one whose slots of ort_ep are declared here. */
#define KW_ORT_API_NEWEST 27
#define KW_ORT_API_PROFILER 25 /* what appended CreateProfiler, */
#define KW_ORT_API_CAPTURE 26  /* and what graphs that are captured */

typedef void (*ort_slot)(void);
struct ort_ep;
struct ort_ep_factory;

typedef struct ort_api_base {
  const struct ort_api *(*GetApi)(uint32_t version);
  const char *(*GetVersionString)(void);
} ort_api_base;

typedef struct ort_api {
  OrtStatus *(*CreateStatus)(OrtErrorCode code, const char *msg);
  OrtErrorCode (*GetErrorCode)(const OrtStatus *status);
  const char *(*GetErrorMessage)(const OrtStatus *status);
  ort_slot unused0[46];
  OrtStatus *(*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo *info, void *p_data, size_t p_data_len,
                                               const int64_t *shape, size_t shape_len, ONNXTensorElementDataType type,
                                               OrtValue **out);
  OrtStatus *(*IsTensor)(const OrtValue *value, int *out);
  OrtStatus *(*GetTensorMutableData)(OrtValue *value, void **out);
  ort_slot unused1[3];
  OrtStatus *(*CastTypeInfoToTensorInfo)(const OrtTypeInfo *type_info, const OrtTensorTypeAndShapeInfo **out);
  ort_slot unused2[4];
  OrtStatus *(*GetTensorElementType)(const OrtTensorTypeAndShapeInfo *info, ONNXTensorElementDataType *out);
  OrtStatus *(*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo *info, size_t *out);
  OrtStatus *(*GetDimensions)(const OrtTensorTypeAndShapeInfo *info, int64_t *dim_values, size_t dim_values_length);
  ort_slot unused3[1];
  OrtStatus *(*GetTensorShapeElementCount)(const OrtTensorTypeAndShapeInfo *info, size_t *out);
  OrtStatus *(*GetTensorTypeAndShape)(const OrtValue *value, OrtTensorTypeAndShapeInfo **out);
  ort_slot unused4[12];
  OrtStatus *(*GetAllocatorWithDefaultOptions)(OrtAllocator **out);
  ort_slot unused5[6];
  OrtStatus *(*KernelInfoGetAttribute_float)(const OrtKernelInfo *info, const char *name, float *out);
  OrtStatus *(*KernelInfoGetAttribute_int64)(const OrtKernelInfo *info, const char *name, int64_t *out);
  OrtStatus *(*KernelInfoGetAttribute_string)(const OrtKernelInfo *info, const char *name, char *out, size_t *size);
  OrtStatus *(*KernelContext_GetInputCount)(const OrtKernelContext *context, size_t *out);
  OrtStatus *(*KernelContext_GetOutputCount)(const OrtKernelContext *context, size_t *out);
  OrtStatus *(*KernelContext_GetInput)(const OrtKernelContext *context, size_t index, const OrtValue **out);
  OrtStatus *(*KernelContext_GetOutput)(OrtKernelContext *context, size_t index, const int64_t *dim_values,
                                        size_t dim_count, OrtValue **out);
  ort_slot unused6[1];
  void (*ReleaseStatus)(OrtStatus *input);
  void (*ReleaseMemoryInfo)(OrtMemoryInfo *input);
  ort_slot unused7[1];
  void (*ReleaseValue)(OrtValue *input);
  ort_slot unused8[2];
  void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo *input);
  ort_slot unused9[62];
  OrtStatus *(*KernelInfoGetAttributeArray_float)(const OrtKernelInfo *info, const char *name, float *out,
                                                  size_t *size);
  OrtStatus *(*KernelInfoGetAttributeArray_int64)(const OrtKernelInfo *info, const char *name, int64_t *out,
                                                  size_t *size);
  ort_slot unused10[29];
  OrtStatus *(*KernelContext_GetGPUComputeStream)(const OrtKernelContext *context, void **out);
  ort_slot unused11[23];
  OrtStatus *(*CopyKernelInfo)(const OrtKernelInfo *info, OrtKernelInfo **info_copy);
  void (*ReleaseKernelInfo)(OrtKernelInfo *input);
  ort_slot unused12[11];
  OrtStatus *(*KernelInfo_GetInputCount)(const OrtKernelInfo *info, size_t *out);
  OrtStatus *(*KernelInfo_GetOutputCount)(const OrtKernelInfo *info, size_t *out);
  ort_slot unused13[4];
  OrtStatus *(*KernelInfoGetAttribute_tensor)(const OrtKernelInfo *info, const char *name, OrtAllocator *allocator,
                                              OrtValue **out);
  ort_slot unused14[7];
  OrtStatus *(*KernelInfo_GetNodeName)(const OrtKernelInfo *info, char *out, size_t *size);
  ort_slot unused15[27];
  OrtStatus *(*ReadOpAttr)(const OrtOpAttr *op_attr, OrtOpAttrType type, void *data, size_t len, size_t *out);
  ort_slot unused16[16];
  OrtStatus *(*GetValueInfoName)(const OrtValueInfo *value_info, const char **name);
  OrtStatus *(*GetValueInfoTypeInfo)(const OrtValueInfo *value_info, const OrtTypeInfo **type_info);
  ort_slot unused17[4];
  void (*CreateKeyValuePairs)(OrtKeyValuePairs **out);
  void (*AddKeyValuePair)(OrtKeyValuePairs *kvps, const char *key, const char *value);
  const char *(*GetKeyValue)(const OrtKeyValuePairs *kvps, const char *key);
  void (*GetKeyValuePairs)(const OrtKeyValuePairs *kvps, const char *const **keys, const char *const **values,
                           size_t *num_entries);
  ort_slot unused18[1];
  void (*ReleaseKeyValuePairs)(OrtKeyValuePairs *input);
  ort_slot unused19[6];
  OrtHardwareDeviceType (*HardwareDevice_Type)(const OrtHardwareDevice *device);
  ort_slot unused20[9];
  const struct ort_ep_api *(*GetEpApi)(void);
  OrtStatus *(*GetTensorSizeInBytes)(const OrtValue *ort_value, size_t *size);
  ort_slot unused21[1];
  OrtStatus *(*CreateMemoryInfo_V2)(const char *name, OrtMemoryInfoDeviceType device_type, uint32_t vendor_id,
                                    int32_t device_id, OrtDeviceMemoryType mem_type, size_t alignment,
                                    OrtAllocatorType allocator_type, OrtMemoryInfo **out);
  ort_slot unused22[2];
  OrtStatus *(*ValueInfo_GetValueProducer)(const OrtValueInfo *value_info, const OrtNode **producer_node,
                                           size_t *producer_output_index);
  ort_slot unused23[2];
  OrtStatus *(*ValueInfo_GetInitializerValue)(const OrtValueInfo *value_info, const OrtValue **initializer_value);
  OrtStatus *(*ValueInfo_GetExternalInitializerInfo)(const OrtValueInfo *value_info, OrtExternalInitializerInfo **info);
  OrtStatus *(*ValueInfo_IsRequiredGraphInput)(const OrtValueInfo *value_info, bool *is_required_graph_input);
  ort_slot unused24[2];
  OrtStatus *(*ValueInfo_IsConstantInitializer)(const OrtValueInfo *value_info, bool *is_constant_initializer);
  ort_slot unused25[2];
  OrtStatus *(*Graph_GetModelPath)(const OrtGraph *graph, const char **model_path);
  ort_slot unused30[7];
  OrtStatus *(*Graph_GetNumInitializers)(const OrtGraph *graph, size_t *num_initializers);
  OrtStatus *(*Graph_GetInitializers)(const OrtGraph *graph, const OrtValueInfo **initializers,
                                      size_t num_initializers);
  OrtStatus *(*Graph_GetNumNodes)(const OrtGraph *graph, size_t *num_nodes);
  OrtStatus *(*Graph_GetNodes)(const OrtGraph *graph, const OrtNode **nodes, size_t num_nodes);
  ort_slot unused26[3];
  OrtStatus *(*Node_GetName)(const OrtNode *node, const char **node_name);
  OrtStatus *(*Node_GetOperatorType)(const OrtNode *node, const char **operator_type);
  OrtStatus *(*Node_GetDomain)(const OrtNode *node, const char **domain_name);
  OrtStatus *(*Node_GetSinceVersion)(const OrtNode *node, int *since_version);
  OrtStatus *(*Node_GetNumInputs)(const OrtNode *node, size_t *num_inputs);
  OrtStatus *(*Node_GetInputs)(const OrtNode *node, const OrtValueInfo **inputs, size_t num_inputs);
  OrtStatus *(*Node_GetNumOutputs)(const OrtNode *node, size_t *num_outputs);
  OrtStatus *(*Node_GetOutputs)(const OrtNode *node, const OrtValueInfo **outputs, size_t num_outputs);
  ort_slot unused27[4];
  OrtStatus *(*Node_GetAttributeByName)(const OrtNode *node, const char *attribute_name, const OrtOpAttr **attribute);
  OrtStatus *(*OpAttr_GetTensorAttributeAsOrtValue)(const OrtOpAttr *attribute, OrtValue **attr_tensor);
  OrtStatus *(*OpAttr_GetType)(const OrtOpAttr *attribute, OrtOpAttrType *type);
  ort_slot unused28[5];
  void (*ReleaseExternalInitializerInfo)(OrtExternalInitializerInfo *input);
  const char *(*ExternalInitializerInfo_GetFilePath)(const OrtExternalInitializerInfo *info);
  int64_t (*ExternalInitializerInfo_GetFileOffset)(const OrtExternalInitializerInfo *info);
  size_t (*ExternalInitializerInfo_GetByteSize)(const OrtExternalInitializerInfo *info);
  const char *(*GetRunConfigEntry)(const OrtRunOptions *options, const char *config_key);
  const OrtMemoryInfo *(*EpDevice_MemoryInfo)(const OrtEpDevice *ep_device, OrtDeviceMemoryType memory_type);
  ort_slot unused29[4];
  OrtStatus *(*GetSessionOptionsConfigEntries)(const OrtSessionOptions *options, OrtKeyValuePairs **out);
  /* Appended by API 24. */
  ort_slot unused31[10];
  bool (*TensorTypeAndShape_HasShape)(const OrtTensorTypeAndShapeInfo *info);
} ort_api;

/* Appended by API 24. */
typedef struct OrtDataType OrtDataType;
typedef struct OrtKernelDef OrtKernelDef;
typedef struct OrtKernelDefBuilder OrtKernelDefBuilder;
typedef struct OrtKernelRegistry OrtKernelRegistry;
typedef struct OrtSharedPrePackedWeightCache OrtSharedPrePackedWeightCache;

typedef enum OrtExternalMemoryHandleType {
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_MEMORY_OPAQUE_FD = 3, /* appended later, as are those below */
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION = 4
} OrtExternalMemoryHandleType;

typedef struct OrtExternalMemoryDescriptor {
  uint32_t version;
  OrtExternalMemoryHandleType handle_type;
  void *native_handle;
  size_t size_bytes, offset_bytes;
} OrtExternalMemoryDescriptor;

typedef struct OrtExternalTensorDescriptor {
  uint32_t version;
  ONNXTensorElementDataType element_type;
  const int64_t *shape;
  size_t rank, offset_bytes;
} OrtExternalTensorDescriptor;

/* Appended by API 25. */
typedef struct OrtProfilingEvent OrtProfilingEvent;
typedef struct OrtProfilingEventsContainer OrtProfilingEventsContainer;
typedef enum OrtProfilingEventCategory {
  OrtProfilingEventCategory_SESSION = 0,
  OrtProfilingEventCategory_NODE = 1,
  OrtProfilingEventCategory_KERNEL = 2,
  OrtProfilingEventCategory_API = 3
} OrtProfilingEventCategory;

/* Appended by API 26. */
typedef enum OrtGraphCaptureNodeAssignmentPolicy {
  OrtGraphCaptureNodeAssignmentPolicy_ALL_NODES_ON_EP = 0,
  OrtGraphCaptureNodeAssignmentPolicy_ALLOW_CPU_FOR_SHAPES = 1
} OrtGraphCaptureNodeAssignmentPolicy;

typedef struct ort_kernel {
  uint32_t ort_version_supported;
  uint32_t flags; /* 0 */
  OrtStatus *(*Compute)(struct ort_kernel *kernel, OrtKernelContext *context);
  void (*Release)(struct ort_kernel *kernel);
  OrtStatus *(*PrePackWeight)(struct ort_kernel *kernel, const OrtValue *tensor, int input_index,
                              OrtAllocator *allocator, OrtSharedPrePackedWeightCache *cache, bool *is_packed);
  OrtStatus *(*SetSharedPrePackedWeight)(struct ort_kernel *kernel, const void *const *data, const size_t *sizes,
                                         size_t count, int input_index);
} ort_kernel;

typedef OrtStatus *(*ort_kernel_create)(void *state, const OrtKernelInfo *info, ort_kernel **out);

typedef struct ort_ep_api {
  OrtStatus *(*CreateEpDevice)(struct ort_ep_factory *ep_factory, const OrtHardwareDevice *hardware_device,
                               const OrtKeyValuePairs *ep_metadata, const OrtKeyValuePairs *ep_options,
                               OrtEpDevice **ep_device);
  void (*ReleaseEpDevice)(OrtEpDevice *input);
  ort_slot unused0[1];
  OrtStatus *(*EpGraphSupportInfo_AddSingleNode)(OrtEpGraphSupportInfo *graph_support_info, const OrtNode *node);
  ort_slot unused1[1];
  OrtStatus *(*EpDevice_AddAllocatorInfo)(OrtEpDevice *ep_device, const OrtMemoryInfo *allocator_memory_info);
  const OrtMemoryDevice *(*MemoryInfo_GetMemoryDevice)(const OrtMemoryInfo *memory_info);
  const OrtMemoryDevice *(*Value_GetMemoryDevice)(const OrtValue *value);
  bool (*MemoryDevice_AreEqual)(const OrtMemoryDevice *a, const OrtMemoryDevice *b);
  OrtMemoryInfoDeviceType (*MemoryDevice_GetDeviceType)(const OrtMemoryDevice *memory_device);
  OrtDeviceMemoryType (*MemoryDevice_GetMemoryType)(const OrtMemoryDevice *memory_device);
  uint32_t (*MemoryDevice_GetVendorId)(const OrtMemoryDevice *memory_device);
  uint32_t (*MemoryDevice_GetDeviceId)(const OrtMemoryDevice *memory_device);
  const OrtSyncStreamImpl *(*SyncStream_GetImpl)(const OrtSyncStream *stream);
  ort_slot unused2[2];
  /* Appended by API 24. */
  OrtStatus *(*CreateHardwareDevice)(OrtHardwareDeviceType type, uint32_t vendor_id, uint32_t device_id,
                                     const char *vendor_name, const OrtKeyValuePairs *metadata,
                                     OrtHardwareDevice **hardware_device);
  void (*ReleaseHardwareDevice)(OrtHardwareDevice *input);
  OrtStatus *(*CreateKernelRegistry)(OrtKernelRegistry **kernel_registry);
  void (*ReleaseKernelRegistry)(OrtKernelRegistry *input);
  OrtStatus *(*KernelRegistry_AddKernel)(OrtKernelRegistry *kernel_registry, const OrtKernelDef *kernel_def,
                                         ort_kernel_create kernel_create_func, void *kernel_create_func_state);
  OrtStatus *(*CreateKernelDefBuilder)(OrtKernelDefBuilder **kernel_def_builder_out);
  void (*ReleaseKernelDefBuilder)(OrtKernelDefBuilder *input);
  OrtStatus *(*KernelDefBuilder_SetOperatorType)(OrtKernelDefBuilder *kernel_def_builder, const char *op_type);
  OrtStatus *(*KernelDefBuilder_SetDomain)(OrtKernelDefBuilder *kernel_def_builder, const char *domain);
  OrtStatus *(*KernelDefBuilder_SetSinceVersion)(OrtKernelDefBuilder *kernel_def_builder, int since_version_start,
                                                 int since_version_end);
  OrtStatus *(*KernelDefBuilder_SetExecutionProvider)(OrtKernelDefBuilder *kernel_def_builder, const char *ep_name);
  OrtStatus *(*KernelDefBuilder_SetInputMemType)(OrtKernelDefBuilder *kernel_def_builder, size_t input_index,
                                                 OrtMemType mem_type);
  OrtStatus *(*KernelDefBuilder_SetOutputMemType)(OrtKernelDefBuilder *kernel_def_builder, size_t output_index,
                                                  OrtMemType mem_type);
  ort_slot unused3[1];
  OrtStatus *(*KernelDefBuilder_AddInputOutputAliases)(OrtKernelDefBuilder *kernel_def_builder,
                                                       const int *input_indices, const int *output_indices,
                                                       size_t num_io_indices);
  ort_slot unused4[1];
  OrtStatus *(*KernelDefBuilder_Build)(OrtKernelDefBuilder *kernel_def_builder, OrtKernelDef **kernel_def_out);
  void (*ReleaseKernelDef)(OrtKernelDef *input);
  ort_slot unused5[7];
  OrtStatus *(*EpGraphSupportInfo_LookUpKernel)(OrtEpGraphSupportInfo *graph_support_info, const OrtNode *node,
                                                const OrtKernelDef **out_kernel_def);
  ort_slot unused6[1];
  OrtStatus *(*KernelInfo_GetEp)(const OrtKernelInfo *info, const struct ort_ep **ep);
  ort_slot unused7[21];
  /* Appended by API 25. */
  OrtStatus *(*CreateProfilingEvent)(OrtProfilingEventCategory category, int32_t process_id, int32_t thread_id,
                                     const char *event_name, int64_t timestamp_us, int64_t duration_us,
                                     const char *const *arg_keys, const char *const *arg_values, size_t num_args,
                                     OrtProfilingEvent **out);
  void (*ReleaseProfilingEvent)(OrtProfilingEvent *input);
  OrtStatus *(*ProfilingEvent_GetCategory)(const OrtProfilingEvent *event, OrtProfilingEventCategory *out);
  OrtStatus *(*ProfilingEvent_GetName)(const OrtProfilingEvent *event, const char **out);
  ort_slot unused8[3];
  OrtStatus *(*ProfilingEventsContainer_AddEvents)(OrtProfilingEventsContainer *events_container,
                                                   const OrtProfilingEvent *const *events, size_t num_events);
} ort_ep_api;

/* What the provider fills. */

typedef struct ort_allocator {
  uint32_t version;
  void *(*Alloc)(struct ort_allocator *this_, size_t size);
  void (*Free)(struct ort_allocator *this_, void *p);
  const OrtMemoryInfo *(*Info)(const struct ort_allocator *this_);
  void *(*Reserve)(struct ort_allocator *this_, size_t size);
  OrtStatus *(*GetStats)(const struct ort_allocator *this_, OrtKeyValuePairs **out);
  void *(*AllocOnStream)(struct ort_allocator *this_, size_t size, OrtSyncStream *stream);
} ort_allocator;

typedef struct ort_data_transfer {
  uint32_t ort_version_supported;
  void (*Release)(struct ort_data_transfer *this_ptr);
  bool (*CanCopy)(const struct ort_data_transfer *this_ptr, const OrtMemoryDevice *src_memory_device,
                  const OrtMemoryDevice *dst_memory_device);
  OrtStatus *(*CopyTensors)(struct ort_data_transfer *this_ptr, const OrtValue **src_tensors, OrtValue **dst_tensors,
                            OrtSyncStream **streams, size_t num_tensors);
} ort_data_transfer;

typedef struct ort_sync_notification {
  uint32_t ort_version_supported;
  void (*Release)(struct ort_sync_notification *this_ptr);
  OrtStatus *(*Activate)(struct ort_sync_notification *this_ptr);
  OrtStatus *(*WaitOnDevice)(struct ort_sync_notification *this_ptr, OrtSyncStream *consumer_stream);
  OrtStatus *(*WaitOnHost)(struct ort_sync_notification *this_ptr);
} ort_sync_notification;

typedef struct ort_sync_stream {
  uint32_t ort_version_supported;
  void (*Release)(struct ort_sync_stream *this_ptr);
  void *(*GetHandle)(struct ort_sync_stream *this_ptr);
  OrtStatus *(*CreateNotification)(struct ort_sync_stream *this_ptr, ort_sync_notification **notification);
  OrtStatus *(*Flush)(struct ort_sync_stream *this_ptr);
  OrtStatus *(*OnSessionRunEnd)(struct ort_sync_stream *this_ptr);
} ort_sync_stream;

/* Appended by API 25. */
typedef struct ort_ep_profiler {
  uint32_t ort_version_supported;
  void (*Release)(struct ort_ep_profiler *this_ptr);
  OrtStatus *(*StartProfiling)(struct ort_ep_profiler *this_ptr, int64_t ep_profiling_start_offset_ns);
  OrtStatus *(*StartEvent)(struct ort_ep_profiler *this_ptr, uint64_t ort_event_correlation_id);
  OrtStatus *(*StopEvent)(struct ort_ep_profiler *this_ptr, uint64_t ort_event_correlation_id,
                          const OrtProfilingEvent *ort_event);
  OrtStatus *(*EndProfiling)(struct ort_ep_profiler *this_ptr, OrtProfilingEventsContainer *events_container);
} ort_ep_profiler;

/* Appended by API 24. */
typedef struct ort_external_memory {
  uint32_t version;
  const OrtEpDevice *ep_device;
  OrtExternalMemoryDescriptor descriptor;
  void (*Release)(struct ort_external_memory *handle);
} ort_external_memory;

typedef struct ort_external_importer {
  uint32_t ort_version_supported;
  bool (*CanImportMemory)(const struct ort_external_importer *this_ptr, OrtExternalMemoryHandleType handle_type);
  OrtStatus *(*ImportMemory)(struct ort_external_importer *this_ptr, const OrtExternalMemoryDescriptor *desc,
                             ort_external_memory **out_handle);
  void (*ReleaseMemory)(struct ort_external_importer *this_ptr, ort_external_memory *handle);
  OrtStatus *(*CreateTensorFromMemory)(struct ort_external_importer *this_ptr, const ort_external_memory *mem_handle,
                                       const OrtExternalTensorDescriptor *tensor_desc, OrtValue **out_tensor);
  bool (*CanImportSemaphore)(const struct ort_external_importer *this_ptr, int type);
  ort_slot semaphores[4]; /* of what can be imported: none */
  void (*Release)(struct ort_external_importer *this_ptr);
} ort_external_importer;

typedef struct ort_ep {
  uint32_t ort_version_supported;
  const char *(*GetName)(const struct ort_ep *this_ptr);
  OrtStatus *(*GetCapability)(struct ort_ep *this_ptr, const OrtGraph *graph,
                              OrtEpGraphSupportInfo *graph_support_info);
  ort_slot unused0[5];
  OrtStatus *(*OnRunStart)(struct ort_ep *this_ptr, const OrtRunOptions *run_options);
  OrtStatus *(*OnRunEnd)(struct ort_ep *this_ptr, const OrtRunOptions *run_options, bool sync_stream);
  OrtStatus *(*CreateAllocator)(struct ort_ep *this_ptr, const OrtMemoryInfo *memory_info, ort_allocator **allocator);
  OrtStatus *(*CreateSyncStreamForDevice)(struct ort_ep *this_ptr, const OrtMemoryDevice *memory_device,
                                          ort_sync_stream **stream);
  ort_slot unused1[1];
  /* Appended by API 24. */
  OrtStatus *(*GetKernelRegistry)(struct ort_ep *this_ptr, const OrtKernelRegistry **kernel_registry);
  OrtStatus *(*IsConcurrentRunSupported)(struct ort_ep *this_ptr, bool *is_supported);
  /* Appended by API 25. */
  ort_slot unused2[1];
  OrtStatus *(*CreateProfiler)(struct ort_ep *this_ptr, ort_ep_profiler **profiler);
  /* Appended by API 26. */
  bool (*IsGraphCaptureEnabled)(const struct ort_ep *this_ptr);
  bool (*IsGraphCaptured)(const struct ort_ep *this_ptr, int graph_annotation_id);
  OrtStatus *(*ReplayGraph)(struct ort_ep *this_ptr, int graph_annotation_id);
  OrtGraphCaptureNodeAssignmentPolicy (*GetGraphCaptureNodeAssignmentPolicy)(const struct ort_ep *this_ptr);
  ort_slot unused3[1];
  /* Appended by API 27. */
  OrtStatus *(*OnSessionInitializationEnd)(struct ort_ep *this_ptr);
  ort_slot unused4[1];
  OrtStatus *(*ReleaseCapturedGraph)(struct ort_ep *this_ptr, int graph_annotation_id);
} ort_ep;

typedef struct ort_ep_factory {
  uint32_t ort_version_supported;
  const char *(*GetName)(const struct ort_ep_factory *this_ptr);
  const char *(*GetVendor)(const struct ort_ep_factory *this_ptr);
  OrtStatus *(*GetSupportedDevices)(struct ort_ep_factory *this_ptr, const OrtHardwareDevice *const *devices,
                                    size_t num_devices, OrtEpDevice **ep_devices, size_t max_ep_devices,
                                    size_t *num_ep_devices);
  OrtStatus *(*CreateEp)(struct ort_ep_factory *this_ptr, const OrtHardwareDevice *const *devices,
                         const OrtKeyValuePairs *const *ep_metadata_pairs, size_t num_devices,
                         const OrtSessionOptions *session_options, const OrtLogger *logger, ort_ep **ep);
  void (*ReleaseEp)(struct ort_ep_factory *this_ptr, ort_ep *ep);
  uint32_t (*GetVendorId)(const struct ort_ep_factory *this_ptr);
  const char *(*GetVersion)(const struct ort_ep_factory *this_ptr);
  ort_slot unused0[1];
  OrtStatus *(*CreateAllocator)(struct ort_ep_factory *this_ptr, const OrtMemoryInfo *memory_info,
                                const OrtKeyValuePairs *allocator_options, ort_allocator **allocator);
  void (*ReleaseAllocator)(struct ort_ep_factory *this_ptr, ort_allocator *allocator);
  OrtStatus *(*CreateDataTransfer)(struct ort_ep_factory *this_ptr, ort_data_transfer **data_transfer);
  bool (*IsStreamAware)(const struct ort_ep_factory *this_ptr);
  OrtStatus *(*CreateSyncStreamForDevice)(struct ort_ep_factory *this_ptr, const OrtMemoryDevice *memory_device,
                                          const OrtKeyValuePairs *stream_options, ort_sync_stream **stream);
  /* Appended by API 24. */
  ort_slot unused1[1];
  OrtStatus *(*CreateExternalResourceImporterForDevice)(struct ort_ep_factory *this_ptr, const OrtEpDevice *ep_device,
                                                        ort_external_importer **out_importer);
  ort_slot after[6]; /* what later versions append and this provider does not have: NULL */
} ort_ep_factory;

#endif
