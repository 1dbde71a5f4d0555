/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the program as a person does and looks at exit codes, texts, JSON and files; `keyway bench`: bench_test.c.
 */
#include "npy.h"
#include "test_program.h"

static bool contains_text(const cJSON *array, const char *text) {
  const cJSON *item;
  cJSON_ArrayForEach(item, array) {
    if (strcmp(cJSON_GetStringValue(item), text) == 0) return true;
  }
  return false;
}

static void save(const char *name, kw_dtype dtype, uint32_t rank, const int64_t *shape, const void *data) {
  char path[128], message[KW_CLI_NPY_MESSAGE], *bytes = NULL;
  kw_cli_npy array = {.dtype = dtype, .item_size = (uint32_t)kw_dtype_size(dtype), .rank = rank, .numel = 1};
  for (uint32_t i = 0; i < rank; ++i) array.numel *= array.shape[i] = shape[i];
  array.data = bytes = malloc((size_t)array.numel * array.item_size);
  memcpy(bytes, data, (size_t)array.numel * array.item_size);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (!kw_cli_npy_write(path, &array, message)) fail_msg("%s", message);
  free(bytes);
}

static kw_cli_npy load(const char *name) {
  char path[128], message[KW_CLI_NPY_MESSAGE];
  kw_cli_npy array;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (!kw_cli_npy_read(path, &array, message)) fail_msg("%s", message);
  return array;
}

/* ---- Help and usage ---------------------------------------------------------------------------------------------- */

static void help_is_there_for_everything(void **state) {
  (void)state;
  check("", 2, "usage: keyway COMMAND");
  check("help", 0, "Exit status: 0 done");
  check("--help", 0, "Commands:");
  check("-h", 0, "Commands:");
  static const char *const commands[] = {"list", "doctor", "ops", "eval", "trace", "version", "help", "completion"};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
    char line[64], usage[64];
    snprintf(usage, sizeof usage, "usage: keyway %s", commands[i]);
    snprintf(line, sizeof line, "help %s", commands[i]);
    check(line, 0, usage);
    snprintf(line, sizeof line, "%s --help", commands[i]);
    check(line, 0, usage);
  }
  check("help conform", 0, "--case");
  check("conform --help", 0, "--device");
  check("conform --device nope", 2, "nope");
  check("version", 0, "plugin ABI 1.0");
  check("--version", 0, kw_version());
}

static void wrong_usage_is_explained(void **state) {
  (void)state;
  check("lits", 2, "unknown command 'lits'; did you mean 'list'?");
  check("zzzzzz", 2, "unknown command 'zzzzzz'; 'keyway help' lists");
  check("help evall", 2, "did you mean 'eval'?");
  check("list --jsno", 2, "keyway list: unknown option '--jsno'; did you mean '--json'?");
  check("list --plugin", 2, "option --plugin needs a value: --plugin FILE");
  check("list --json=1", 2, "option --json takes no value");
  check("list npu", 2, "does not know what to do with 'npu'");
  check("list -- --json", 2, "does not know what to do with '--json'");
  check("completion tcsh", 2, "keyway completion bash");
  check("completion", 2, "needs the shell's name");
}

/* ---- Tables and JSON --------------------------------------------------------------------------------------------- */

static void list_shows_cpu(void **state) {
  (void)state;
  check("list", 0, "cpu:0");
  cJSON *json = run_json("list --json");
  const cJSON *devices =
      check_fields(json, "devices",
                   (const char *[]){"name", "qualified_name", "type", "emulated", "product", "vendor", "total_memory",
                                    "plugin", "stable_id", "attributes", NULL});
  const cJSON *attributes = cJSON_GetObjectItem(find_named(devices, "cpu:0"), "attributes");
  assert_true(cJSON_IsTrue(cJSON_GetObjectItem(attributes, "unified_memory")));
  assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(attributes, "dlpack_device_type")), 1);
  assert_null(cJSON_GetObjectItem(attributes, "luid"));
  check("list", 0, "unified_memory=yes, dlpack_device_type=1, dlpack_device_id=0");
  assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(find_named(devices, "cpu:0"), "type")), "cpu");
  cJSON_Delete(json);
  check("list --plugin no_such_file.so", 2, "no_such_file.so");
  check("list --plugin " KEYWAY_WITHOUT_DEVICE, 0, "fixture.without_device has no device: the driver of");
}

static void list_shows_a_chip_that_two_drivers_offer(void **state) {
  (void)state;
  check("list --plugin " KEYWAY_SHARED_ACME " --plugin " KEYWAY_SHARED_ZETA, 0, "the same chip as acme.shared:1");
  cJSON *json = run_json("list --json --plugin " KEYWAY_SHARED_ACME " --plugin " KEYWAY_SHARED_ZETA);
  const cJSON *devices = cJSON_GetObjectItem(json, "devices"), *device;
  int zetas = 0;
  cJSON_ArrayForEach(device, devices) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(device, "qualified_name"));
    const char *same = cJSON_GetStringValue(cJSON_GetObjectItem(device, "same_chip_as"));
    if (strncmp(name, "zeta.", 5) == 0) {
      assert_string_equal(same + strlen("acme"), name + strlen("zeta"));
      zetas++;
    } else if (strncmp(name, "acme.", 5) == 0) {
      assert_string_equal(same, "");
    }
  }
  assert_int_equal(zetas, 2);
  cJSON_Delete(json);
}

static void doctor_shows_every_candidate(void **state) {
  (void)state;
  check("doctor", 0, "KEYWAY_PLUGIN_PATH");
  check("doctor", 0, "signatures of certification packages");
  cJSON *json = run_json("doctor --json");
  const cJSON *plugins = check_fields(json, "plugins",
                                      (const char *[]){"path", "stage", "status", "reason", "verdict", "key", "abi",
                                                       "devices", "native", "options", "allowed_by", NULL});
  check("doctor", 0, "native: events, ");
  check_fields(json, "environment", (const char *[]){"name", "value", "reason", "meaning", NULL});
  check_fields(json, "folders", (const char *[]){"path", "state", "reason", "origin", NULL});
  int count = cJSON_GetArraySize(plugins);
  cJSON_Delete(json);

  char path[128];
  snprintf(path, sizeof path, "%s/broken.so", folder);
  FILE *file = fopen(path, "w");
  fputs("no library", file);
  fclose(file);
  json = run_json("doctor --json --plugin broken.so");
  plugins = cJSON_GetObjectItem(json, "plugins");
  assert_int_equal(cJSON_GetArraySize(plugins), count + 1);
  const cJSON *broken = cJSON_GetArrayItem(plugins, count);
  assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(broken, "verdict")), "failed");
  assert_true(*cJSON_GetStringValue(cJSON_GetObjectItem(broken, "reason")) != '\0');
  cJSON_Delete(json);
  check("doctor --plugin broken.so", 0, "broken.so");
  check("doctor --plugin no_such_file.so", 2, "no_such_file.so");
  check("doctor --plugin no_such_file.so", 2, "KEYWAY_PLUGIN_PATH"); /* and the report all the same */
  check("doctor", 0, "option keyway.cpu.memory_limit=0: ");
  check("list --plugin broken.so", 2, "keyway doctor --plugin broken.so");
  unlink(path);
}

/* What is asked for by the plugin's option, by the environment or by a manifest beside a copy of the plugin. */
static void isolated_plugins_are_shown(void **state) {
  (void)state;
  static const struct {
    const char *name, *value, *arguments;
    bool isolated;
  } asked[] = {{"KEYWAY_ISOLATE", "cpu", "", true},
               {"KEYWAY_OPTIONS", "keyway.cpu.isolate=1", "", true},
               {"KEYWAY_OPTIONS", "keyway.cpu.isolate=0", "", false},
               {"KEYWAY_PLUGINS", "-keyway_cpu", " --plugin ./cpu_copy.so", true}};
  char copy[2048], command[128];
  snprintf(copy, sizeof copy, "cd '%s' && cp '%s' cpu_copy.so && echo '{\"isolate\": true}' >cpu_copy.keyway.json",
           folder, KEYWAY_CPU_PLUGIN);
  assert_int_equal(system(copy), 0);
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i) {
    setenv(asked[i].name, asked[i].value, 1);
    snprintf(command, sizeof command, "list --json%s", asked[i].arguments);
    cJSON *json = run_json(command);
    const cJSON *item = find_named(cJSON_GetObjectItem(json, "devices"), "cpu:0");
    assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(item, "isolated")), asked[i].isolated);
    cJSON_Delete(json);
    snprintf(command, sizeof command, "list%s", asked[i].arguments);
    assert_int_equal(keyway(command), 0);
    assert_int_equal(strstr(output, "its plugin runs in a process of its own") != NULL, asked[i].isolated);
    snprintf(command, sizeof command, "doctor%s", asked[i].arguments);
    assert_int_equal(keyway(command), 0);
    assert_int_equal(strstr(output, "  runs in a process of its own") != NULL, asked[i].isolated);
    snprintf(command, sizeof command, "doctor --json%s", asked[i].arguments);
    json = run_json(command);
    bool any = false;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "plugins")) {
      any = any || cJSON_IsTrue(cJSON_GetObjectItem(item, "isolated"));
    }
    assert_int_equal(any, asked[i].isolated);
    cJSON_Delete(json);
    unsetenv(asked[i].name);
  }
}

static void doctor_tries_devices_and_doubts_the_environment(void **state) {
  (void)state;
  cJSON *json = run_json("doctor --json");
  check_fields(json, "trials", (const char *[]){"device", "works", "text", NULL});
  cJSON_Delete(json);
  check("doctor --device cpu:0", 0, "next in the launch of a kernel");
  check("doctor --device cpu:0", 0, "end, and it works");
  check("doctor --device no_such:0", 1, "failed there is no device 'no_such:0'");
  static const struct {
    const char *name, *value, *words;
  } odd[] = {{"KEYWAY_DETERMINISTIC", "yes", "NOT UNDERSTOOD"},
             {"KEYWAY_PLUGINS", "opencl", "NOT UNDERSTOOD"},
             {"KEYWAY_THREADS", "-3", "NOT UNDERSTOOD"},
             {"KEYWAY_TRACE_LIMIT", "512M", "NOT UNDERSTOOD"}, /* as the library itself says */
             {"KEYWAY_TRUST", "list", "NOT UNDERSTOOD"},
             {"KEYWAY_TRUST", "/no/list", "allows none at all: there is no file /no/list"},
             {"KEYWAY_ISOLATE", "cpu,nosuch", "'nosuch' is none of the plugins above"},
             {"KEYWAY_PLUGINS", "-nosuch", "'-nosuch' is none of the plugins above"},
             {"KEYWAY_OPTIONS", "keyway.cpu.isolate=0;acme.npu.depth=1", "'acme.npu.depth=1' is no option of the"},
             {"KEYWAY_KERNELS", "reluu=nope", "there is no op 'reluu'; did you mean 'relu'?"},
             {"KEYWAY_FALBACK", "warn", "KEYWAY_FALBACK"}};
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    const char *before = getenv(odd[i].name);
    char *kept = before != NULL ? strdup(before) : NULL;
    setenv(odd[i].name, odd[i].value, 1);
    check("doctor", 0, odd[i].words);
    if (kept != NULL) {
      setenv(odd[i].name, kept, 1);
    } else {
      unsetenv(odd[i].name);
    }
    free(kept);
  }
}

/* What a level asks for beyond what the device has: cpu:0 has all; a fixture add in f32. */
static void ops_tell_what_a_level_lacks(void **state) {
  (void)state;
  check("ops --device cpu:0 --missing core", 0, "0 in part, 0 not at all");
  check("ops --missing core", 2, "--missing goes with --device");
  check("ops --device cpu:0 --missing cores", 2, "--missing takes a level");
  check("ops --device " KEYWAY_BARE_DEVICE " --missing core+f64", 0,
        "core+f64, judged in f16 among the 16-bit floats: 0 of ");
  check("ops --device " KEYWAY_BARE_DEVICE " --missing core", 0, "OP ");
  cJSON *json = run_json("ops --json --missing core --device " KEYWAY_BARE_DEVICE);
  const cJSON *add = NULL, *op;
  cJSON_ArrayForEach(op, cJSON_GetObjectItem(json, "ops")) {
    if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(op, "op")), "add.Tensor") == 0) add = op;
  }
  assert_non_null(add);
  assert_true(contains_text(cJSON_GetObjectItem(add, "missing"), "i32"));
  assert_false(contains_text(cJSON_GetObjectItem(add, "missing"), "f32"));
  assert_true(contains_text(cJSON_GetObjectItem(add, "has"), "f32"));
  const cJSON *incomplete = cJSON_GetObjectItem(json, "incomplete");
  assert_int_equal(incomplete->valueint, cJSON_GetArraySize(cJSON_GetObjectItem(json, "ops")));
  assert_true(cJSON_GetObjectItem(json, "absent")->valueint < incomplete->valueint);
  assert_true(cJSON_GetObjectItem(json, "wanted")->valueint >= incomplete->valueint);
  cJSON_Delete(json);
}

static void ops_name_their_devices(void **state) {
  (void)state;
  check("ops", 0, "add.Tensor");
  cJSON *json = run_json("ops --json");
  const cJSON *ops = check_fields(
      json, "ops", (const char *[]){"name", "schema", "level", "dtypes", "bound", "comparator", "devices", NULL});
  const cJSON *add = find_named(ops, "add.Tensor");
  assert_true(contains_text(cJSON_GetObjectItem(add, "devices"), "cpu:0"));
  assert_true(contains_text(cJSON_GetObjectItem(add, "dtypes"), "bf16"));
  assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(add, "level")), "core");
  assert_true(cJSON_GetObjectItem(find_named(ops, "exp"), "bound")->valuedouble == 3);
  const cJSON *silu = find_named(ops, "silu"), *gelu = find_named(ops, "gelu"); /* each with its whole bound */
  assert_true(cJSON_GetObjectItem(silu, "bound")->valuedouble == 9);
  assert_true(cJSON_GetObjectItem(silu, "absolute")->valuedouble == 4e-30);
  assert_true(contains_text(cJSON_GetObjectItem(silu, "bounds"), "9 ulp + 4e-30 eps"));
  assert_true(cJSON_IsNull(cJSON_GetObjectItem(gelu, "bound")));
  assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(gelu, "magnitude")), "gelu/magnitude");
  const cJSON *words = cJSON_GetArrayItem(cJSON_GetObjectItem(gelu, "bounds"), 0);
  assert_non_null(strstr(cJSON_GetStringValue(words), "18 |gelu(self)| + self^2 p(self)"));
  check("ops", 0, "9 ulp + 4e-30 eps");
  cJSON_Delete(json);
  json = run_json("ops --json --device cpu:0");
  find_named(cJSON_GetObjectItem(json, "ops"), "mm");
  cJSON_Delete(json);
  check("ops --device nope", 2, "nope");
  check("ops add --device cpu:0", 0, "add.Scalar");
  check("ops abs --device " KEYWAY_BARE_DEVICE, 0, "not there: no kernel, nor those it needs");
  check("ops sub.Tensor --device " KEYWAY_BARE_DEVICE, 0, "made of other ops: f32");
  check("ops adn --device cpu:0", 2, "there is no op 'adn'");
  check("ops add --missing core --device cpu:0", 2, "leave out 'add'");
  json = run_json("ops sub.Tensor --json --device " KEYWAY_BARE_DEVICE);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "ops")), 1);
  const cJSON *sub = find_named(cJSON_GetObjectItem(json, "ops"), "sub.Tensor");
  assert_true(contains_text(cJSON_GetObjectItem(sub, "decomposed"), "f32"));
  cJSON_Delete(json);
  check("ops --device mutant:0 --plugin " KEYWAY_LOWER_MODES, 0, "tf32 (tf32), bf16 (fast), ");
  json = run_json("ops --json --device mutant:0 --plugin " KEYWAY_LOWER_MODES);
  const cJSON *kernels = cJSON_GetObjectItem(find_named(cJSON_GetObjectItem(json, "ops"), "mm"), "kernels");
  const cJSON *tf32 = find_named(kernels, "tf32");
  assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(tf32, "math_mode")), "tf32");
  assert_true(cJSON_IsTrue(cJSON_GetObjectItem(tf32, "deterministic")));
  assert_true(cJSON_IsFalse(cJSON_GetObjectItem(tf32, "off")));
  cJSON_Delete(json);
}

/* ---- trace ------------------------------------------------------------------------------------------------------- */

static void trace_judges_a_run(void **state) {
  (void)state;
  char trace[128];
  snprintf(trace, sizeof trace, "%s/trace.json", folder);
  save("a.npy", KW_F32, 1, (int64_t[]){3}, (float[]){1, 2, 3});
  setenv("KEYWAY_TRACE", trace, 1);
  check("eval add.Tensor --device cpu:0 --in a.npy --in a.npy", 0, "2, 4, 6");
  unsetenv("KEYWAY_TRACE");
  check("trace trace.json", 0, "verdict: the device's time is accounted for");
  cJSON *json = run_json("trace trace.json --json --slack=0");
  const cJSON *all = cJSON_GetObjectItem(json, "all");
  assert_true(cJSON_GetObjectItem(all, "launches")->valuedouble == 1);
  assert_true(cJSON_GetObjectItem(all, "recorded")->valuedouble == 1);
  assert_true(cJSON_IsTrue(cJSON_GetObjectItem(json, "holds")));
  cJSON_Delete(json);
  check("trace", 2, "name a trace");
  check("trace a.npy", 2, "a.npy is no trace");
  check("trace trace.json --slack soon", 2, "microseconds");
}

/* ---- eval -------------------------------------------------------------------------------------------------------- */

static void eval_adds_files(void **state) {
  (void)state;
  save("a.npy", KW_F32, 2, (int64_t[]){2, 3}, (float[]){1, 2, 3, 4, 5, 6});
  save("b.npy", KW_I32, 1, (int64_t[]){3}, (int32_t[]){10, 20, 30});
  check("eval add.Tensor --device cpu:0 --in a.npy --in b.npy --attr alpha=2 --out y.npy", 0, "y.npy: f32[2, 3]");
  kw_cli_npy y = load("y.npy");
  assert_true(y.dtype == KW_F32 && y.rank == 2 && y.shape[0] == 2 && y.shape[1] == 3);
  assert_memory_equal(y.data, ((float[]){21, 42, 63, 24, 45, 66}), 6 * sizeof(float));
  kw_cli_npy_free(&y);
  check("eval mul.Scalar --device cpu --in b.npy --attr other=3", 0, "30, 60, 90");
  check("eval sum.dim_IntList --device=cpu:0 --in=a.npy --attr=dim=-1 --attr keepdim=true --out y.npy", 0,
        "y.npy: f32[2, 1]");
  check("eval amax --device cpu:0 --in a.npy --attr keepdim=true --out y.npy", 0, "y.npy: f32[1, 1]");
  check("eval clamp.Tensor --device cpu:0 --in b.npy --in none --in b.npy", 0, "10, 20, 30");
  check("eval full --device cpu:0 --attr size=1,2 --attr fill_value=3 --attr dtype=f32", 0, "tensor([[3, 3]], f32");
}

static void eval_changes_arguments_not_files(void **state) {
  (void)state;
  save("x.npy", KW_I64, 1, (int64_t[]){2}, (int64_t[]){7, 8});
  check("eval fill_.Scalar --device cpu:0 --in x.npy --attr value=5 --out filled.npy", 0, "filled.npy: i64[2]");
  kw_cli_npy x = load("x.npy"), filled = load("filled.npy");
  assert_memory_equal(x.data, ((int64_t[]){7, 8}), 16);
  assert_memory_equal(filled.data, ((int64_t[]){5, 5}), 16);
  kw_cli_npy_free(&x);
  kw_cli_npy_free(&filled);
}

static void eval_takes_raw_dtypes(void **state) {
  (void)state;
  save("h.npy", KW_BF16, 1, (int64_t[]){2}, (uint16_t[]){0x3f80, 0x4000}); /* 1, 2 */
  check("eval add.Tensor --device cpu:0 --in h.npy --in h.npy", 2, "--in-dtype bf16");
  check("eval add.Tensor --device cpu:0 --in h.npy --in h.npy --in-dtype f16", 2, "--in-dtype f16");
  check("eval add.Tensor --device cpu:0 --in h.npy --in h.npy --in-dtype bf16 --out y.npy", 0, "y.npy: bf16[2]");
  kw_cli_npy y = load("y.npy");
  assert_memory_equal(y.data, ((uint16_t[]){0x4000, 0x4080}), 4);
  kw_cli_npy_free(&y);
}

static void eval_takes_lists(void **state) {
  (void)state;
  save("a.npy", KW_F32, 2, (int64_t[]){2, 3}, (float[]){1, 2, 3, 4, 5, 6});
  save("i.npy", KW_I64, 1, (int64_t[]){2}, (int64_t[]){-1, 0});
  save("j.npy", KW_I64, 2, (int64_t[]){1, 3}, (int64_t[]){1, 0, 1});
  check("eval cat --device cpu:0 --in a.npy,a.npy --attr dim=-1 --out y.npy", 0, "y.npy: f32[2, 6]");
  check("eval cat --device cpu:0 --in i.npy", 0, "-1");
  check("eval index.Tensor --device cpu:0 --in a.npy --in none,i.npy --out y.npy", 0, "y.npy: f32[2, 2]");
  kw_cli_npy y = load("y.npy");
  assert_memory_equal(y.data, ((float[]){3, 1, 6, 4}), 4 * sizeof(float));
  kw_cli_npy_free(&y);
  check("eval index_put --device cpu:0 --in a.npy --in i.npy,i.npy --in i.npy", 1,
        "argument 'values': expected f32, the dtype of 'self', got i64");
  check("eval gather --device cpu:0 --in a.npy --in j.npy --attr dim=0", 0, "4, 2, 6");
  check("eval gather --device cpu:0 --in a.npy --in i.npy --attr dim=0", 1, "differ in rank");
  check("eval index_select --device cpu:0 --in a.npy --in i.npy --attr dim=0", 1,
        "index_select: argument 'index': an index is out of range");
}

static void eval_explains_what_is_wrong(void **state) {
  (void)state;
  save("a.npy", KW_F32, 1, (int64_t[]){2}, (float[]){1, 2});
  save("c.npy", KW_F32, 1, (int64_t[]){3}, (float[]){1, 2, 3});
  check("eval", 2, "which op?");
  check("eval ad.Tensor --device cpu:0", 2, "there is no op 'ad.Tensor'; did you mean 'add.Tensor'?");
  check("eval add --device cpu:0", 2, "did you mean 'add.");
  check("eval add.Tensor --in a.npy --in a.npy", 2, "on which device?");
  check("eval add.Tensor --device nope:3 --in a.npy --in a.npy", 2, "nope:3");
  check("eval add.Tensor --device cpu:0 --in a.npy", 2, "needs another --in FILE, for argument 'other'");
  check("eval add.Tensor --device cpu:0 --in a.npy --in a.npy --in a.npy", 2, "takes no more tensors");
  check("eval add.Tensor --device cpu:0 --in a.npy --in no.npy", 2, "no.npy: cannot be opened");
  check("eval add.Tensor --device cpu:0 --in a.npy --in a.npy --attr alfa=1", 2, "did you mean 'alpha'?");
  check("eval add.Tensor --device cpu:0 --in a.npy --in a.npy --attr alpha=x", 2, "expected a number");
  check("eval add.Tensor --device cpu:0 --in a.npy --in a.npy --attr other=1", 2, "give it as a file with --in");
  check("eval full --device cpu:0 --attr size=2 --attr fill_value=1 --attr dtype=float32", 2, "did you mean 'f32'?");
  check("eval add.Tensor --device cpu:0 --in a.npy --in a.npy --attr alpha", 2, "NAME=VALUE");
  check("eval mul.Scalar --device cpu:0 --in a.npy", 2, "needs --attr other=VALUE");
  check("eval add.Tensor --device cpu:0 --in a.npy --in c.npy", 1, "shapes [2] and [3] do not broadcast");
  check("eval add.Tensor --device cpu:0 --in a.npy --in a.npy --out no/such/y.npy", 1, "no/such/y.npy: cannot be");
  check("eval add.Tensor --device cpu:0 --in a.npy --in a.npy --plugin no.so", 2, "no.so");
}

/* ---- warm -------------------------------------------------------------------------------------------------------- */

static void warm_calls_what_a_model_calls(void **state) {
  (void)state;
  char trace[128];
  snprintf(trace, sizeof trace, "%s/trace.json", folder);
  setenv("KEYWAY_TRACE", trace, 1);
  check("bench --rounds 1 --size 16 --op mm --op bitwise_not --dtype f32 --dtype f64", 0, "mm");
  unsetenv("KEYWAY_TRACE");
  bool has_f64 = false, has_integers = false;
  cJSON *json = run_json("warm --device cpu:0 --model trace.json --json"), *row;
  const cJSON *rows = check_fields(json, "rows", (const char *[]){"op", "what", "dtype", "ns", "built", NULL});
  cJSON_ArrayForEach(row, rows) {
    const char *op = cJSON_GetStringValue(cJSON_GetObjectItem(row, "op"));
    const bool of_f64 = strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(row, "dtype")), "f64") == 0;
    has_integers |= strcmp(op, "bitwise_not") == 0;
    has_f64 |= strcmp(op, "mm") == 0 && of_f64;
    assert_true(strcmp(op, "mm") == 0 || strcmp(op, "bitwise_not") == 0 || strcmp(op, "_to_copy") == 0);
    assert_null(cJSON_GetObjectItem(row, "failed"));
  }
  assert_true(has_f64 && has_integers);
  cJSON_Delete(json);
  json = run_json("warm --device cpu:0 --op mm --op neg --op _softmax --json");
  rows = cJSON_GetObjectItem(json, "rows");
  assert_true(cJSON_GetArraySize(rows) > 3); /* mm is there in several forms */
  find_row(rows, "_softmax", "[1, 1024]");
  cJSON_Delete(json);
  check("warm --op kmeans", 2, "there is no call of 'kmeans' to make");
  check("warm --dtype i32", 2, "--dtype wants f32, f64, f16 or bf16, not 'i32'");
  check("warm --model a.npy", 2, "a.npy is no trace: it has no list");
  check("warm --model no/such", 2, "no/such cannot be read");
  check("warm --device nope:7", 2, "nope:7");
}

/* ---- Completion -------------------------------------------------------------------------------------------------- */

/* What a shell prints that runs `script` in the tests' folder, with keyway in PATH; `line` is its argument. */
static void ask_shell(const char *shell, const char *script, const char *line, const char *says) {
  char command[4096];
  snprintf(command, sizeof command, "cd %s && PATH=$(dirname \"%s\"):$PATH %s -c '%s' '%s'", folder, KEYWAY_PROGRAM,
           shell, script, line);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t size = fread(output, 1, sizeof output - 1, pipe);
  output[size] = '\0';
  assert_int_equal(pclose(pipe), 0);
  if (!strstr(output, says)) fail_msg("%s: completing '%s' gives %s, not %s", shell, line, output, says);
}

/* What bash would offer for a line, blank-separated, in `output`. */
static void complete(const char *line, const char *says) {
  ask_shell("bash",
            "source <(keyway completion bash); COMP_WORDS=(keyway); COMP_LINE=\"$0\"; COMP_POINT=${#COMP_LINE}; "
            "COMP_WORDBREAKS=\" :=\"; _keyway; echo \"[${COMPREPLY[*]}]\"",
            line, says);
}

static void completion_offers_what_fits(void **state) {
  (void)state;
  complete("keyway do", "[doctor]");
  complete("keyway list --js", "[--json]");
  complete("keyway list ", "[]");
  complete("keyway eval add.Ten", "[add.Tensor]");
  complete("keyway eval add.Tensor --device cp", "[cpu:0]");
  complete("keyway eval add.Tensor --device cpu:", "[0]");
  complete("keyway eval add.Tensor --device cpu:0/", "0/keyway.cpu.memory_limit=");
  complete("keyway eval add.Tensor --device=cp", "[cpu:0]");
  complete("keyway eval add.Tensor --device=cpu:", "[0]");
  complete("keyway eval add.Tensor --device cpu/keyway.", "[cpu/keyway.cpu.memory_limit=]");
  complete("keyway eval add.Tensor --device auto/keyway.cpu.", "[auto/keyway.cpu.memory_limit=]");
  complete("keyway help ev", "[eval]");
  complete("keyway conform --jun", "[--junit]");
  complete("keyway conform --level ", "[core inference training]");
  complete("keyway conform --suite ops,gr", "[ops,graph]");
  complete("keyway new --kit g", "[gpu]");
  complete("keyway eval --in-dtype b", "[bf16]");
  complete("keyway eval add.Tensor --in no-such", "[]"); /* files, which the shell knows */
  complete("keyway report --html x s", "[show]");
  complete("keyway report show s", "[]");
  complete("keyway no-such x", "[]");
  complete("keyway completion ", "[bash zsh fish]");
}

/* Each in a shell that is there. */
static void other_shells_offer_the_same(void **state) {
  (void)state;
  const char *const fish = "keyway completion fish | source; complete --do-complete $argv[1]";
  if (system("command -v fish >/dev/null") == 0) {
    ask_shell("fish", fish, "keyway do", "doctor\tShow every plugin");
    ask_shell("fish", fish, "keyway conform --level ", "core\n");
    ask_shell("fish", fish, "keyway eval add.Tensor --device cp", "cpu:0\t");
  }
  if (system("command -v zsh >/dev/null") == 0) {
    /* Its functions that show what is offered are there inside its editor only. */
    const char *const zsh =
        "compdef() { :; }; _files() { print files }; _describe() { print -rl -- ${(P)4} }; "
        "source <(keyway completion zsh); words=(${(z)0}); [[ $0 != *\" \" ]] || words+=(\"\"); "
        "CURRENT=$#words; _keyway";
    ask_shell("zsh", zsh, "keyway do", "doctor:Show every plugin");
    ask_shell("zsh", zsh, "keyway conform --level ", "inference:\n");
    ask_shell("zsh", zsh, "keyway eval add.Tensor --device cp", "cpu\\:0:");
    ask_shell("zsh", zsh, "keyway eval add.Tensor --device cpu:0/", "memory_limit=:bytes");
    ask_shell("zsh", zsh, "keyway eval add.Tensor --in no-such", "files");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(help_is_there_for_everything),
      cmocka_unit_test(wrong_usage_is_explained),
      cmocka_unit_test(list_shows_cpu),
      cmocka_unit_test(list_shows_a_chip_that_two_drivers_offer),
      cmocka_unit_test(doctor_shows_every_candidate),
      cmocka_unit_test(isolated_plugins_are_shown),
      cmocka_unit_test(doctor_tries_devices_and_doubts_the_environment),
      cmocka_unit_test(ops_name_their_devices),
      cmocka_unit_test(ops_tell_what_a_level_lacks),
      cmocka_unit_test(trace_judges_a_run),
      cmocka_unit_test(eval_adds_files),
      cmocka_unit_test(eval_changes_arguments_not_files),
      cmocka_unit_test(eval_takes_raw_dtypes),
      cmocka_unit_test(eval_takes_lists),
      cmocka_unit_test(eval_explains_what_is_wrong),
      cmocka_unit_test(warm_calls_what_a_model_calls),
      cmocka_unit_test(completion_offers_what_fits),
      cmocka_unit_test(other_shells_offer_the_same),
  };
  static const char *const files[] = {"a.npy",      "b.npy",      "c.npy",       "h.npy",
                                      "i.npy",      "j.npy",      "x.npy",       "y.npy",
                                      "filled.npy", "trace.json", "cpu_copy.so", "cpu_copy.keyway.json",
                                      NULL};
  return end_in_folder(cmocka_run_group_tests(tests, make_folder, NULL), files);
}
