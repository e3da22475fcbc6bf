// See evaluation_verbs.h.
#include "src/cli/evaluation_verbs.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "sindri/app/app.h"
#include "sindri/app/evaluation.h"
#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/train/monitor_text.h"
#include "src/cli/process.h"
#include "src/core/replaceable.h"
#include "src/train/output_file.h"

namespace {

using sindri::app::Settings;

// Returns the terminal's width; for other outputs, the width of a page.
int columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

// For --json: "-" is standard output, which then contains nothing else.
class JsonOutput {
 public:
  explicit JsonOutput(const std::string& path) : to_stdout_(path == "-") {
    if (!path.empty() && !to_stdout_) file_ = std::make_unique<sindri::train::OutputFile>(path, "JSON file");
  }
  bool to_stdout() const { return to_stdout_; }
  bool wanted() const { return to_stdout_ || file_ != nullptr; }
  void write(const std::string& text) {
    if (to_stdout_) print_out(text);
    else if (file_ != nullptr) file_->write(text);
  }

 private:
  bool to_stdout_;
  std::unique_ptr<sindri::train::OutputFile> file_;
};

constexpr size_t kLongestName = 4096;  // PATH_MAX: no file has a longer one
constexpr size_t kMostListed = size_t{1} << 30;  // bytes

// Reads the next line, with any line ending; returns false after the last one. `left`: bytes that may still be read.
bool next_line(std::istream& in, const std::string& list, size_t* left, std::string* line) {
  line->clear();
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n') return true;
    if ((*left)-- == 0 || line->size() == kLongestName || c == 0)
      throw sindri::DataError(sindri::ErrorCode::kDataCorrupt, "this is not a list of files: one of its lines is not a file name", list,
                              "give a text file with one path per line");
    line->push_back(static_cast<char>(c));
  }
  return !line->empty();
}

// One name per line; empty lines are skipped.
std::vector<std::string> names_of(const std::string& list) {
  std::ifstream file;
  if (list != "-") {
    file.open(list);
    if (!file) throw sindri::IoError("cannot read the list of files", list, "check the path given to --files-from");
  }
  std::istream& in = list == "-" ? std::cin : file;
  std::vector<std::string> out;
  size_t left = kMostListed;
  for (std::string line; next_line(in, list, &left, &line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line == "-") throw sindri::DataError(sindri::ErrorCode::kDataMissing, "the list of files names the standard input", list, "give it as an argument");
    if (!line.empty()) out.push_back(line);
  }
  return out;
}

}  // namespace

void EvaluationVerbs::add_to(CLI::App* app, const std::function<void(CLI::App* verb)>& add_common) {
  eval_ = app->add_subcommand("eval",
                              "Evaluate a checkpoint\n\nExamples:\n  sindri eval --checkpoint runs/digits-001/checkpoints/digits-20_44.ckpt\n  sindri "
                              "eval --checkpoint FILE --per-class --plot confusion.png --json report.json\n");
  eval_->add_option("--checkpoint", checkpoint_, "checkpoint to evaluate; settings come from its run folder unless --config is given")
      ->type_name("FILE")
      ->required();
  eval_->add_flag("--per-class", per_class_, "precision, recall, F1 and samples of every class, and the most frequent confusions")->group("Output");
  eval_->add_option("--json", json_file_, "write metrics, classes and confusion matrix as JSON; -: to standard output instead of the text")
      ->type_name("FILE")
      ->group("Output");
  eval_->add_option("--plot,--picture", plot_, "plot the confusion matrix as a PNG")->type_name("FILE")->group("Output");
  add_common(eval_);

  predict_ = app->add_subcommand("predict",
                                 "Classify images: files, folders, patterns, or - for an image on standard input\n\nExamples:\n"
                                 "  sindri predict --checkpoint FILE photo.jpg holiday/ 'scans/*.png'\n"
                                 "  sindri predict --checkpoint FILE --top 1 --files-from list.txt --json answers.json\n");
  predict_->add_option("--checkpoint", checkpoint_, "checkpoint with the weights; settings come from its run folder unless --config is given")
      ->type_name("FILE")
      ->required();
  predict_->add_option("images", images_, "image files, folders with images, patterns, or -")->type_name("IMAGE...");
  predict_->add_option("--files-from", files_from_, "file with one image file, folder or pattern per line; -: standard input")->type_name("FILE");
  predict_->add_option("--top", top_, "classes to print for each image")->type_name("N")->check(CLI::Range(1, 1000))->capture_default_str();
  predict_->add_option("--json", json_file_, "write names and probabilities as JSON; -: to standard output instead of the text")
      ->type_name("FILE")
      ->group("Output");
  add_common(predict_);
}

std::string EvaluationVerbs::settings_file() const { return sindri::app::settings_file_of(checkpoint_); }

int EvaluationVerbs::run(const Settings& settings) { return eval_->parsed() ? run_eval(settings) : run_predict(settings); }

namespace {

// Returns the metrics, one per line; with log.style mindspore the line that scripts of MindSpore's models search for.
std::string metrics_text(const Settings& settings, const sindri::train::MetricValues& values, const std::string& checkpoint) {
  std::string text;
  if (settings.get_string("log.style") == "mindspore") {
    const auto add = [&](const std::string& name, double value) {
      text += fmt::format("{}'{}': {}", text.empty() ? "result: {" : ", ", name, sindri::train::python_float(value));
    };
    if (const auto top5 = values.find("top_5_accuracy"); top5 != values.end()) add(top5->first, top5->second);
    add("top_1_accuracy", values.at("accuracy"));
    for (const auto& [name, value] : values)
      if (name != "top_5_accuracy" && name != "accuracy" && name != "loss") add(name, value);
    return text + fmt::format("}} ckpt={}\n", checkpoint);
  }
  for (const auto& [name, value] : values) text += fmt::format("{}: {:.6g}\n", name, value);
  return text;
}

}  // namespace

int EvaluationVerbs::run_eval(const Settings& settings) {
  if (!per_class_ && json_file_.empty() && plot_.empty()) {
    const sindri::train::MetricValues values = sindri::app::evaluate(settings, checkpoint_);
    if (sindri::comm::world().rank() != 0) return 0;  // one printout is enough
    print_out(metrics_text(settings, values, checkpoint_));
    return 0;
  }
  const sindri::app::Evaluation e = sindri::app::evaluate_classes(settings, checkpoint_);
  if (sindri::comm::world().rank() != 0) return 0;
  JsonOutput json(json_file_);
  if (!plot_.empty()) sindri::check_replaceable(plot_, sindri::FileKind::kPng, "plot");
  if (!json.to_stdout()) {
    print_out(metrics_text(settings, e.metrics, checkpoint_));
    if (per_class_) print_out("\n" + sindri::app::class_table(e, columns()) + "\n" + sindri::app::confusion_table(e, columns()));
  }
  if (!plot_.empty()) sindri::app::write_evaluation_plot(e, fmt::format("{}: accuracy {:.4f}", checkpoint_, e.metrics.at("accuracy")), plot_);
  json.write(sindri::app::evaluation_json(e));
  return 0;
}

int EvaluationVerbs::run_predict(const Settings& settings) {
  std::vector<std::string> images = images_;
  if (!files_from_.empty()) {
    const std::vector<std::string> named = names_of(files_from_);
    images.insert(images.end(), named.begin(), named.end());
  }
  if (images.empty())
    throw sindri::Error(sindri::ErrorCode::kUsage, files_from_.empty() ? "no images are named" : "no images are named in " + files_from_, "sindri predict",
                        "sindri predict --checkpoint FILE photo.jpg; or a folder, a pattern, -, --files-from FILE");
  JsonOutput json(json_file_);
  const auto print = [](const sindri::app::Prediction& p) {
    std::string text = p.file + "\n";
    for (const auto& [name, probability] : p.classes) text += fmt::format("  {:<24} {:6.2f} %\n", name, 100 * probability);
    print_out(text);
  };
  const std::vector<sindri::app::Prediction> all =
      json.to_stdout() ? sindri::app::predict(settings, checkpoint_, images, top_) : sindri::app::predict(settings, checkpoint_, images, top_, print);
  if (json.wanted()) json.write(sindri::app::predictions_json(all));
  return 0;
}
