// See program.h.
#include "tests/app/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <sstream>

#include "sindri/app/app.h"
#include "sindri/train/checkpoint.h"
#include "tests/dataset/encode_image.h"
#include "tests/train/checkpoint_util.h"

namespace sindri::app {

namespace fs = std::filesystem;

namespace {

double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The environment of the tests without settings (SINDRI_TRAIN__EPOCHS) and GoogleTest's variables.
std::vector<std::string> child_environment(const RunOptions& options) {
  std::map<std::string, std::string> merged;
  for (char** p = environ; *p != nullptr; ++p) {
    const std::string v = *p;
    const size_t equals = v.find('=');
    if (!(v.starts_with("SINDRI_") && v.substr(0, equals).find("__") != std::string::npos) && !v.starts_with("GTEST_"))
      merged[v.substr(0, equals)] = v.substr(equals + 1);
  }
  merged.try_emplace("OMP_WAIT_POLICY", "passive");  // spinning threads would take cores from programs that run in parallel
  for (const auto& [name, value] : options.environment) merged[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : merged) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

std::string program_path() {
  const char* path = std::getenv("SINDRI_PROGRAM");
  return path != nullptr && *path != '\0' ? fs::absolute(path).string() : (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "sindri").string();
}

Program::Program(std::vector<std::string> arguments, const RunOptions& options) {
  arguments.insert(arguments.begin(), program_path());
  for (const auto& [name, value] : options.environment) result_.command += name + "=" + shell_word(value) + " ";
  for (const std::string& a : arguments) result_.command += (&a == arguments.data() ? "" : " ") + shell_word(a);
  std::vector<std::string> environment = child_environment(options);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const std::string out = outputs_.file("out"), err = outputs_.file("err");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  const int out_fd = open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), err_fd = open(err.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (chdir(options.directory.c_str()) != 0 || dup2(out_fd, 1) < 0 || dup2(err_fd, 2) < 0) _exit(127);
  if (options.in_child) options.in_child();
  execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

Program::~Program() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  reap(true);
}

bool Program::reap(bool block) {
  if (ended_) return true;
  int status = 0;
  const pid_t got = waitpid(pid_, &status, block ? 0 : WNOHANG);
  if (got == 0) return false;
  ended_ = true;
  result_.signalled = WIFSIGNALED(status);
  result_.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result_.out = read_text(outputs_.file("out"));
  result_.err = read_text(outputs_.file("err"));
  return true;
}

void Program::signal(int number) const {
  if (!ended_) kill(pid_, number);
}

bool Program::running() { return !reap(false); }

bool Program::wait_until(const std::function<bool()>& condition) {
  while (!condition()) {
    if (!running()) return condition();
    usleep(500);  // polling interval; the order of events does not depend on it
  }
  return true;
}

Result Program::wait(double limit_seconds) {
  const double end = now_seconds() + limit_seconds;
  while (!reap(false)) {
    if (now_seconds() > end) {
      signal(SIGKILL);
      reap(true);
      ADD_FAILURE() << "still running after " << limit_seconds << " s: " << result_.command;
      break;
    }
    usleep(500);
  }
  return result_;
}

Result run(std::vector<std::string> arguments, const RunOptions& options) {
  Program p(std::move(arguments), options);
  return p.wait();
}

RunOptions simulated(const std::string& settings, std::map<std::string, std::string> more_environment) {
  const std::string library = (fs::absolute(program_path()).parent_path() / "tests" / "libsindri_sim.so").string();
  more_environment.insert({{"LD_PRELOAD", library}, {"SINDRI_SIM", settings}});
  return {.environment = std::move(more_environment)};
}

void expect_error(const Result& r, int code, const std::string& number, const std::vector<std::string>& pieces) {
  SCOPED_TRACE("repeat: " + r.command + "\nstdout:\n" + r.out + "\nstderr:\n" + r.err);
  EXPECT_EQ(r.code, code);
  EXPECT_FALSE(r.signalled);
  for (const std::string& piece : {"error[" + number + "]", std::string("\n  where: "), std::string("\n  fix: ")})
    EXPECT_NE(r.err.find(piece), std::string::npos) << "no '" << piece << "'";
  for (const std::string& piece : pieces) EXPECT_NE(r.err.find(piece), std::string::npos) << "no '" << piece << "'";
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::map<int64_t, std::vector<std::string>> step_losses(const std::string& run_dir) {
  std::map<int64_t, std::vector<std::string>> out;
  std::ifstream in(run_dir + "/metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    const auto j = nlohmann::json::parse(line);
    if (j.at("event") == "step") out[j.at("step")].push_back(j.at("loss").dump());
  }
  return out;
}

int64_t last_step(const std::string& run_dir) {
  const std::string text = read_text(run_dir + "/metrics.jsonl");
  const size_t at = text.rfind("\"step\":");
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + 7);
}

int64_t event_count(const std::string& run_dir) {
  const std::string text = read_text(run_dir + "/metrics.jsonl");
  return std::count(text.begin(), text.end(), '\n');
}

std::vector<std::string> checkpoints(const std::string& run_dir) {
  // Sorted by epoch and step in the name: copied files may have modification times in any order.
  std::vector<std::pair<std::pair<int, int>, std::string>> found;
  for (const auto& entry : fs::directory_iterator(run_dir + "/checkpoints")) {
    if (entry.path().extension() != ".ckpt") continue;
    const std::string name = entry.path().stem().string();
    int epoch = 0, step = 0;
    EXPECT_EQ(std::sscanf(name.c_str() + name.rfind('-'), "-%d_%d", &epoch, &step), 2) << name;
    found.emplace_back(std::make_pair(epoch, step), entry.path().string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& [when, path] : found) out.push_back(std::move(path));
  return out;
}

size_t expect_good_checkpoints(const std::string& run_dir) {
  const std::vector<std::string> files = checkpoints(run_dir);
  for (const std::string& path : files) EXPECT_TRUE(train::load_checkpoint(path).verified) << path;
  return files.size();
}

namespace {

void expect_same(const std::string& run_dir, const std::string& other_run_dir, bool texts) {
  const train::LoadedCheckpoint a = train::load_checkpoint(checkpoints(run_dir).back()), b = train::load_checkpoint(checkpoints(other_run_dir).back());
  const auto text = [](const train::CheckpointEntry& entry) {
    if (entry.name != "sindri.position") return entry.data;
    nlohmann::json j = nlohmann::json::parse(entry.data);
    j.erase("record");
    j.erase("ranks");
    return j.dump();
  };
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (size_t i = 0; i < a.entries.size(); ++i) {
    const train::CheckpointEntry &x = a.entries[i], &y = b.entries[i];
    EXPECT_EQ(x.name, y.name);
    if (texts) { EXPECT_EQ(text(x), text(y)) << x.name; }
    if (x.kind != train::CheckpointEntry::kTensor) continue;
    ASSERT_EQ(x.tensor.nbytes(), y.tensor.nbytes()) << x.name;
    EXPECT_EQ(std::memcmp(x.tensor.raw_data(), y.tensor.raw_data(), static_cast<size_t>(x.tensor.nbytes())), 0) << x.name;
  }
}

}  // namespace

void expect_same_end(const std::string& run_dir, const std::string& other_run_dir) { expect_same(run_dir, other_run_dir, true); }
void expect_same_weights(const std::string& run_dir, const std::string& other_run_dir) { expect_same(run_dir, other_run_dir, false); }

std::string folder_snapshot(const std::string& folder) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat s {};
    EXPECT_EQ(lstat(entry.path().c_str(), &s), 0);
    lines.push_back(entry.path().string() + " " + std::to_string(s.st_mode) + " " + std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec) +
                    "\n" + (entry.is_regular_file() ? train::read_all(entry.path().string()) : ""));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

void make_jpeg_data(const std::string& dir, int classes, int train_per_class, int test_per_class, int side) {
  for (const char* part : {"train", "test"}) {
    for (int c = 0; c < classes; ++c) {
      const std::string folder = dir + "/" + part + "/class_" + std::to_string(c);
      fs::create_directories(folder);
      const bool training = std::string(part) == "train";
      for (int i = 0; i < (training ? train_per_class : test_per_class); ++i) {
        cv::Mat m(side, side, CV_8UC3);
        cv::RNG noise(static_cast<uint64_t>(c * 1000 + i + (training ? 0 : 500)) * 2654435761u + 1);
        noise.fill(m, cv::RNG::UNIFORM, 0, 90);
        // A square in the colour and size of the class, at a random position.
        const int size = side / 4 + c * side / 8, x = noise.uniform(0, side - size), y = noise.uniform(0, side - size);
        cv::rectangle(m, {x, y, size, size}, cv::Scalar(c % 3 == 0 ? 220 : 60, c % 3 == 1 ? 220 : 60, c % 3 == 2 ? 220 : 60), cv::FILLED);
        dataset::write_image(folder + "/" + std::to_string(100 + i) + ".jpg", m);
      }
    }
  }
}

}  // namespace sindri::app
