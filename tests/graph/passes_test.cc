// Each pass against golden text: tests/graph/golden/<pass>/<case>.before.ir goes through the pass and must come out as .after.ir. SINDRI_UPDATE_GOLDEN=1 writes
// the .after.ir files instead; read what changed before committing them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/graph/pass.h"
#include "sindri/ops/elementwise.h"
#include "source_dir.h"
#include "src/graph/passes/passes.h"
#include "tests/graph/helpers.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using namespace test;
namespace fs = std::filesystem;

const fs::path kGolden = fs::path(SINDRI_SOURCE_DIR) / "tests/graph/golden";

std::string read_text(const fs::path& file) {
  std::ifstream f(file);
  std::stringstream s;
  s << f.rdbuf();
  return s.str();
}

std::vector<std::string> cases() {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(kGolden)) {
    const std::string file = fs::relative(entry.path(), kGolden).string(), ending = ".before.ir";
    if (file.ends_with(ending)) out.push_back(file.substr(0, file.size() - ending.size()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

class GoldenPass : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPass, GivesTheExpectedGraph) {
  const std::string before = read_text(kGolden / (GetParam() + ".before.ir"));
  Graph g = parse_graph(before);
  ASSERT_EQ(g.text(), before);  // the file is in canonical form
  PassList passes = default_passes();
  const std::string pass_name = GetParam().substr(0, GetParam().find('/'));
  const auto pass = std::find_if(passes.begin(), passes.end(), [&](const auto& p) { return p->name() == pass_name; });
  ASSERT_NE(pass, passes.end());
  EXPECT_TRUE((*pass)->run(g, {}));
  verify_graph(g, pass_name);
  const fs::path after = kGolden / (GetParam() + ".after.ir");
  if (std::getenv("SINDRI_UPDATE_GOLDEN") != nullptr) std::ofstream(after) << g.text();
  EXPECT_EQ(g.text(), read_text(after));
  EXPECT_FALSE((*pass)->run(g, {}));  // a second run changes nothing
}

INSTANTIATE_TEST_SUITE_P(Passes, GoldenPass, ::testing::ValuesIn(cases()), [](const auto& test_case) {
  std::string name = test_case.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

TEST(FoldConstants, LargeResultIsFoldedWhenItsInputsAreLarger) {
  Graph g;
  const ValueId big = g.add_constant(Tensor::full({1 << 19}, 1)), also = g.add_constant(Tensor::full({1 << 19}, 2));  // 2 MiB each
  const ValueId in[] = {big, also};
  const ValueId sum = g.node(g.append(find_op("test_add"), Attrs(), in)).out[0];
  g.set_outputs({sum});
  EXPECT_TRUE(make_fold_constants()->run(g, {}));
  EXPECT_EQ(g.order().size(), 0u);
  EXPECT_EQ(g.value(g.outputs()[0]).constant.to_vector<float>()[7], 3.0f);
}

TEST(FoldConstants, ErrorNamesOpAndCell) {
  Graph g = parse_graph("graph \"f\" {\n  %0 = constant : f32[1] = {-1}\n  %1 = test_positive(%0) : f32[1] @ \"Net/check\"\n  return %1\n}\n");
  try {
    make_fold_constants()->run(g, {});
    FAIL() << "no error";
  } catch (const ValueError& e) { EXPECT_EQ(std::string(e.what()), "test_positive: found a negative value | test_positive on constants | in Net/check"); }
}

// ----- the pass manager -----

TensorList duplicate_and_dead(Span<const Tensor> in) {
  scale(in[0], 9);
  return {add(scale(in[0], 2), scale(in[0], 2))};
}
std::string compiled_text(const CompileOptions& options) {
  CompiledFn f = compile(duplicate_and_dead, options);
  const Tensor x[] = {vec({1, 2})};
  EXPECT_EQ(values(f(x)[0]), (std::vector<double>{4, 8}));
  return f.graph_text();
}

TEST(PassManager, PassesAreDisabledByName) {
  EXPECT_EQ(count(compiled_text({}), "test_scale"), 1u);
  EXPECT_EQ(count(compiled_text({.disable_passes = {"cse"}}), "test_scale"), 2u);
  EXPECT_EQ(count(compiled_text({.disable_passes = {"dce"}}), "test_scale"), 2u);
  EXPECT_EQ(count(compiled_text({.disable_passes = {"all"}}), "test_scale"), 3u);
}

// Dead elementwise steps that remain do not become a cluster without results.
TEST(PassManager, DeadStepsWithoutDce) {
  CompiledFn f = compile(
      [](Span<const Tensor> in) {
        ops::relu(in[0] + in[0]) * in[0];
        return TensorList{in[0] * in[0]};
      },
      {.disable_passes = {"dce"}});
  const Tensor x[] = {vec({1, 2})};
  EXPECT_EQ(values(f(x)[0]), (std::vector<double>{1, 4}));
}

TEST(PassManager, EnvironmentAddsToTheDisabledPasses) {
  setenv("SINDRI_DISABLE_PASSES", "dce", 1);
  EXPECT_EQ(count(compiled_text({.disable_passes = {"cse"}}), "test_scale"), 3u);
  setenv("SINDRI_DISABLE_PASSES", "cse,,dce", 1);
  EXPECT_EQ(count(compiled_text({}), "test_scale"), 3u);
  unsetenv("SINDRI_DISABLE_PASSES");
}

TEST(PassManager, UnknownPassNameIsRefused) {
  try {
    compiled_text({.disable_passes = {"dec"}});
    FAIL() << "no error";
  } catch (const SettingsError& e) {
    EXPECT_NE(std::string(e.what()).find("'dec'"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("simplify_layout, fold_constants, cse, dce"), std::string::npos) << e.what();
  }
}

TEST(PassManager, DumpsTheGraphBehindEachPass) {
  const fs::path dir = fs::path(testing::TempDir()) / "sindri_graph_dumps" / "nested";
  fs::remove_all(dir);
  setenv("SINDRI_DUMP_GRAPH", dir.c_str(), 1);
  const std::string text = compiled_text({.name = "my step/2", .disable_passes = {"fold_constants"}});
  unsetenv("SINDRI_DUMP_GRAPH");
  std::vector<std::string> files;
  for (const auto& e : fs::directory_iterator(dir)) files.push_back(e.path().filename().string());
  std::sort(files.begin(), files.end());
  std::vector<std::string> expected = {"my_step_2_0_00_traced.ir"};
  const PassList passes = default_passes();
  for (size_t i = 0; i < passes.size(); ++i) {
    const std::string number = (i + 1 < 10 ? "0" : "") + std::to_string(i + 1);
    if (passes[i]->name() != std::string("fold_constants")) expected.push_back("my_step_2_0_" + number + "_" + passes[i]->name() + ".ir");
  }
  ASSERT_EQ(files, expected);
  EXPECT_EQ(count(read_text(dir / files[0]), "test_scale"), 3u);
  EXPECT_EQ(count(read_text(dir / files[2]), "test_scale"), 2u);
  EXPECT_EQ(read_text(dir / files.back()), text);
  fs::remove_all(dir);
}

TEST(PassManager, SaveGraphsOfTheContextDumpsToo) {
  const fs::path dir = fs::path(testing::TempDir()) / "sindri_save_graphs";
  fs::remove_all(dir);
  const Context before = context();
  set_save_graphs(true, dir.string());
  compiled_text({.name = "saved"});
  set_save_graphs(before.save_graphs, before.save_graphs_path);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), fs::directory_iterator()), static_cast<ptrdiff_t>(default_passes().size() + 1));  // and as traced
  EXPECT_TRUE(fs::exists(dir / "saved_0_04_dce.ir"));
  fs::remove_all(dir);
}

TEST(PassManager, DumpIntoAFileIsAnIoError) {
  const fs::path file = fs::path(testing::TempDir()) / "sindri_not_a_folder";
  std::ofstream(file) << "x";
  setenv("SINDRI_DUMP_GRAPH", file.c_str(), 1);
  EXPECT_THROW(compiled_text({}), IoError);
  unsetenv("SINDRI_DUMP_GRAPH");
  fs::remove(file);
}

// A pass that breaks the graph: it reads a value before the value is made.
class Broken final : public Pass {
 public:
  const char* name() const override { return "broken"; }
  bool run(Graph& g, const PassContext&) override {
    const ValueId last = g.outputs()[0];
    g.append(find_op("test_relu"), Attrs(), {&last, 1}, "", g.order().front());
    return true;
  }
};

TEST(PassManager, VerifierNamesThePassThatBrokeTheGraph) {
  Graph g = parse_graph("graph \"f\" {\n  %0 = input : f32[1]\n  %1 = test_relu(%0) : f32[1]\n  return %1\n}\n");
  PassList passes;
  passes.push_back(std::make_unique<Broken>());
  PassContext context;
  run_passes(g, passes, context);  // unchecked
  context.verify = true;
  Graph h = parse_graph("graph \"f\" {\n  %0 = input : f32[1]\n  %1 = test_relu(%0) : f32[1]\n  return %1\n}\n");
  try {
    run_passes(h, passes, context);
    FAIL() << "no error";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("not legal after broken: node 1 (test_relu) reads value 1 before it is made"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace sindri
