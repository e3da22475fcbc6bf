// Settings: precedence, origins, every refusal with its position, and that printed settings read back.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "sindri/app/dist.h"
#include "sindri/app/settings.h"
#include "sindri/core/error.h"
#include "sindri/train/data_parallel.h"
#include "tests/train/temp_folder.h"

namespace sindri::app::settings_test {
namespace {

// The error that reading `yaml` throws.
SettingsError refusal(const std::string& yaml) {
  try {
    Settings().load_yaml_text(yaml, "dir/test.yaml");
  } catch (const SettingsError& e) { return e; }
  ADD_FAILURE() << "accepted: " << yaml.substr(0, 200);
  return SettingsError("accepted");
}

struct Case {
  const char* yaml;
  ErrorCode code;
  const char* message;  // part of it
  const char* where;
  const char* fix;
};

// The half type that train.amp_dtype auto selects; the device need not exist.
TEST(HalfType, FollowsNetworkAndDevice) {
  const struct {
    const char *net, *device, *named, *half;
  } cases[] = {{"resnet20", "", "auto", "bf16"},  {"resnet20", "CPU", "auto", "bf16"}, {"resnet20", "GPU", "auto", "f16"}, {"digits", "cuda:1", "auto", "f16"},
               {"lenet", "cuda", "auto", "bf16"}, {"resnet50", "GPU", "bf16", "bf16"}, {"lenet", "CPU", "f16", "f16"},     {"resnet20", "cud", "auto", "bf16"}};
  for (const auto& c : cases) {
    Settings s;
    s.load_yaml_text(std::string("model:\n  name: ") + c.net + "\n", "a.yaml");
    s.set(std::string("train.amp_dtype=") + c.named);
    if (c.device[0] != '\0') s.set(std::string("device_target=") + c.device);
    EXPECT_EQ(half_type(s), c.half) << c.net << " on " << c.device;
    s.set("train.amp_level=O2");
    EXPECT_EQ(scales_by_default(s), std::string(c.half) == "f16") << c.net << " on " << c.device;
  }
}

TEST(Settings, RefusesBadFiles) {
  const Case cases[] = {
      {"train:\n  epohcs: 3\n", ErrorCode::kUnknownSetting, "unknown setting train.epohcs", "dir/test.yaml:2:3", "did you mean 'train.epochs'?"},
      {"trian:\n  epochs: 3\n", ErrorCode::kUnknownSetting, "unknown section trian", "dir/test.yaml:1:1", "did you mean 'train'?"},
      {"trian: {}\n", ErrorCode::kUnknownSetting, "unknown section trian", "dir/test.yaml:1:1", "'train'"},
      {"boost: {grad_freez: {enabled: true}}\n", ErrorCode::kUnknownSetting, "unknown section boost.grad_freez", "dir/test.yaml:1:9",
       "did you mean 'boost.grad_freeze'?"},
      {"epochs: 3\n", ErrorCode::kUnknownSetting, "unknown setting epochs", "dir/test.yaml:1:1", ""},
      {"train:\n  epochs: 3\n  epochs: 4\n", ErrorCode::kDuplicateSetting, "train.epochs is given twice, first in line 2", "dir/test.yaml:3:3", "remove"},
      {"train: {epochs: 3}\ntrain: {seed: 1}\n", ErrorCode::kDuplicateSetting, "train is given twice", "dir/test.yaml:2:1", ""},
      {"train:\n  epochs: many\n", ErrorCode::kSettings, "train.epochs: expected a whole number, got 'many'", "dir/test.yaml:2:3", "default is 10"},
      {"train:\n  epochs: 3.5\n", ErrorCode::kSettings, "expected a whole number, got '3.5'", "dir/test.yaml:2:3", ""},
      {"train:\n  epochs: 99999999999999999999\n", ErrorCode::kSettings, "expected a whole number", "dir/test.yaml:2:3", ""},
      {"train:\n  epochs: \"3\"\n", ErrorCode::kSettings, "without quotes", "dir/test.yaml:2:3", "remove the quotes"},
      {"train:\n  epochs: 0\n", ErrorCode::kSettings, "train.epochs: expected 1 to 1000000, got 0", "dir/test.yaml:2:3", ""},
      {"train:\n  epochs: [1, 2]\n", ErrorCode::kSettings, "expected one value, got a list of 2", "dir/test.yaml:2:3", ""},
      {"train:\n  epochs: {a: 1}\n", ErrorCode::kSettings, "train.epochs: expected a value, got a mapping", "dir/test.yaml:2:3", ""},
      {"train:\n  epochs:\n", ErrorCode::kSettings, "train.epochs has no value", "dir/test.yaml:2", "write a value"},
      {"train: 5\n", ErrorCode::kSettings, "train is a section", "dir/test.yaml:1:1", ""},
      {"train:\n", ErrorCode::kSettings, "train has no value", "dir/test.yaml:1", "remove the section"},
      {"train.epochs: 3\n", ErrorCode::kSettings, "holds a dot", "dir/test.yaml:1:1", "write train:"},
      {"train:\n  sink_mode: yes\n", ErrorCode::kSettings, "expected true or false, got 'yes'", "dir/test.yaml:2:3", ""},
      {"lr:\n  max: .inf\n", ErrorCode::kSettings, "expected a number", "dir/test.yaml:2:3", ""},
      {"lr:\n  max: nan\n", ErrorCode::kSettings, "expected a number", "dir/test.yaml:2:3", ""},
      {"lr:\n  schedule: cosin\n", ErrorCode::kSettings, "got 'cosin'", "dir/test.yaml:2:3", "did you mean 'cosine'?"},
      {"train:\n  amp_level: O4\n", ErrorCode::kSettings, "expected O0, O1, O2, O3, ops_O1, ops_O2, ops_O3, cells_O1, cells_O2, cells_O3, got 'O4'",
       "dir/test.yaml:2:3", ""},
      {"data:\n  mean: [0.5, x]\n", ErrorCode::kSettings, "data.mean: expected a number, got 'x'", "dir/test.yaml:2:3", ""},
      {"data:\n  mean: [[0.5]]\n", ErrorCode::kSettings, "list inside a list", "dir/test.yaml:2", ""},
      {"data:\n  mean: [{a: 1}]\n", ErrorCode::kSettings, "mapping inside a list", "dir/test.yaml:2", ""},
      {"data:\n  mean: [~]\n", ErrorCode::kSettings, "data.mean has no value", "dir/test.yaml:2", ""},
      {"train:\n  epochs: 010\n", ErrorCode::kSettings, "train.epochs: expected a whole number without leading zeros, got '010'", "dir/test.yaml:2:3", ""},
      {"train:\n  seed: +07\n", ErrorCode::kSettings, "without leading zeros", "dir/test.yaml:2:3", ""},
      {"checkpoint:\n  prefix: \"a\\nb\"\n", ErrorCode::kSettings, "checkpoint.prefix: the text holds the control character 0x0a", "dir/test.yaml:2:3",
       "line breaks"},
      {"data:\n  path: \"a\\0b\"\n", ErrorCode::kSettings, "control character 0x00", "dir/test.yaml:2:3", ""},
      {"%SINDRI 2\n---\ntrain:\n  epochs: 3\n", ErrorCode::kSettings, "directive %SINDRI", "dir/test.yaml:1:1", "remove"},
      {"# text\n\n%TAG ! tag:x,2000:\n---\ntrain:\n  epochs: 3\n", ErrorCode::kSettings, "directive %TAG", "dir/test.yaml:3:1", "remove"},
      {"a: &x {b: 1}\n", ErrorCode::kSettings, "anchor", "dir/test.yaml:1", "write the value at each use"},
      {"train:\n  epochs: &n 3\n  seed: *n\n", ErrorCode::kSettings, "anchor", "dir/test.yaml:2", ""},
      {"train:\n  epochs: !!int 3\n", ErrorCode::kSettings, "tag", "dir/test.yaml:2", "remove the tag"},
      {"train: !mine\n  epochs: 3\n", ErrorCode::kSettings, "tag", "dir/test.yaml:1", ""},
      {"- a\n", ErrorCode::kSettings, "holds a list, not a mapping", "dir/test.yaml:1", ""},
      {"just text\n", ErrorCode::kSettings, "not a mapping", "dir/test.yaml:1", ""},
      {"? [a]\n: 1\n", ErrorCode::kSettings, "cannot be a key", "dir/test.yaml:1", ""},
      {"train: {epochs: 3}\n---\ntrain: {epochs: 4}\n", ErrorCode::kSettings, "more than one YAML document", "dir/test.yaml", ""},
      {"train: [\n", ErrorCode::kSettings, "", "dir/test.yaml:", ""},
      {"train:\n  epochs: 3\n bad indent: 4\n", ErrorCode::kSettings, "invalid YAML", "dir/test.yaml:3", ""},
      {"model:\n  name: \xff\xfe\n", ErrorCode::kSettings, "not UTF-8", "dir/test.yaml, byte 15", ""},
  };
  for (const Case& c : cases) {
    const SettingsError e = refusal(c.yaml);
    EXPECT_EQ(e.code(), c.code) << c.yaml << e.what();
    EXPECT_EQ(e.exit_code(), 2);
    EXPECT_NE(e.message().find(c.message), std::string::npos) << c.yaml << "expected: " << c.message << "\ngot: " << e.what();
    EXPECT_TRUE(e.where().starts_with(c.where)) << c.yaml << "expected: " << c.where << "\ngot: " << e.where();
    EXPECT_NE(e.fix().find(c.fix), std::string::npos) << c.yaml << "expected: " << c.fix << "\ngot: " << e.fix();
  }
}

TEST(Settings, RefusesLargeDeepAndZeroByteFiles) {
  EXPECT_NE(refusal(std::string((1 << 20) + 1, '#')).message().find("more than the 1048576"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 70; ++i) deep += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  EXPECT_NE(refusal(deep + std::string(70, ' ') + "b: 1\n").message().find("deeper than 64"), std::string::npos);
  EXPECT_NE(refusal("a: " + std::string(70, '[') + std::string(70, ']')).message().find("list"), std::string::npos);
  EXPECT_NE(refusal(std::string("train:\0 1", 9)).message().find("zero byte"), std::string::npos);
  // Hundreds of thousands of brackets must not overflow the stack.
  EXPECT_FALSE(std::string(refusal("a: " + std::string(500000, '[')).what()).empty());
  EXPECT_FALSE(std::string(refusal("a: " + std::string(500000, '{')).what()).empty());
}

TEST(Settings, TruncatedFilesNeverCrash) {
  const std::string yaml = "train:\n  epochs: 3\n  mode: \"graph\"\ndata:\n  mean: [0.1, 0.2]\n  std: [1, 2]\nmodel: {name: lenet}\n";
  int accepted = 0;
  for (size_t n = 0; n <= yaml.size(); ++n) {
    try {
      Settings().load_yaml_text(yaml.substr(0, n), "t.yaml");
      ++accepted;
    } catch (const SettingsError& e) { EXPECT_FALSE(e.where().empty()); }
  }
  EXPECT_GT(accepted, 5);
}

TEST(Settings, LaterSourcesWinAndAreNamed) {
  const TempFolder folder;
  const std::string path = folder.file("run.yaml");
  std::ofstream(path) << "train:\n  epochs: 3\n  batch_size: 64\n  seed: 7\ndata: {mean: [0.4914, 0.4822, 0.4465], std: [0.247, 0.2435, 0.2616]}\n";
  Settings s;
  EXPECT_EQ(s.get_int("train.epochs"), 10);
  EXPECT_TRUE(s.is_default("train.epochs"));
  s.load_yaml(path);
  s.load_environment({"SINDRI_TRAIN__BATCH_SIZE=128", "SINDRI_TRAIN__SEED=8", "SINDRI_LOG=debug", "HOME=/x", "SINDRI_DATA__PATH=/some/where"});
  s.set("train.seed=9");
  s.set("lr.schedule=step");
  s.set("lr.milestones=[10,20]");
  s.set("model.name=resnet20");
  s.validate();
  EXPECT_EQ(s.get_int("train.epochs"), 3);
  EXPECT_EQ(s.get_int("train.batch_size"), 128);
  EXPECT_EQ(s.get_int("train.seed"), 9);
  EXPECT_EQ(s.get_string("data.path"), "/some/where");
  EXPECT_EQ(s.get_floats("data.mean"), (std::vector<double>{0.4914, 0.4822, 0.4465}));
  EXPECT_EQ(s.get_ints("lr.milestones"), (std::vector<int64_t>{10, 20}));
  EXPECT_EQ(s.origin("train.epochs"), "run.yaml:2:3");
  EXPECT_EQ(s.origin("train.batch_size"), "SINDRI_TRAIN__BATCH_SIZE");
  EXPECT_EQ(s.origin("train.seed"), "--set");
  EXPECT_NE(s.print().find("  seed: 9"), std::string::npos);
  EXPECT_NE(s.print().find("# --set"), std::string::npos);
}

TEST(Settings, ProcessEnvironmentIsRead) {
  setenv("SINDRI_OPTIMIZER__WEIGHT_DECAY", "0.5", 1);
  Settings s;
  s.load_environment();
  unsetenv("SINDRI_OPTIMIZER__WEIGHT_DECAY");
  EXPECT_EQ(s.get_float("optimizer.weight_decay"), 0.5);
}

TEST(Settings, RefusesBadVariablesAndAssignments) {
  Settings s;
  try {
    s.load_environment({"SINDRI_TRAIN__EPOCH=3"});
    FAIL();
  } catch (const SettingsError& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnknownSetting);
    EXPECT_EQ(e.where(), "environment variable SINDRI_TRAIN__EPOCH");
    EXPECT_NE(e.fix().find("train.epochs"), std::string::npos);
  }
  for (const char* bad : {"train.epochs", "=3", "train.epochs=x", "nothing.at=1", "train.epochs=", ""}) EXPECT_THROW(s.set(bad), SettingsError) << bad;
  EXPECT_EQ(s.get_int("train.epochs"), 10) << "a refused assignment changes nothing";
  EXPECT_THROW(s.get_int("no.such"), InternalError);
  EXPECT_THROW(s.get_int("model.name"), InternalError);
}

TEST(Settings, RulesBetweenSettings) {
  const auto refused = [](std::initializer_list<const char*> sets, const char* part) {
    Settings s;
    for (const char* v : sets) s.set(v);
    try {
      s.validate();
      ADD_FAILURE() << part;
    } catch (const SettingsError& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
      EXPECT_FALSE(e.fix().empty());
    }
  };
  refused({"optimizer.nesterov=true", "optimizer.momentum=0"},
          "optimizer.nesterov: does nothing while optimizer.momentum is 0 | optimizer.nesterov from --set | set optimizer.momentum");
  refused({"optimizer.name=lars", "optimizer.nesterov=true", "optimizer.momentum=0"}, "does nothing while optimizer.momentum is 0");
  refused({"optimizer.name=sgd", "optimizer.nesterov=true", "optimizer.momentum=0"}, "momentum above 0");
  refused({"optimizer.name=sgd", "optimizer.nesterov=true", "optimizer.dampening=0.1"}, "optimizer.nesterov from --set");
  refused({"optimizer.name=adam", "optimizer.nesterov=true", "optimizer.amsgrad=true"}, "optimizer.amsgrad from --set");
  refused({"optimizer.name=rprop", "optimizer.step_min=2", "optimizer.step_max=1"}, "step_min 2 is above step_max 1");
  refused({"optimizer.nesterov=true", "optimizer.name=adamax"}, "adamax has no such setting");
  refused({"optimizer.rho=0.5"}, "momentum has no such setting");
  refused({"optimizer.loss_scale=8", "optimizer.name=adam_weight_decay"}, "adam_weight_decay has no such setting");
  refused({"lr.warmup_epochs=11"}, "do not fit");
  refused({"lr.schedule=step"}, "at least one epoch");
  refused({"lr.schedule=step"}, "lr.milestones");
  refused({"lr.schedule=step", "lr.milestones=20,10"}, "must be in ascending order");
  refused({"lr.milestones=10,20"}, "constant has no such setting");
  refused({"data.mean=0.5"}, "data.mean has 1 values");
  refused({"train.sink_size=0"}, "0 steps");
  refused({"train.amp_dtype=f16"}, "nothing is cast");
  refused({"train.amp_level=O1", "train.keep_batchnorm_fp32=false"}, "batch norm runs in float32 at train.amp_level O1");
  refused({"train.amp_level=O2", "loss_scale.init=8"}, "no loss scale with loss_scale.type auto");
  refused({"loss_scale.type=dynamic", "loss_scale.init=0.5"}, "at least 1");
  refused({"loss_scale.type=fixed", "loss_scale.window=5"}, "only a dynamic loss scale");
  refused({"loss_scale.type=dynamic", "optimizer.loss_scale=128"}, "divided by it and by the scale");
  refused({"checkpoint.prefix=a/b"}, "must not contain '/'");
  refused({"checkpoint.prefix=long", std::string("checkpoint.prefix=" + std::string(300, 'x')).c_str()}, "at most 180 bytes, this one 300");
  refused({"model.name=mlp", "model.conv_init=zeros"}, "mlp has no such setting");
  refused({"model.name=lenet", "model.variant=torchvision"}, "model.variant: lenet: expected mindspore, got 'torchvision' | model.variant from --set");
  refused({"optimizer.name=rmsprop", "optimizer.epsilon=0"}, "optimizer.epsilon: rmsprop: expected 1e-30");
  refused({"model.name=resnet20", "model.dense_init=xavier"}, "model.dense_init from --set");
  Settings().validate();
}

// If an algorithm is switched off, its other settings are ignored, unless they come from a later source: those would silently have no effect.
TEST(Settings, OfAnAlgorithmThatIsSwitchedOffRest) {
  Settings s;
  s.load_yaml_text("boost:\n  grad_freeze:\n    enabled: true\n    total_steps: 100\n    param_groups: 4\n", "x.yaml");
  s.validate();
  const std::string on = s.hash();
  s.set("boost.grad_freeze.enabled=false");
  s.validate();
  s.set("boost.average.decay=0.5");
  EXPECT_THROW(s.validate(), SettingsError) << "the average was not switched off";
  s.set("boost.average.enabled=false");
  s.validate();
  EXPECT_NE(s.hash(), on);
  EXPECT_EQ(s.hash(), Settings().hash()) << "they do not affect the run";
  Settings file;
  file.load_yaml_text("boost:\n  average:\n    enabled: false\n    decay: 0.5\n", "x.yaml");
  file.validate();
  file.set("boost.average.decay=0.7");
  EXPECT_THROW(file.validate(), SettingsError) << "the file switches it off, the command line sets one of its options";
}

// Networks have separate settings; before one is chosen, any network's may be set.
TEST(Settings, ANetsOwnSettings) {
  Settings s;
  s.set("model.variant=torchvision");
  s.validate();
  EXPECT_EQ(s.to_yaml().find("zero_init_residual"), std::string::npos);
  s.set("model.name=resnet20");
  s.set("model.zero_init_residual=true");
  s.validate();
  const SettingValues chosen = s.chosen("model.name");
  EXPECT_EQ(chosen.get_string("variant"), "torchvision");
  EXPECT_TRUE(chosen.get_bool("zero_init_residual"));
  EXPECT_EQ(chosen.get_string("conv_init"), "");
  Settings back;
  back.load_yaml_text(s.to_yaml(), "again.yaml");
  EXPECT_EQ(back.hash(), s.hash());
  EXPECT_THROW(s.set("model.name=resnet21"), SettingsError);
}

// Settings that registered components declare: the default is that of the chosen component, and a file of all settings holds only the chosen component's
// settings.
TEST(Settings, AnOptimizersOwnDefaults) {
  Settings s;
  EXPECT_EQ(s.get_float("optimizer.momentum"), 0.9);
  EXPECT_NE(s.to_yaml().find("nesterov: false"), std::string::npos);
  EXPECT_EQ(s.to_yaml().find("beta1"), std::string::npos);
  const std::string hash = s.hash();
  s.set("optimizer.name=rmsprop");
  EXPECT_EQ(s.get_float("optimizer.momentum"), 0);
  EXPECT_EQ(s.chosen("optimizer.name").get_float("epsilon"), 1e-10);
  EXPECT_NE(s.hash(), hash);
  s.set("optimizer.momentum=0.5");
  EXPECT_EQ(s.chosen("optimizer.name").get_float("momentum"), 0.5);
  s.validate();
  Settings back;
  back.load_yaml_text(s.to_yaml(), "again.yaml");
  EXPECT_EQ(back.to_yaml(), s.to_yaml());
  EXPECT_EQ(back.hash(), s.hash());
  // Files of earlier versions hold the defaults of settings that the optimizer does not have.
  Settings old;
  old.load_yaml_text("optimizer:\n  name: momentum\n  beta1: 0.9\n  eps: 1e-08\n", "old.yaml");
  old.validate();
}

TEST(Settings, PrintedYamlReadsBack) {
  Settings s;
  for (const char* v : {"train.run_dir=true", "data.path=/a b/\"c\"\\d", "lr.max=0.1000000000000000055", "data.mean=[0.1,-2e-7]", "data.std=[1,2]",
                        "checkpoint.prefix=- x: y # z", "lr.end=1e-300"}) {
    s.set(v);
  }
  Settings back;
  back.load_yaml_text(s.to_yaml(), "again.yaml");
  EXPECT_EQ(back.to_yaml(), s.to_yaml());
  EXPECT_EQ(back.hash(), s.hash());
  EXPECT_EQ(back.get_string("data.path"), "/a b/\"c\"\\d");
  EXPECT_EQ(back.get_string("checkpoint.prefix"), "- x: y # z");
  EXPECT_NE(Settings().hash(), s.hash());
  Settings printed;  // the output of --print-config is a settings file too
  printed.load_yaml_text(s.print(), "printed.yaml");
  EXPECT_EQ(printed.to_yaml(), s.to_yaml());
}

TEST(Settings, SuggestsWhatOtherProgramsCallIt) {
  const std::pair<const char*, const char*> cases[] = {{"optimizer.lr", "lr.max"},
                                                       {"optimizer.wd", "optimizer.weight_decay"},
                                                       {"train.lr", "lr.max"},
                                                       {"optimizer.learning_rate", "lr.max"},
                                                       {"train.momentum", "optimizer.momentum"},
                                                       {"data.batch_size", "train.batch_size"},
                                                       {"trian.seed", "train.seed"},
                                                       {"optimizer.epss", "optimizer.eps"}};
  for (const auto& [given, meant] : cases) {
    try {
      Settings().set(std::string(given) + "=1");
      ADD_FAILURE() << given;
    } catch (const SettingsError& e) { EXPECT_TRUE(e.fix().starts_with("did you mean '" + std::string(meant) + "'")) << given << ": " << e.fix(); }
  }
}

// The step accepts every value that the settings allow.
TEST(Settings, LargestNumbersOfDataParallelTrainingAreTaken) {
  for (const SettingSpec& spec : Settings::schema()) {
    const std::string name = spec.name;
    if (name != "dist.virtual_ranks" && name != "dist.bucket_mb" && name != "dist.replica_check_steps") continue;
    Settings s;
    s.set(name + "=" + std::to_string(static_cast<int64_t>(spec.max)));
    EXPECT_NO_THROW(train::check_data_parallel(data_parallel_options(s))) << name;
  }
}

TEST(Settings, MissingFileSaysSo) {
  try {
    Settings().load_yaml("/nonexistent/x.yaml");
    FAIL();
  } catch (const SettingsError& e) {
    EXPECT_NE(std::string(e.what()).find("settings file"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("/nonexistent/x.yaml"), std::string::npos);
  }
  EXPECT_THROW(Settings().load_yaml("/tmp"), SettingsError);
}

}  // namespace
}  // namespace sindri::app::settings_test
