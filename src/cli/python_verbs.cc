// See python_verbs.h. tests/python/test_tools.py compares these flags with those that Python reads.
#include "src/cli/python_verbs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "sindri/app/msrun.h"
#include "sindri/core/error.h"

namespace {

namespace fs = std::filesystem;

// argv: the folder of the package that contains this program (or nothing), then the verb and its arguments.
constexpr const char* kRun = R"(import importlib.util, sys
if sys.argv[1]:
    sys.path.insert(0, sys.argv[1])
why = "this Python has no package sindri" if importlib.util.find_spec("sindri") is None else ""
if not why:
    try:
        from sindri.tools import cli
    except ImportError as e:
        why = f"this Python cannot import the package: {e}"
if why:
    print(f"error[E2020] sindri {sys.argv[2]} is written in Python, and {why}\n  where: {sys.executable}\n"
          "  fix: install the wheel there, or set SINDRI_PYTHON to a Python that has it", file=sys.stderr)
    sys.exit(2)
sys.exit(cli.main(sys.argv[2:])))";

// In a wheel the program is in sindri/bin.
std::string package_folder() {
  std::error_code ignored;
  const fs::path package = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  return fs::exists(package / "__init__.py", ignored) ? package.parent_path().string() : "";
}

void add_convert(CLI::App* app) {
  CLI::App* verb = app->add_subcommand("convert",
                                       "Convert weights between MindSpore, safetensors and PyTorch files\n\nExamples:\n"
                                       "  sindri convert resnet18.pth resnet18.ckpt\n  sindri convert model-90_625.ckpt model.safetensors --drop-state\n");
  verb->add_option("source")->description("file to read: .ckpt, .safetensors, .pth, .pt")->type_name("IN")->required();
  verb->add_option("target")->description("file to write; its extension determines the format")->type_name("OUT")->required();
  const auto option = [verb](const char* name, const char* what, const char* type, const char* group) {
    verb->add_option(name)->description(what)->type_name(type)->group(group);
  };
  option("--names", "names in OUT: mindspore, torch, keep; default: mindspore for .ckpt, torch for .pth, keep for .safetensors", "STYLE", "Names");
  option("--from-names", "names in IN: auto, mindspore, torch (default: auto)", "STYLE", "Names");
  option("--net", "rules of a known network: auto, resnet, none (default: auto)", "NET", "Names");
  option("--map", "your own rules, applied before the others, one per line: `shortcut.* down_sample_layer.*`, `*.counter -`", "FILE", "Names");
  verb->add_flag("--reverse-map")->description("read the map from right to left, for the reverse conversion")->group("Names");
  verb->add_flag("--drop-state")->description("omit optimizer state, counters and text entries")->group("Contents");
  option("--compat", "mindspore1: a .ckpt without checksums, for MindSpore up to 2.0", "VERSION", "Contents");
  verb->add_flag("--force")->description("replace OUT if it exists")->group("Output");
  verb->add_flag("--verbose")->description("show every name")->group("Output");
  option("--report", "write the mapping of every name as JSON", "FILE", "Output");
}

void add_compare(CLI::App* app) {
  CLI::App* verb = app->add_subcommand("compare",
                                       "Record one training step, and compare two records value by value\n\nExamples:\n"
                                       "  sindri compare diff ours.npz theirs.npz\n  sindri compare record step.py:make ours.npz\n");
  verb->require_subcommand(1);
  CLI::App* diff = verb->add_subcommand("diff",
                                        "Print where two records first differ\n\nExamples:\n  sindri compare diff ours.npz theirs.npz\n"
                                        "  sindri compare diff ours.npz theirs.npz --rtol 1e-5 --rtol gradient=0.05\n");
  diff->add_option("a")->description("record to look at (.npz with its .json, or .safetensors)")->type_name("A")->required();
  diff->add_option("b")->description("record to compare it with")->type_name("B")->required();
  diff->add_option("--rtol")->description("relative tolerance, for all values or those of one kind (default: 1e-4)")->type_name("[KIND=]X");
  diff->add_option("--atol")->description("absolute tolerance (default: 1e-8)")->type_name("X");
  diff->add_option("--kinds")->description("compare only these kinds")->type_name("K,...");
  diff->add_flag("--all")->description("show every difference and every name that one record has alone");
  diff->add_option("--json")->description("write every comparison as JSON")->type_name("FILE");
  CLI::App* show =
      verb->add_subcommand("show", "Print the contents of a record\n\nExamples:\n  sindri compare show ours.npz\n  sindri compare show ours.npz | head\n");
  show->add_option("record")->description("record")->type_name("RECORD")->required();
  CLI::App* record = verb->add_subcommand("record",
                                          "Run one step and record it\n\nExamples:\n  sindri compare record step.py:make ours.npz\n"
                                          "  sindri compare record torch_step.py:make theirs.npz\n");
  record->add_option("function")
      ->description("a Python file and a function in it that returns (net, loss_fn, optimizer, batch)")
      ->type_name("SCRIPT:FUNCTION")
      ->required();
  record->add_option("target")->description("record to write (.npz or .safetensors)")->type_name("OUT")->required();
  record->add_option("--sample")->description("keep at most N evenly spaced elements of each tensor")->type_name("N");
}

void add_map(CLI::App* app) {
  CLI::App* verb = app->add_subcommand("map",
                                       "Print Sindri's counterparts of PyTorch's and MindSpore's names, and how they differ\n\nExamples:\n"
                                       "  sindri map torch.nn.Conv2d torch.cat\n  sindri map train.py\n\n"
                                       "A script is read, not run; names without a counterpart come first. Exit code: 0, or 1 if a name has none.\n");
  verb->add_option("names")
      ->description("names such as torch.nn.Conv2d, nn.Conv2d, F.relu, mindspore.ops.concat, or Python files")
      ->type_name("NAME|SCRIPT...");
  verb->add_flag("--all")->description("list every entry of the table");
  verb->add_option("--json")->description("write the answers as JSON; -: to standard output instead of the text")->type_name("FILE");
}

}  // namespace

void PythonVerbs::add_to(CLI::App* app) {
  add_convert(app);
  add_compare(app);
  add_map(app);
}

bool PythonVerbs::meant(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || (words[0] != "convert" && words[0] != "compare" && words[0] != "map")) return false;
  return std::none_of(words.begin(), words.end(), [](const std::string& w) { return w == "-h" || w == "--help"; });
}

void PythonVerbs::become(int argc, char** argv) {
  std::vector<std::string> words = {sindri::app::python_interpreter(), "-c", kRun, package_folder()};
  words.insert(words.end(), argv + 1, argv + argc);
  std::vector<char*> pointers;
  for (std::string& w : words) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  throw sindri::SettingsError(sindri::ErrorCode::kUsage, fmt::format("cannot start {}: {}", words[0], std::strerror(errno)), fmt::format("sindri {}", argv[1]),
                              "this verb is written in Python: install Python 3 and the wheel, or set SINDRI_PYTHON to one that has it");
}
