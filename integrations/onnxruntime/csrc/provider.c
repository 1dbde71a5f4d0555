/* SPDX-License-Identifier: Apache-2.0
 *
 * The execution provider of a session: which nodes its device takes, and why not the others.
 */
#include "provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "kernel.h"
#include "profile.h"
#include "weights.h"

static const char *get_name(const ort_ep *slots) {
  return ((const provider *)slots)->factory->name;
}

static OrtStatus *get_kernel_registry(ort_ep *slots, const OrtKernelRegistry **out_registry) {
  *out_registry = ((provider *)slots)->factory->registry;
  return NULL;
}

static OrtStatus *on_run_start(ort_ep *slots, const OrtRunOptions *options) {
  provider *self = (provider *)slots;
  weights_forget(self); /* where ONNX Runtime does not say that the session has begun */
  OrtStatus *status = capture_on_run_start(self, options);
  if (!status) ++self->running; /* otherwise no end follows */
  return status;
}

static OrtStatus *on_initialization_end(ort_ep *slots) {
  weights_forget((const provider *)slots);
  return NULL;
}

static OrtStatus *on_run_end(ort_ep *slots, const OrtRunOptions *options, bool sync_stream) {
  provider *self = (provider *)slots;
  OrtStatus *status = capture_on_run_end(self);
  (void)options;
  (void)sync_stream;
  OrtStatus *late = kw_ort_stream_settle(self, --self->running == 0);
  if (!status) return late;
  if (late) kw_ort->ReleaseStatus(late);
  return status;
}

/* ---- Which nodes ---------------------------------------------------------------------------------------------------
 */

/* A size that is not known before the model runs is taken for a number: one that any window fits into; where that
 * contradicts what is known, one that goes with most; and then those that inputs of the node have, for all such sizes,
 * or for those of one axis, as the channels that a weight is for. */
#define LARGE_SIZE 64
#define KNOWN_SIZES_AT_MOST 6u
#define AXES_GUESSED 4u
/* Where not even the rank is known, the device has to run it with both of these: what needs fewer is of one rank. */
#define LEAST_RANK_ASKED 3u
#define MOST_RANK_ASKED 4u

typedef struct guess {
  int64_t size, of_axis; /* of sizes, and of those of one axis: AXES_GUESSED is none */
  unsigned axis;
  unsigned rank;
  bool ranked; /* the guess at a rank was used */
  int64_t known[KNOWN_SIZES_AT_MOST];
  unsigned known_count;
} guess;

static void note_size(guess *guess, int64_t size) {
  for (unsigned i = 0; i < guess->known_count; ++i)
    if (guess->known[i] == size) return;
  if (guess->known_count < KNOWN_SIZES_AT_MOST) guess->known[guess->known_count++] = size;
}

/* The guess of this number, from 0 on. False: there are no more. */
static bool next_guess(guess *guess, unsigned number) {
  guess->size = LARGE_SIZE;
  guess->axis = AXES_GUESSED;
  if (number < 2) {
    if (number == 1) guess->size = 1;
    return true;
  }
  number -= 2;
  if (number >= guess->known_count * (1 + AXES_GUESSED)) return false;
  if (number < guess->known_count) {
    guess->size = guess->known[number];
  } else {
    guess->axis = number / guess->known_count - 1;
    guess->of_axis = guess->known[number % guess->known_count];
  }
  return true;
}

static OrtStatus *describe_input(run *run, unsigned index, const OrtValueInfo *info, guess *guess) {
  const OrtTypeInfo *type = NULL;
  const OrtTensorTypeAndShapeInfo *tensor = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  int64_t shape[KW_MAX_RANK];
  size_t rank = 0;
  bool constant = false;
  value *described = &run->values[run->value_count];
  OrtStatus *status = kw_ort->GetValueInfoTypeInfo(info, &type);
  if (!status) status = kw_ort->CastTypeInfoToTensorInfo(type, &tensor);
  if (!status && !tensor) run_refuse(run, "input %u is no tensor", index);
  if (!status && tensor) status = kw_ort->GetTensorElementType(tensor, &element);
  if (!status && tensor) status = kw_ort->GetDimensionsCount(tensor, &rank);
  const bool ranked = !tensor || kw_ort->TensorTypeAndShape_HasShape(tensor);
  if (!ranked) rank = guess->rank, guess->ranked = true;
  if (status || run->failed) return status;
  if (node_dtype_of(element) == KW_DTYPE_NONE)
    run_refuse(run, "input %u is of a type that Keyway does not have", index);
  if (rank > KW_MAX_RANK) run_refuse(run, "input %u has rank %zu", index, rank);
  if (run->failed) return NULL;
  if (ranked) status = kw_ort->GetDimensions(tensor, shape, rank);
  if (status) return status;
  for (size_t d = 0; d < rank; ++d) {
    const bool known = ranked && shape[d] >= 0;
    if (known && shape[d] > 1) note_size(guess, shape[d]);
    if (!known) shape[d] = d == guess->axis ? guess->of_axis : guess->size;
    run->guessed = run->guessed || !known;
  }
  described->ref = kw_meta(node_dtype_of(element), (uint32_t)rank, shape);
  ++run->value_count;
  run->inputs[index] = described;
  status = kw_ort->ValueInfo_IsConstantInitializer(info, &constant);
  if (!status && constant) status = kw_ort->ValueInfo_GetInitializerValue(info, &run->constants[index]);
  return status;
}

static OrtStatus *describe_output(run *run, unsigned index, const OrtValueInfo *info) {
  const OrtTypeInfo *type = NULL;
  const OrtTensorTypeAndShapeInfo *tensor = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  OrtStatus *status = kw_ort->GetValueInfoTypeInfo(info, &type);
  if (!status && type) status = kw_ort->CastTypeInfoToTensorInfo(type, &tensor);
  if (!status && tensor) status = kw_ort->GetTensorElementType(tensor, &element);
  if (!status) run->output_dtypes[index] = node_dtype_of(element);
  return status;
}

static OrtStatus *describe_node(run *run, guess *guess) {
  const OrtValueInfo *inputs[RUN_MAX_INPUTS], *outputs[RUN_MAX_INPUTS];
  size_t input_count = 0, output_count = 0;
  OrtStatus *status = kw_ort->Node_GetNumInputs(run->node->in_graph, &input_count);
  if (!status) status = kw_ort->Node_GetNumOutputs(run->node->in_graph, &output_count);
  if (!status && (input_count > RUN_MAX_INPUTS || output_count > RUN_MAX_INPUTS)) {
    run_refuse(run, "it has %zu inputs and %zu outputs", input_count, output_count);
    return NULL;
  }
  if (!status) status = kw_ort->Node_GetInputs(run->node->in_graph, inputs, input_count);
  if (!status) status = kw_ort->Node_GetOutputs(run->node->in_graph, outputs, output_count);
  run->input_count = (unsigned)input_count;
  run->node->output_count = (unsigned)output_count;
  for (unsigned i = 0; i < input_count && !status && !run->failed; ++i)
    if (inputs[i]) status = describe_input(run, i, inputs[i], guess);
  for (unsigned i = 0; i < RUN_MAX_RESULTS; ++i) run->output_dtypes[i] = KW_DTYPE_NONE;
  for (unsigned i = 0; i < output_count && i < RUN_MAX_RESULTS && !status; ++i)
    if (outputs[i]) status = describe_output(run, i, outputs[i]);
  return status;
}

/* Whether the device can run a node of one rank with some guess at the sizes; `why` [KW_ORT_TEXT] says why not with
 * the first. */
static OrtStatus *ask_with_sizes(const kernel_rows *rows, run *run, guess *guess, bool *out_takes, char *why) {
  node *const node = run->node;
  kw_device *const device = run->device;
  OrtStatus *status = NULL;
  *out_takes = false;
  guess->known_count = 0;
  for (unsigned i = 0; !status && !*out_takes && next_guess(guess, i); ++i) {
    memset(run, 0, sizeof *run);
    run->node = node;
    run->device = device;
    status = describe_node(run, guess);
    if (!status && !run->failed) kernel_rows_run(rows, run);
    *out_takes = !status && !run->failed;
    if (i == 0) strcpy(why, run->failed ? run->why : "");
    if (!run->guessed || run->status == KW_ERR_NOT_IMPLEMENTED) break; /* there is no kernel, and no contradiction */
  }
  return status;
}

/* Whether the device can run a node; `why` [KW_ORT_TEXT] says why not. */
static OrtStatus *ask(const provider *self, const OrtNode *in_graph, const kernel_rows *rows, bool *out_takes,
                      char *why) {
  node node = {.in_graph = in_graph};
  run *run = calloc(1, sizeof *run);
  OrtStatus *status = run ? NULL : kw_ort_refuse(ORT_FAIL, "no memory to look at a node");
  guess guess = {.rank = LEAST_RANK_ASKED};
  *out_takes = true;
  if (run) run->node = &node, run->device = self->device;
  for (; !status && *out_takes && guess.rank <= MOST_RANK_ASKED; ++guess.rank) {
    status = ask_with_sizes(rows, run, &guess, out_takes, why);
    if (!guess.ranked) break;
  }
  if (guess.ranked && !*out_takes) { /* the first reason is of a guess that nobody sees */
    char of[64];
    snprintf(of, sizeof of, "the rank of an input is not known, and of rank %u: ", guess.rank - 1);
    memmove(why + strlen(of), why, KW_ORT_TEXT - strlen(of));
    memcpy(why, of, strlen(of));
    why[KW_ORT_TEXT - 1] = 0;
  }
  node_end(&node);
  free(run);
  return status;
}

/* Whether an operator is among those that the option "operators" makes visible. */
static bool visible(const provider *self, const char *op_type) {
  const size_t length = strlen(op_type);
  const char *at = self->only;
  if (!at) return true;
  for (; (at = strstr(at, op_type)) != NULL; ++at)
    if ((at == self->only || at[-1] == ',') && (at[length] == ',' || !at[length])) return true;
  return false;
}

/* Remembers an input of the model that a node which is taken reads on the host: capture.c. */
static OrtStatus *note_host_inputs(provider *self, const OrtNode *in_graph, uint32_t host_inputs) {
  const OrtValueInfo *inputs[RUN_MAX_INPUTS];
  size_t count = 0;
  OrtStatus *status = kw_ort->Node_GetNumInputs(in_graph, &count);
  if (!status) status = kw_ort->Node_GetInputs(in_graph, inputs, count);
  for (size_t i = 0; i < count && i < 32 && !status && !self->host_input; ++i) {
    const char *name = NULL;
    bool of_model = false;
    if (!(host_inputs >> i & 1) || !inputs[i]) continue;
    status = kw_ort->ValueInfo_IsRequiredGraphInput(inputs[i], &of_model);
    if (!status && of_model) status = kw_ort->GetValueInfoName(inputs[i], &name);
    if (name) self->host_input = strdup(name);
  }
  return status;
}

static OrtStatus *look_at(provider *self, const OrtNode *in_graph, OrtEpGraphSupportInfo *support, FILE *report) {
  const char *name = "", *op_type = "", *domain = "";
  const OrtKernelDef *definition = NULL;
  const kernel_rows *rows;
  char why[KW_ORT_TEXT] = "";
  bool takes = false;
  int since = 0;
  OrtStatus *status = kw_ort->Node_GetOperatorType(in_graph, &op_type);
  if (!status) status = kw_ort->Node_GetDomain(in_graph, &domain);
  if (!status) status = kw_ort->Node_GetName(in_graph, &name);
  if (!status) status = kw_ort->Node_GetSinceVersion(in_graph, &since);
  if (!status) status = kw_ort_eps->EpGraphSupportInfo_LookUpKernel(support, in_graph, &definition);
  if (status) return status;
  rows = definition ? kernel_rows_of(domain, op_type, since) : NULL;
  if (!visible(self, op_type)) {
    snprintf(why, sizeof why, "the option 'operators' leaves it out");
  } else if (!rows) {
    snprintf(why, sizeof why, "the operator is not mapped in its version %d", since);
  } else {
    status = ask(self, in_graph, rows, &takes, why);
  }
  if (!status && takes) status = kw_ort_eps->EpGraphSupportInfo_AddSingleNode(support, in_graph);
  if (!status && takes) status = note_host_inputs(self, in_graph, rows->rows->host_inputs);
  for (char *c = why; *c; ++c)
    if (*c == '\n' || *c == '\t') *c = ' ';
  if (report)
    fprintf(report, "%s\t%s\t%s\t%s\n", takes ? kw_device_name(self->device) : "", op_type, name, takes ? "" : why);
  return status;
}

static OrtStatus *get_capability(ort_ep *slots, const OrtGraph *graph, OrtEpGraphSupportInfo *support) {
  provider *self = (provider *)slots;
  size_t count = 0;
  const OrtNode **nodes;
  FILE *report;
  OrtStatus *status = kw_ort->Graph_GetNumNodes(graph, &count);
  if (!status) status = weights_note(self, graph);
  if (status) return status;
  nodes = calloc(count ? count : 1, sizeof *nodes);
  if (!nodes) return kw_ort_refuse(ORT_FAIL, "no memory for a list of %zu nodes", count);
  report = self->report ? fopen(self->report, "ae") : NULL;
  if (self->report && !report) status = kw_ort_refuse(ORT_FAIL, "the report %s cannot be written", self->report);
  if (!status) status = kw_ort->Graph_GetNodes(graph, nodes, count);
  for (size_t i = 0; i < count && !status; ++i) status = look_at(self, nodes[i], support, report);
  if (report) fclose(report);
  free(nodes);
  return status;
}

/* ---- Options: ep.keyway.NAME.OPTION of the session -----------------------------------------------------------------
 */

static OrtStatus *set_option(provider *self, const char *option, const char *text) {
  if (strcmp(option, "math") == 0) {
    for (kw_math_mode mode = KW_MATH_HIGHEST; mode <= KW_MATH_FAST; ++mode)
      if (strcmp(kw_math_mode_name(mode), text) == 0) return kw_ort_status(kw_math_mode_set(mode), "the option 'math'");
    return kw_ort_refuse(ORT_INVALID_ARGUMENT, "the option 'math' is highest, tf32 or fast, not '%s'", text);
  }
  if (strcmp(option, "autocast") == 0) {
    self->autocast = strcmp(text, "off") == 0 ? KW_DTYPE_NONE : kw_dtype_from_name(text);
    if (self->autocast == KW_F16 || self->autocast == KW_BF16 || strcmp(text, "off") == 0) return NULL;
    return kw_ort_refuse(ORT_INVALID_ARGUMENT, "the option 'autocast' is f16, bf16 or off, not '%s'", text);
  }
  if (strcmp(option, "operators") == 0 || strcmp(option, "report") == 0) {
    char **place = option[0] == 'o' ? &self->only : &self->report;
    free(*place);
    *place = strdup(text);
    return *place ? NULL : kw_ort_refuse(ORT_FAIL, "no memory for the option '%s'", option);
  }
  if (strcmp(option, "graph") == 0) {
    if (strcmp(text, "1") == 0 || strcmp(text, "True") == 0) return capture_enable(self);
    if (strcmp(text, "0") == 0 || strcmp(text, "False") == 0) return NULL;
    return kw_ort_refuse(ORT_INVALID_ARGUMENT, "the option 'graph' is 1 or 0, not '%s'", text);
  }
  return kw_ort_refuse(ORT_INVALID_ARGUMENT,
                       "%s has no option '%s': it has math, autocast, operators, graph and report", self->factory->name,
                       option);
}

static OrtStatus *read_options(provider *self, const OrtSessionOptions *session) {
  OrtKeyValuePairs *pairs = NULL;
  const char *const *keys, *const *values;
  char prefix[96];
  size_t count = 0;
  OrtStatus *status = kw_ort->GetSessionOptionsConfigEntries(session, &pairs);
  if (status) return status;
  snprintf(prefix, sizeof prefix, "ep.%s.", self->factory->name);
  kw_ort->GetKeyValuePairs(pairs, &keys, &values, &count);
  for (size_t i = 0; i < count && !status; ++i)
    if (strncmp(keys[i], prefix, strlen(prefix)) == 0) status = set_option(self, keys[i] + strlen(prefix), values[i]);
  kw_ort->ReleaseKeyValuePairs(pairs);
  return status;
}

OrtStatus *kw_ort_provider_create(factory *factory, const char *device, const OrtSessionOptions *options,
                                  ort_ep **out_ep) {
  provider *self = calloc(1, sizeof *self);
  OrtStatus *status;
  if (!self) return kw_ort_refuse(ORT_FAIL, "no memory for a provider");
  self->factory = factory;
  self->autocast = KW_DTYPE_NONE;
  self->slots = (ort_ep){.ort_version_supported = kw_ort_api_version,
                         .GetName = get_name,
                         .GetCapability = get_capability,
                         .OnRunStart = on_run_start,
                         .OnRunEnd = on_run_end,
                         .OnSessionInitializationEnd = on_initialization_end,
                         .GetKernelRegistry = get_kernel_registry,
                         .CreateProfiler = profiler_create};
  capture_fill(&self->slots);
  status = kw_ort_status(kw_device_open(device, &self->device), "opening the device");
  if (!status) status = read_options(self, options);
  if (status) {
    kw_ort_provider_release(&self->slots);
    return status;
  }
  *out_ep = &self->slots;
  return NULL;
}

void kw_ort_provider_release(ort_ep *slots) {
  provider *self = (provider *)slots;
  weights_forget(self);
  kw_ort_stream_forget(self);
  capture_end(self);
  if (self->device) kw_device_close(self->device);
  free(self->host_input);
  free(self->only);
  free(self->report);
  free(self);
}
