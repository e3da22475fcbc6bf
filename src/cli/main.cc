// The `sindri` program: parses the command line and calls sindri::app. Nothing is computed here.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "sindri/app/app.h"
#include "sindri/app/dist.h"
#include "sindri/app/error_report.h"
#include "sindri/app/inspect.h"
#include "sindri/app/settings.h"
#include "sindri/comm/communicator.h"
#include "sindri/comm/trace.h"
#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/train/boost.h"
#include "sindri/train/training_state.h"
#include "src/cli/comm_verbs.h"
#include "src/cli/evaluation_verbs.h"
#include "src/cli/launch_verbs.h"
#include "src/cli/manual_verbs.h"
#include "src/cli/measure_verbs.h"
#include "src/cli/msrun_verb.h"
#include "src/cli/pca_verb.h"
#include "src/cli/plan_verb.h"
#include "src/cli/process.h"
#include "src/cli/python_verbs.h"
#include "src/cli/report_verbs.h"
#include "src/train/output_file.h"

namespace {

using sindri::app::Settings;

// Options that several verbs share.
struct Common {
  std::string config, device, device_id;
  std::vector<std::string> sets;
  bool print_config = false;
};

void add_settings_flags(CLI::App* verb, Common* c) {
  verb->add_option("--config", c->config, "YAML file with settings")->type_name("FILE")->group("Settings");
  verb->add_option("--set", c->sets, "a setting as section.key=value; may be repeated; overrides the file and the environment")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group("Settings");
  verb->add_flag("--print-config", c->print_config, "print every setting and the source of its value, then exit")->group("Settings");
}

// Flags of the verbs that compute.
void add_device_flags(CLI::App* verb, Common* c) {
  verb->add_option("--device", c->device, "device to run on: cpu, gpu, or another name that sindri doctor lists (cuda:1); default: device_target, or the CPU")
      ->type_name("NAME")
      ->group("Device");
  verb->add_option("--device-id", c->device_id, "index of the device, from 0")->type_name("N")->group("Device");
}

// Order of priority, lowest first: YAML file (else the one the checkpoint was trained with), environment, --set.
Settings read_settings(const Common& c, const std::string& fallback_file = "") {
  Settings s;
  const std::string& file = c.config.empty() ? fallback_file : c.config;
  if (!file.empty()) s.load_yaml(file);
  s.load_environment();
  for (const std::string& assignment : c.sets) s.set(assignment);
  if (!c.device.empty()) {
    s.set("device_target=" + c.device, "--device");
    if (c.device_id.empty() && !s.is_default("device_id")) s.set("device_id=0", "--device");  // the file's number belongs to the file's target
  }
  if (!c.device_id.empty()) s.set("device_id=" + c.device_id, "--device-id");
  s.validate();
  return s;
}

std::string command_line(int argc, char** argv) {
  std::string s;
  for (int i = 0; i < argc; ++i) { s += (i > 0 ? " " : "") + sindri::app::shell_word(argv[i]); }
  return s;
}

// The program's own help lists the verbs with one line each; their examples are in their own help.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* verb) const override {
    const std::string text = verb->get_description();
    std::string out = "  " + verb->get_name();
    out.resize(std::max(out.size() + 1, get_column_width()), ' ');
    return out + text.substr(0, text.find('\n')) + "\n";
  }
};

struct Program {
  CLI::App app{
      "Sindri trains neural networks in MindSpore's manner.\n\nExamples:\n  sindri train --config configs/digits.yaml\n  sindri summary "
      "resnet50\n\nEnvironment: SINDRI_NUM_THREADS, SINDRI_STRICT, SINDRI_TUNE, SINDRI_LOG and others, see docs/environment.md\n"};
  Common common;
  sindri::app::TrainRequest train;
  std::string checkpoint, net, op, settings_name;
  std::string program_name = "sindri";  // as it was called
  bool all_cells = false, settings_doc = false, ops_doc = false;
  EvaluationVerbs judge;
  ReportVerbs report;
  MeasureVerbs measure;
  LaunchVerbs launch;
  MsrunVerb msrun;
  CommVerbs comm;
  PcaVerb pca;
  PlanVerb plan;
  PythonVerbs python;
  ManualVerbs manual;
  std::string weights = "average", output, look_json;
  CLI::App *boost_verb, *explain_verb, *weights_verb;
  CLI::App *train_verb, *summary_verb, *ops_verb, *doctor_verb, *version_verb;

  Program() {
    app.name("sindri");
    app.formatter(std::make_shared<HelpFormatter>());
    app.require_subcommand(1);
    app.set_help_flag("-h,--help", "print this help");
    app.set_version_flag("--version", sindri::app::version_text(), "print the version");
    app.get_formatter()->column_width(34);
    add_train();
    judge.add_to(&app, [this](CLI::App* verb) {
      add_device_flags(verb, &common);
      add_settings_flags(verb, &common);
    });
    report.add_to(&app);
    summary_verb = app.add_subcommand("summary",
                                      "Print a network's layers with shapes, parameters and multiply-adds\n\nExamples:\n  sindri summary resnet50\n"
                                      "  sindri summary resnet20 --set model.num_classes=10 --all\n");
    summary_verb->add_option("net", net, "name of the network (default: model.name of the settings; without either, the names are listed)")->type_name("NET");
    summary_verb->add_flag("--all", all_cells, "print every cell, not only the outer two levels");
    add_json_flag(summary_verb, "write every cell as JSON");
    add_settings_flags(summary_verb, &common);
    measure.add_to(&app);
    launch.add_to(&app);
    msrun.add_to(&app);
    add_settings_flags(comm.add_to(&app), &common);
    pca.add_to(&app);
    plan.add_to(&app);
    python.add_to(&app);
    add_boost();
    ops_verb = app.add_subcommand("ops", "List the operators and their kernels\n\nExamples:\n  sindri ops\n  sindri ops conv2d\n");
    ops_verb->add_option("op", op, "op to describe: attributes, gradient, kernels")->type_name("OP");
    ops_verb->add_flag("--markdown", ops_doc, "print the table of docs/ops.md");
    doctor_verb = app.add_subcommand("doctor",
                                     "Check this machine for training: OK, WARN or FAIL, each with a fix\n\n"
                                     "Examples:\n  sindri doctor\n  sindri doctor --json -\n\nExit code: 0, or 5 if a check fails.\n");
    add_json_flag(doctor_verb, "write the findings as JSON");
    manual.add_to(&app);
    version_verb = app.add_subcommand("version", "Print the version\n\nExamples:\n  sindri version\n  sindri version | head -1\n");
  }

  void add_json_flag(CLI::App* verb, const std::string& what) {
    verb->add_option("--json", look_json, what + "; -: to standard output instead of the text")->type_name("FILE")->group("Output");
  }

  // Prints the results of summary and doctor: as JSON to a file in addition to the text, or instead of it.
  void print_found(const std::string& text, const std::string& json) {
    if (look_json != "-") print_out(text);
    if (look_json == "-") print_out(json);
    else if (!look_json.empty()) sindri::train::OutputFile(look_json, "JSON file").write(json);
  }

  int run_doctor() {
    const sindri::app::DoctorReport r = sindri::app::examine();
    print_found(sindri::app::doctor_text(r), sindri::app::doctor_json(r));
    return r.verdict() == sindri::app::Finding::kFail ? 5 : 0;
  }

  void run_summary(const Settings& s) {
    const std::string name = net.empty() ? s.get_string("model.name") : net;
    if (name.empty() && !look_json.empty()) throw sindri::SettingsError("--json needs a net to look at", "command line", "name one: sindri summary lists them");
    print_found(look_json == "-" ? "" : sindri::app::summary(net, s, all_cells),
                look_json.empty() ? "" : sindri::app::summary_json(sindri::app::summarize(name, s)));
  }

  void add_train() {
    train_verb = app.add_subcommand("train",
                                    "Train a network and write a run folder with checkpoints, metrics and curves\n\nExamples:\n  sindri train quickstart\n"
                                    "  sindri train --config configs/resnet20_cifar10.yaml --set data.path=DIR --set train.epochs=5\n");
    add_settings_flags(train_verb, &common);
    train_verb->add_option("name", settings_name, "installed settings, instead of --config: quickstart, or a file of configs/ without .yaml")
        ->type_name("NAME")
        ->excludes("--config");
    train_verb->add_option("--checkpoint", train.checkpoint, "start from these weights (with --resume: continue from this file)")
        ->type_name("FILE")
        ->group("Start");
    add_device_flags(train_verb, &common);
    CLI::Option* resume = train_verb->add_flag("--resume", train.resume, "continue from the newest valid checkpoint of train.run_dir")->group("Start");
    train_verb
        ->add_flag("--allow-batch-change", train.allow_batch_change,
                   "allow resuming with another number of samples per step (ranks, batch size); learning rates are not adapted")
        ->group("Start")
        ->needs(resume);
    train_verb->add_flag("--dry-run", train.dry_run, "open the data, build the network, run two steps, print memory and time; write nothing")
        ->group("Output")
        ->excludes(resume);
    train_verb
        ->add_option("--lr-find", train.lr_find,
                     "train 100 updates with learning rates from 1e-6 to 10, write the losses to a CSV file and suggest an lr.max; write nothing else")
        ->type_name("FILE")
        ->group("Output")
        ->excludes(resume);
    train_verb->add_flag("--quiet", train.quiet, "print plain lines instead of a live progress line")->group("Output");
    train_verb->add_flag("--settings-doc", settings_doc, "print the table of settings as Markdown, then exit")->group("Output");
  }

  void add_boost() {
    boost_verb = app.add_subcommand("boost",
                                    "Show which training algorithms are active, and export the weights they keep\n\nExamples:\n  sindri boost explain --config "
                                    "configs/digits.yaml\n  sindri boost weights --checkpoint FILE --output averaged.ckpt\n");
    boost_verb->require_subcommand(1);
    explain_verb = boost_verb->add_subcommand("explain",
                                              "Print the active algorithms in their order, and why the others are not active\n\nExamples:\n  sindri boost "
                                              "explain --config configs/digits.yaml\n  sindri boost explain --set boost.grad_accumulation.enabled=true\n");
    add_settings_flags(explain_verb, &common);
    weights_verb =
        boost_verb->add_subcommand("weights",
                                   "Write the weights that an algorithm keeps to a separate checkpoint\n\nExamples:\n  sindri boost weights "
                                   "--checkpoint FILE --output averaged.ckpt\n  sindri boost weights --checkpoint FILE --weights average --output a.ckpt\n");
    weights_verb->add_option("--checkpoint", checkpoint, "checkpoint of a training")->type_name("FILE")->required();
    weights_verb->add_option("--weights", weights, "the algorithm")->type_name("NAME")->capture_default_str();
    weights_verb->add_option("--output", output, "file to write")->type_name("FILE")->required();
  }

  int run_boost() {
    if (weights_verb->parsed()) {
      print_out(sindri::train::export_weights(checkpoint, weights, output) + "\n");
      return 0;
    }
    const Settings s = read_settings(common);
    print_out(common.print_config ? s.print() : sindri::app::explain_boosts(s));
    return 0;
  }

  int run_train(const std::string& line) {
    if (settings_doc) {
      print_out(Settings::schema_markdown());
      return 0;
    }
    const Settings s = read_settings(common, settings_name.empty() ? "" : sindri::app::named_settings_file(settings_name));
    if (common.print_config) {
      print_out(s.print());
      return 0;
    }
    outlive_reader();
    // `python -m sindri` passes these words instead of the program's path.
    train.program = program_name.ends_with(" -m sindri") ? program_name : sindri::app::shell_word(program_name);
    train.command_line = line;
    const sindri::app::TrainReport r = sindri::app::train(s, train);
    return r.stopped_by_signal == 0 ? 0 : 128 + r.stopped_by_signal;
  }

  int run_other() {
    if (doctor_verb->parsed()) return run_doctor();
    if (version_verb->parsed()) {
      print_out(sindri::app::version_text());
      return 0;
    }
    if (ops_verb->parsed()) {
      print_out(ops_doc ? sindri::app::ops_markdown() : sindri::app::ops(op));
      return 0;
    }
    const Settings s = read_settings(common, judge.parsed() ? judge.settings_file() : "");
    if (common.print_config) print_out(s.print());
    else if (judge.parsed()) return judge.run(s);
    else run_summary(s);
    return 0;
  }
};

// Checks that the first word is a verb, as CLI11 would only say that a verb is missing.
void check_verb(const Program& p, int argc, char** argv) {
  if (argc >= 2 && argv[1][0] == '-') return;
  std::vector<std::string> verbs;
  for (const CLI::App* v : p.app.get_subcommands([](const CLI::App*) { return true; })) verbs.push_back(v->get_name());
  if (argc < 2)
    throw sindri::Error(sindri::ErrorCode::kUsage, "no verb given", command_line(argc, argv),
                        fmt::format("one of: {}; see sindri --help", fmt::join(verbs, ", ")));
  if (std::find(verbs.begin(), verbs.end(), argv[1]) != verbs.end()) return;
  throw sindri::Error(sindri::ErrorCode::kUsage, fmt::format("unknown verb '{}'", argv[1]), command_line(argc, argv), sindri::did_you_mean(argv[1], verbs));
}

// Converts CLI11's error, with the nearest flag for a misspelt one.
sindri::Error usage_error(const Program& p, const CLI::ParseError& e, int argc, char** argv) {
  std::string fix = "see sindri --help, or sindri VERB --help";
  if (const auto verbs = p.app.get_subcommands(); !verbs.empty()) {
    const CLI::App* verb = verbs[0];
    std::string name = verb->get_name();
    while (!verb->get_subcommands().empty()) {  // sindri ranktable merge
      verb = verb->get_subcommands()[0];
      name += " " + verb->get_name();
    }
    fix = fmt::format("see sindri {} --help", name);
    std::vector<std::string> flags;
    for (const CLI::Option* o : verb->get_options()) {
      for (const std::string& flag : o->get_lnames()) flags.push_back("--" + flag);
    }
    for (int i = 2; i < argc && std::string(argv[i]) != "--"; ++i) {  // the words after it belong to another program
      const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
      const bool unknown = word.starts_with("--") && std::find(flags.begin(), flags.end(), word) == flags.end();
      if (const std::string near = unknown ? sindri::did_you_mean(word, flags) : ""; !near.empty())
        return {sindri::ErrorCode::kUsage, fmt::format("unknown flag {}", word), command_line(argc, argv), near};
    }
    const bool starts = verbs[0]->get_name() == "run" || verbs[0]->get_name() == "launch-script";
    if (starts && dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr && std::find(argv, argv + argc, std::string("--")) == argv + argc)
      return {sindri::ErrorCode::kUsage, "the program to run must follow --, with its arguments", command_line(argc, argv),
              fmt::format("sindri {} FLAGS -- PROGRAM ARGUMENTS; see sindri {} --help", name, name)};
  }
  return {sindri::ErrorCode::kUsage, e.what(), command_line(argc, argv), fix};
}

// Names at least the verb if memory ran out at an unknown place.
sindri::Error& at_command(sindri::Error& e, const std::string& line) {
  if (e.code() == sindri::ErrorCode::kMemory && e.where().empty()) e.add_where(line);
  return e;
}

int fail(const sindri::Error& e) {
  std::fflush(stdout);
  print_error(e);
  sindri::comm::leave_code(e.code());
  return e.exit_code();
}

// The OpenMP runtime reads before main how long its threads spin at a barrier. With its default, milliseconds, a step becomes several times slower as soon as
// another program uses one of the cores. Some ten microseconds cost nothing on an idle machine. Therefore the program restarts itself with a short spin, unless
// the user has set one.
void limit_spinning(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "3000", 1);
  execv("/proc/self/exe", argv);  // returns only if it fails; then the default stays
}

// `msrun ARGUMENTS` is `sindri msrun ARGUMENTS`.
std::vector<char*> with_verb(int argc, char** argv) {
  static char verb[] = "msrun";
  std::vector<char*> out(argv, argv + argc);
  if (is_msrun(argv[0])) out.insert(out.begin() + 1, verb);
  out.push_back(nullptr);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  prepare_process();
  sindri::comm::arm_exit_guard();
  limit_spinning(argv);
  std::vector<char*> all = with_verb(argc, argv);
  argc = static_cast<int>(all.size()) - 1;
  argv = all.data();
  Program program;
  program.program_name = argv[0];
  try {
    check_verb(program, argc, argv);
    if (PythonVerbs::meant(argc, argv)) PythonVerbs::become(argc, argv);
    std::vector<std::string> before(argv, argv + argc);  // the words before "--", which another program's arguments follow
    program.launch.take_command(&before);
    std::vector<const char*> words;
    for (const std::string& word : before) words.push_back(word.c_str());
    program.app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::CallForHelp&) {
    print_out(program.app.help());
    return finish_output(0);
  } catch (const CLI::CallForVersion&) {
    print_out(sindri::app::version_text());
    return finish_output(0);
  } catch (const CLI::ParseError& e) { return fail(usage_error(program, e, argc, argv)); } catch (const sindri::Error& e) {
    return fail(e);
  }
  try {
    const std::string line = command_line(argc, argv);
    if (!program.version_verb->parsed()) sindri::app::check_environment();
    sindri::app::load_libraries();
    const int code = program.measure.parsed() ? program.measure.run(line)
        : program.comm.parsed()               ? program.comm.run(sindri::app::comm_options(read_settings(program.common)))
        : program.pca.parsed()                ? program.pca.run()
        : program.plan.parsed()               ? program.plan.run()
        : program.report.parsed()             ? program.report.run()
        : program.manual.parsed()             ? program.manual.run(program.app)
        : program.launch.parsed()             ? program.launch.run()
        : program.msrun.parsed()              ? program.msrun.run()
        : program.train_verb->parsed()        ? program.run_train(line)
        : program.boost_verb->parsed()        ? program.run_boost()
                                              : program.run_other();
    sindri::comm::finalize();
    return finish_output(code);
  } catch (sindri::Error& e) { return fail(at_command(e, command_line(argc, argv))); } catch (const std::bad_alloc&) {
    return fail(sindri::DeviceError(sindri::ErrorCode::kMemory, "out of memory", command_line(argc, argv),
                                    "reduce train.batch_size, raise a limit of memory (ulimit -v), or close other programs"));
  } catch (const std::exception& e) { return fail(sindri::Error(sindri::ErrorCode::kInternal, e.what(), "", "please report it with the command line")); }
}
