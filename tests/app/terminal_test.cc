// The program in a real pseudo-terminal of several widths, and in a pipe: the contents of the screen, during training and at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "source_dir.h"
#include "tests/app/program.h"
#include "tests/app/screen.h"

namespace sindri::app::terminal_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Shown {
  std::string bytes;
  int code = -1;
};

// What the program writes to a terminal of this many columns.
Shown in_terminal(int columns, const std::vector<std::string>& arguments, const std::vector<std::pair<const char*, const char*>>& variables,
                  const std::string& directory) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  std::vector<std::string> words = {program_path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int reader = -1;
  const pid_t child = forkpty(&reader, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("TERM", "xterm-256color", 1);
    unsetenv("NO_COLOR");
    for (const auto& [name, value] : variables) setenv(name, value, 1);
    if (chdir(directory.c_str()) == 0) execv(argv[0], argv.data());
    _exit(127);
  }
  Shown out;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(reader, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);) {
    if (n > 0) out.bytes.append(buffer, static_cast<size_t>(n));
  }
  int status = 0;
  waitpid(child, &status, 0);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  close(reader);
  return out;
}

std::vector<std::string> training(const std::string& data = std::string(SINDRI_SOURCE_DIR) + "/dataset/digits") {
  return {"train",          "--set", "model.name=digits", "--set", "data.kind=digits", "--set", "data.path=" + data, "--set",
          "train.epochs=5", "--set", "train.run_dir=r"};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// A path is not broken, so that it can be copied. Only a line with a path wider than the window, including two columns of indentation before it and " \\" after
// it, may continue in the next row.
bool holds_a_long_word(const std::string& line, size_t columns) {
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    if (word.size() + 4 > columns) return true;
  }
  return false;
}

TEST(Terminal, NothingWrapsOrIsTorn) {
  for (const int columns : {40, 80, 120, 200}) {
    SCOPED_TRACE(columns);
    const TempFolder temp;
    const Shown shown = in_terminal(columns, training(), {}, temp.path());
    EXPECT_EQ(shown.code, 0) << shown.bytes;
    EXPECT_THAT(shown.bytes, HasSubstr("\r\x1b[36m[")) << "a coloured bar";
    Screen screen(static_cast<size_t>(columns));
    screen.write(shown.bytes);
    for (const std::string& line : screen.wrapped_lines) EXPECT_TRUE(holds_a_long_word(line, static_cast<size_t>(columns))) << line;
    // At the end only the permanent lines remain: one per epoch, folded in narrow windows, and nothing of a live line.
    int epochs = 0;
    for (const std::string& row : screen.rows) {
      EXPECT_THAT(row, Not(HasSubstr("ETA")));
      EXPECT_THAT(row, Not(HasSubstr("evaluating")));
      if (!row.starts_with("epoch ")) continue;
      EXPECT_TRUE(row.starts_with("epoch " + std::to_string(++epochs) + "/5: loss ")) << row;
      EXPECT_EQ(row.ends_with("samples/s"), columns >= 80) << row;
    }
    EXPECT_EQ(epochs, 5);
  }
}

TEST(Terminal, ErrorsAreFoldedBetweenWords) {
  std::vector<std::string> wrong = training();
  wrong.insert(wrong.end(), {"--set", "model.name=resnet20"});
  const TempFolder temp;
  for (const int columns : {40, 80}) {
    SCOPED_TRACE(columns);
    const Shown shown = in_terminal(columns, wrong, {}, temp.path());
    EXPECT_EQ(shown.code, 2);
    Screen screen(static_cast<size_t>(columns));
    screen.write(shown.bytes);
    EXPECT_THAT(screen.wrapped_lines, IsEmpty());
    EXPECT_THAT(shown.bytes, HasSubstr("  fix: choose"));
    EXPECT_THAT(shown.bytes, HasSubstr("\n       "));
  }
}

TEST(Terminal, PlainWherePlainIsAskedFor) {
  std::vector<std::string> quiet = training();
  quiet.emplace_back("--quiet");
  const TempFolder temp[3];
  const Shown dumb = in_terminal(80, training(), {{"TERM", "dumb"}}, temp[0].path()), told = in_terminal(80, quiet, {}, temp[1].path());
  for (const Shown& s : {dumb, told}) {
    EXPECT_EQ(s.code, 0) << s.bytes;
    EXPECT_THAT(s.bytes, Not(HasSubstr("\x1b")));
    std::string text = s.bytes;
    for (size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) text.erase(at, 1);  // the terminal driver's
    EXPECT_THAT(text, Not(HasSubstr("\r")));
  }
  const Shown grey = in_terminal(100, training(), {{"NO_COLOR", "1"}}, temp[2].path());
  EXPECT_THAT(grey.bytes, HasSubstr("\r[")) << "a bar";
  EXPECT_THAT(grey.bytes, Not(HasSubstr("\x1b[3")));
}

TEST(Terminal, APipeGetsALineAnEpoch) {
  const TempFolder temp;
  const Result r = run(training(), {.directory = temp.path()});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(r.out, Not(HasSubstr("\r")));
  EXPECT_THAT(r.out, Not(HasSubstr("evaluating")));
  const std::vector<std::string> lines = lines_of(r.out);
  const auto of_epochs = [](const std::string& line) { return line.starts_with("epoch "); };
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), of_epochs), 5);
  for (const std::string& line : lines) EXPECT_TRUE(!of_epochs(line) || line.ends_with(" samples/s")) << line;
}

}  // namespace
}  // namespace sindri::app::terminal_test
