/* SPDX-License-Identifier: Apache-2.0
 *
 * What the loader asks a driver for: one function for each table of entry points. It refuses a driver that lacks one.
 */
#include "emulated.h"

#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>

static ze_result_t check_table(ze_api_version_t version, const void *table) {
  if (!table) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  return ZE_MAJOR_VERSION(version) == ZE_MAJOR_VERSION(ZE_API_VERSION_CURRENT) ? ZE_RESULT_SUCCESS
                                                                               : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

#define TABLE(name, type, fill)                                                     \
  ZE_DLLEXPORT ze_result_t ZE_APICALL name(ze_api_version_t version, type *table) { \
    const ze_result_t result = check_table(version, table);                         \
    if (result == ZE_RESULT_SUCCESS) fill(table);                                   \
    return result;                                                                  \
  }
#define NOTHING(table) (void)(table) /* the entries stay NULL: the loader answers UNSUPPORTED_FEATURE */

TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t, emu_fill_global)
TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t, emu_fill_driver)
TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t, emu_fill_device)
TABLE(zeGetContextProcAddrTable, ze_context_dditable_t, emu_fill_context)
TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t, emu_fill_command_queue)
TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t, emu_fill_command_list)
TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t, emu_fill_fence)
TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t, emu_fill_event_pool)
TABLE(zeGetEventProcAddrTable, ze_event_dditable_t, emu_fill_event)
TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t, emu_fill_module)
TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t, emu_fill_module_build_log)
TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t, emu_fill_kernel)
TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t, emu_fill_mem)
TABLE(zeGetImageProcAddrTable, ze_image_dditable_t, NOTHING)
TABLE(zeGetSamplerProcAddrTable, ze_sampler_dditable_t, NOTHING)
TABLE(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t, NOTHING)
TABLE(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t, NOTHING)

TABLE(zesGetDriverProcAddrTable, zes_driver_dditable_t, NOTHING)
TABLE(zesGetDeviceProcAddrTable, zes_device_dditable_t, NOTHING)
TABLE(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t, NOTHING)
TABLE(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t, NOTHING)
TABLE(zesGetPowerProcAddrTable, zes_power_dditable_t, NOTHING)
TABLE(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t, NOTHING)
TABLE(zesGetEngineProcAddrTable, zes_engine_dditable_t, NOTHING)
TABLE(zesGetStandbyProcAddrTable, zes_standby_dditable_t, NOTHING)
TABLE(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t, NOTHING)
TABLE(zesGetMemoryProcAddrTable, zes_memory_dditable_t, NOTHING)
TABLE(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t, NOTHING)
TABLE(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t, NOTHING)
TABLE(zesGetPsuProcAddrTable, zes_psu_dditable_t, NOTHING)
TABLE(zesGetFanProcAddrTable, zes_fan_dditable_t, NOTHING)
TABLE(zesGetLedProcAddrTable, zes_led_dditable_t, NOTHING)
TABLE(zesGetRasProcAddrTable, zes_ras_dditable_t, NOTHING)
TABLE(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t, NOTHING)

TABLE(zetGetDeviceProcAddrTable, zet_device_dditable_t, NOTHING)
TABLE(zetGetContextProcAddrTable, zet_context_dditable_t, NOTHING)
TABLE(zetGetCommandListProcAddrTable, zet_command_list_dditable_t, NOTHING)
TABLE(zetGetModuleProcAddrTable, zet_module_dditable_t, NOTHING)
TABLE(zetGetKernelProcAddrTable, zet_kernel_dditable_t, NOTHING)
TABLE(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t, NOTHING)
TABLE(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t, NOTHING)
TABLE(zetGetMetricProcAddrTable, zet_metric_dditable_t, NOTHING)
TABLE(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t, NOTHING)
TABLE(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t, NOTHING)
TABLE(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t, NOTHING)
TABLE(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t, NOTHING)
TABLE(zetGetDebugProcAddrTable, zet_debug_dditable_t, NOTHING)
