// Progress line: in a real pseudo-terminal at several widths, piped, quiet, and its estimate of the remaining time. Error layout.
#include "sindri/app/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "sindri/app/error_report.h"
#include "sindri/core/error.h"

namespace sindri::app {
namespace {

// Sets a variable (or removes it) for the life of the object.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value != nullptr) setenv(name, value, 1);
    else unsetenv(name);
  }
  ~Variable() {
    if (old_) setenv(name_, old_->c_str(), 1);
    else unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

// Where a Progress writes: a pseudo-terminal of some width, or a pipe.
class Output {
 public:
  explicit Output(int columns) {
    int writer = -1;
    if (columns > 0) {
      winsize size{};
      size.ws_col = static_cast<unsigned short>(columns);
      size.ws_row = 24;
      EXPECT_EQ(openpty(&reader_, &writer, nullptr, nullptr, &size), 0);
    } else {
      int ends[2];
      EXPECT_EQ(pipe(ends), 0);
      reader_ = ends[0], writer = ends[1];
    }
    fcntl(reader_, F_SETFL, O_NONBLOCK);
    file = fdopen(writer, "w");
  }
  ~Output() {
    if (file != nullptr) fclose(file);
    close(reader_);
  }
  std::string text() {
    fflush(file);
    char buffer[65536];
    for (ssize_t n = 0; (n = read(reader_, buffer, sizeof buffer)) > 0;) text_.append(buffer, static_cast<size_t>(n));
    return text_;
  }
  std::FILE* file = nullptr;

 private:
  int reader_ = -1;
  std::string text_;
};

// Lines as drawn: split at \r and \n, without escape sequences.
std::vector<std::string> visible(const std::string& s) {
  std::vector<std::string> lines(1);
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\x1b') {
      while (i < s.size() && std::isalpha(static_cast<unsigned char>(s[i])) == 0) ++i;
    } else if (s[i] == '\r' || s[i] == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += s[i];
    }
  }
  std::erase(lines, "");
  return lines;
}

struct Script {
  double time = 0;
  std::string run(Output* out, ProgressOptions o, int steps, double seconds_per_step) {
    o.out = out->file;
    o.clock = [this] { return time; };
    o.epochs = 12;
    o.steps_per_epoch = 450;
    {
      Progress p(o);
      for (int i = 1; i <= steps; ++i) {
        time += seconds_per_step;
        p.step({.epoch = 3,
                .step = i,
                .steps = 1,
                .samples = 128,
                .seconds = seconds_per_step,
                .loss = 1.23456,
                .lr = 0.05,
                .metric = "accuracy",
                .metric_value = 0.5125});
      }
      p.print("epoch 3 done");
    }
    return out->text();
  }
};

TEST(Progress, NeverWrapsAndKeepsWhatMatters) {
  const Variable term("TERM", "xterm"), no_color("NO_COLOR", nullptr);
  for (const int columns : {20, 40, 60, 80, 120, 200}) {
    Output out(columns);
    const std::string text = Script().run(&out, {}, 100, 0.2);
    const std::vector<std::string> lines = visible(text);
    ASSERT_GT(lines.size(), 50u);
    for (const std::string& l : lines) EXPECT_LT(l.size(), static_cast<size_t>(columns)) << l;
    EXPECT_NE(lines[10].find("epoch 3/12"), std::string::npos) << lines[10];
    EXPECT_EQ(lines[10].find("loss 1.2346") != std::string::npos, columns >= 40) << lines[10];
    EXPECT_EQ(lines[10].find("640") != std::string::npos, columns >= 80) << lines[10];
    EXPECT_EQ(lines[10].starts_with("["), columns >= 80) << lines[10];
    EXPECT_EQ(lines.back(), "epoch 3 done");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "only the printed line moves on";
  }
}

TEST(Progress, AllPartsInOrderWhenThereIsRoom) {
  const Variable term("TERM", "xterm"), no_color("NO_COLOR", "1");
  Output out(120);
  const std::vector<std::string> lines = visible(Script().run(&out, {}, 45, 0.2));
  EXPECT_EQ(lines[lines.size() - 2], "[=>              ] epoch 3/12  45/450  loss 1.2346  accuracy 0.5125  lr 0.05  640 samples/s  ETA 14m51s");
}

TEST(Progress, WhatStaysIsFoldedOnATerminalOnly) {
  const Variable term("TERM", "xterm");
  const std::string line = "epoch 3/12: loss 1.2346, eval loss 1.2001, accuracy 0.5125, 640 samples/s";
  for (const int columns : {40, 80, 0}) {
    Output out(columns);
    Progress p({.out = out.file});
    p.print(line);
    p.print_command("next:       sindri eval --checkpoint a/rather/long/path/of/a/checkpoint.ckpt");
    p.phase("evaluating");
    std::string text = out.text();
    std::erase(text, '\r');
    if (columns == 40) EXPECT_TRUE(text.starts_with("epoch 3/12: loss 1.2346, eval loss\n  1.2001, accuracy 0.5125, 640\n  samples/s\nnext:")) << text;
    else EXPECT_TRUE(text.starts_with(line + "\nnext:")) << text;
    EXPECT_NE(text.find("next:       sindri eval --checkpoint a/rather/long/path/of/a/checkpoint.ckpt\n"), std::string::npos) << "to be copied";
    EXPECT_EQ(text.find("evaluating") != std::string::npos, columns > 0) << "a file needs no line for what takes no time";
    if (columns > 0) continue;
    p.eval_took(3);
    p.phase("evaluating");
    EXPECT_NE(out.text().find("evaluating ...\n"), std::string::npos) << "but for what does";
  }
}

TEST(Progress, AtMostTenRedrawsASecond) {
  const Variable term("TERM", "xterm");
  Output out(80);
  const std::vector<std::string> lines = visible(Script().run(&out, {}, 1000, 0.001));  // one second
  EXPECT_LE(lines.size(), 12u);
  EXPECT_GE(lines.size(), 9u);
}

TEST(Progress, NoColorIsHonoured) {
  const Variable term("TERM", "xterm");
  for (const bool color : {false, true}) {
    const Variable no_color("NO_COLOR", color ? nullptr : "1");
    Output out(100);
    EXPECT_EQ(Script().run(&out, {}, 20, 0.2).find("\x1b[36m") != std::string::npos, color);
  }
}

TEST(Progress, PlainWherePlainIsAskedFor) {
  struct Way {
    const char* term;
    int columns;
    bool quiet;
  };
  for (const Way& w : {Way{"xterm", 0, false}, Way{"dumb", 80, false}, Way{"xterm", 80, true}, Way{nullptr, 80, false}}) {
    const Variable term("TERM", w.term);
    Output out(w.columns);
    std::string text = Script().run(&out, {.quiet = w.quiet}, 450, 0.2);  // 90 s
    if (w.columns > 0) std::erase(text, '\r');  // the terminal driver's own \r\n
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\r'), std::string::npos);
    const std::vector<std::string> lines = visible(text);
    EXPECT_GE(lines.size(), 9u);
    EXPECT_LE(lines.size(), 11u) << "one per 10 s and the printed one";
    EXPECT_EQ(lines[0].substr(0, 10), "epoch 3/12") << lines[0];
  }
  const Variable term("TERM", "xterm");
  Output out(0);
  EXPECT_EQ(visible(Script().run(&out, {.log_every = 100}, 450, 0.001)).size(), 5u) << "four by steps and the printed one";
}

TEST(Progress, RemainingTimeIsTheMedianWithoutTheFirstSteps) {
  Output out(0);
  Progress p({.epochs = 2, .steps_per_epoch = 100, .evals_per_epoch = 1, .saves_per_epoch = 0.5, .out = out.file});
  EXPECT_LT(p.remaining(), 0) << "unknown";
  p.step({.epoch = 1, .step = 1, .seconds = 60});
  p.step({.epoch = 1, .step = 2, .seconds = 30});
  EXPECT_LT(p.remaining(), 0) << "the first two steps say nothing";
  for (int i = 3; i <= 40; ++i) p.step({.epoch = 1, .step = i, .seconds = i % 10 == 0 ? 5.0 : 0.5});
  EXPECT_DOUBLE_EQ(p.remaining(), 160 * 0.5);
  for (int i = 41; i <= 100; ++i) p.step({.epoch = 1, .step = i, .seconds = 0.25});
  EXPECT_DOUBLE_EQ(p.remaining(), 100 * 0.25) << "only the last 50 count";
  p.eval_took(8);
  p.save_took(4);
  EXPECT_DOUBLE_EQ(p.remaining(), 100 * 0.25 + 8 + 2);
  p.step({.epoch = 2, .step = 100, .seconds = 0.25});
  EXPECT_DOUBLE_EQ(p.remaining(), 0);
}

TEST(Progress, RemainingTimeKnowsWhereTheRunEnds) {
  double time = 0;
  Output out(0);
  Progress p({.epochs = 20, .steps_per_epoch = 44, .max_steps = 60, .evals_per_epoch = 1, .eval_at_end = true, .eval_steps = 6, .out = out.file, .clock = [&] {
                return time;
              }});
  for (int i = 1; i <= 10; ++i) {
    time += 1.5;  // a step of 1 s, and half a second of callbacks
    p.step({.epoch = 1, .step = i, .seconds = 1});
  }
  EXPECT_DOUBLE_EQ(p.remaining(), 50 * 1.5 + (50.0 / 44 + 1) * 6 * 1.5 / 3) << "an evaluation that was not measured yet is estimated";
  time += 4;
  p.eval_took(4);
  time += 1.5;
  p.step({.epoch = 2, .step = 1, .seconds = 1});
  EXPECT_DOUBLE_EQ(p.remaining(), 15 * 1.5 + (15.0 / 44 + 1) * 4) << "evaluating is no part of a step";
  p.step({.epoch = 2, .step = 16, .seconds = 1});
  EXPECT_DOUBLE_EQ(p.remaining(), 4) << "the evaluation behind the last step is left";
}

TEST(Progress, Durations) {
  EXPECT_EQ(duration_text(0.2), "0s");
  EXPECT_EQ(duration_text(59.7), "1m00s");
  EXPECT_EQ(duration_text(192), "3m12s");
  EXPECT_EQ(duration_text(3720), "1h02m");
}

TEST(ErrorReport, HasTheThreeParts) {
  const DataError e(ErrorCode::kDataCorrupt, "record 18 is corrupt", "a.tfrecord, byte 7", "re-create it");
  EXPECT_EQ(format_error_report(e), "error[E3004] record 18 is corrupt\n  where: a.tfrecord, byte 7\n  fix: re-create it");
  EXPECT_EQ(format_error_report(ValueError("bad")), "error[E2003] bad");
  ShapeError s("conv2d: shapes differ\n  missing x\n", "input f32[1]");
  s.add_where("in Net/conv");
  EXPECT_EQ(format_error_report(s), "error[E2001] conv2d: shapes differ\n    missing x\n  where: input f32[1]\n         in Net/conv");
  EXPECT_EQ(format_error_report(IoError("name \x1b[31m\r red", "", "")), "error[E5001] name ?[31m? red") << "no escapes from file names reach the terminal";
}

TEST(ErrorReport, OtherExceptions) {
  EXPECT_EQ(format_error_report(std::runtime_error("boom")).substr(0, 36), "error[E1001] unexpected error: boom\n");
  EXPECT_EQ(exit_code_of(std::runtime_error("boom")), 1);
  EXPECT_EQ(exit_code_of(std::bad_alloc()), 5);
  EXPECT_EQ(exit_code_of(static_cast<const std::exception&>(DataError("x"))), 3);
  EXPECT_NE(format_error_report(std::bad_alloc()).find("E5002"), std::string::npos);
}

}  // namespace
}  // namespace sindri::app
