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
#include <thread>

#include "sindri/app/error_report.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "src/core/text_width.h"
#include "tests/app/screen.h"

namespace sindri::app {
namespace {

// Sets a variable (or removes it) for the lifetime of the object.
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

// Destination of a Progress: a pseudo-terminal of a given width, or a pipe.
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
  void resize(int columns) const {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 24;
    EXPECT_EQ(ioctl(reader_, TIOCSWINSZ, &size), 0);
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
  for (const int columns : {13, 20, 40, 60, 80, 81, 100, 120, 160, 200}) {
    Output out(columns);
    const std::string text = Script().run(&out, {}, 100, 0.2);
    const std::vector<std::string> lines = visible(text);
    ASSERT_GT(lines.size(), 50u);
    for (const std::string& l : lines) EXPECT_LT(l.size(), static_cast<size_t>(columns)) << l;
    EXPECT_NE(lines[10].find(columns < 20 ? "epoch 3/1" : "epoch 3/12"), std::string::npos) << lines[10];
    EXPECT_EQ(lines[10].find("loss 1.2346") != std::string::npos, columns >= 40) << lines[10];
    EXPECT_EQ(lines[10].find("640") != std::string::npos, columns >= 80) << lines[10];
    EXPECT_EQ(lines[10].starts_with("["), columns >= 80) << lines[10];
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "epoch 3 done"), 1);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "only the printed line scrolls";
    Screen screen(static_cast<size_t>(columns));
    screen.write(text);
    EXPECT_FALSE(screen.wrapped);
    EXPECT_EQ(screen.rows, (std::vector<std::string>{"epoch 3 done", ""})) << "the live line is gone";
  }
}

// mpirun gives each rank a pseudo-terminal.
TEST(Progress, RanksWritePlainLines) {
  const Variable term("TERM", "xterm"), no_color("NO_COLOR", nullptr);
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SINDRI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const Variable rank(name, "0");
    Output out(80);
    const std::string text = Script().run(&out, {}, 100, 0.2);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << name << text;
    for (size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at + 1))
      EXPECT_EQ(text.substr(at, 2), "\r\n") << name << text;  // as a terminal ends lines
    EXPECT_NE(text.find("epoch 3 done"), std::string::npos) << name << text;
  }
}

TEST(Progress, AllPartsInOrderWhenThereIsRoom) {
  const Variable term("TERM", "xterm"), no_color("NO_COLOR", "1");
  Output out(120);
  const std::vector<std::string> lines = visible(Script().run(&out, {}, 45, 0.2));
  EXPECT_EQ(lines[lines.size() - 3], "[=>              ] epoch 3/12  45/450  loss 1.2346  accuracy 0.5125  lr 0.05  640 samples/s  ETA 14m51s");
}

TEST(Progress, WhatStaysIsFoldedOnATerminalOnly) {
  const Variable term("TERM", "xterm");
  const std::string line = "epoch 3/12: loss 1.2346, eval loss 1.2001, accuracy 0.5125, 640 samples/s";
  for (const int columns : {40, 80, 0}) {
    Output out(columns);
    Progress p({.out = out.file});
    p.print(line);
    p.print_command("next:       ", "sindri eval --checkpoint 'a rather/long/path of/a.ckpt' --top 1");
    std::string text = out.text();
    std::erase(text, '\r');
    if (columns == 40)
      EXPECT_EQ(text,
                "epoch 3/12: loss 1.2346, eval loss\n  1.2001, accuracy 0.5125, 640\n  samples/s\n"
                "next:\n  sindri eval --checkpoint \\\n  'a rather/long/path of/a.ckpt' \\\n  --top 1\n")
          << "the command as the shell accepts it";
    else EXPECT_EQ(text, line + "\nnext:       sindri eval --checkpoint 'a rather/long/path of/a.ckpt' --top 1\n");
  }
}

// Long phases are named. Naming short ones would flicker in a terminal and clutter a file.
TEST(Progress, PhasesAreNamedWhereTheyTakeLong) {
  const Variable term("TERM", "xterm");
  for (const int columns : {40, 0}) {
    const bool terminal = columns > 0;
    Output out(columns);
    double time = 0;
    Progress p({.epochs = 3, .steps_per_epoch = 10, .eval_every = 1, .eval_steps = 3, .out = out.file, .clock = [&] { return time; }});
    const auto steps = [&](double seconds) {
      for (int i = 1; i <= 10; ++i) {
        time += seconds;
        p.step({.epoch = 1, .step = i, .seconds = seconds});
      }
    };
    const auto named = [&] {
      const size_t before = out.text().size();
      p.phase("evaluating");
      return out.text().substr(before).find("evaluating ...") != std::string::npos;
    };
    EXPECT_EQ(named(), terminal) << "its duration is not known yet";
    steps(0.01);
    EXPECT_FALSE(named());
    p.eval_took(3);
    p.eval_took(3);
    EXPECT_EQ(named(), terminal);
    p.eval_took(70);
    EXPECT_TRUE(named()) << "after a minute of silence a file gets a line, too";
  }
}

TEST(Progress, WideCharactersCountTwice) {
  EXPECT_EQ(text_columns("精度"), 4u);
  EXPECT_EQ(text_columns("Größe"), 5u);
  EXPECT_EQ(text_columns("e\xcc\x81"), 1u) << "a combining mark";
  EXPECT_EQ(text_columns("\xff\xc3"), 2u) << "no UTF-8";
  EXPECT_EQ(fit_columns("精度abc", 3), "精");
  const Variable term("TERM", "xterm"), no_color("NO_COLOR", "1");
  for (const int columns : {20, 40, 49, 50, 51, 80, 120}) {
    Output out(columns);
    Screen screen(static_cast<size_t>(columns));
    {
      double time = 0;
      Progress p({.epochs = 2, .steps_per_epoch = 10, .out = out.file, .clock = [&] { return time; }});
      for (int i = 1; i <= 10; ++i) {
        time += 1;
        p.step({.epoch = 1, .step = i, .samples = 5, .seconds = 1, .loss = 1, .lr = 0.1, .metric = "精度の平均", .metric_value = 0.5});
      }
      p.print("データ: 精度 精度 精度 精度 精度 精度 精度 精度 精度 精度");
      screen.write(out.text());
      EXPECT_FALSE(screen.wrapped) << columns;
      EXPECT_EQ(screen.rows.back().find("精度の平均") != std::string::npos, columns >= 120) << screen.rows.back();
      EXPECT_EQ(screen.rows.back().find("精 0.5") != std::string::npos, columns >= 50 && columns <= 80) << columns << screen.rows.back();
    }
  }
}

// If the window becomes narrower, the terminal wraps the current line. The next output must leave nothing of it.
TEST(Progress, ANarrowerWindowLeavesNoRest) {
  const Variable term("TERM", "xterm"), no_color("NO_COLOR", "1");
  for (const bool breaks_anew : {false, true}) {
    Output out(120);
    Screen screen(120);
    double time = 0;
    {
      Progress p({.epochs = 2, .steps_per_epoch = 10, .out = out.file, .clock = [&] { return time; }});
      const auto steps = [&](int64_t from, int64_t to) {
        for (int64_t i = from; i <= to; ++i) {
          time += 1;
          p.step({.epoch = 1, .step = i, .samples = 5, .seconds = 1, .loss = 1, .lr = 0.1, .metric = "accuracy", .metric_value = 0.5});
        }
      };
      p.print("before");
      steps(1, 5);
      const std::string wide = out.text();
      screen.write(wide);
      ASSERT_EQ(screen.rows.size(), 2u);
      ASSERT_GT(screen.rows[1].size(), 60u);
      out.resize(40);
      if (breaks_anew) screen.narrow(40);
      EXPECT_EQ(screen.rows.size(), breaks_anew ? 4u : 2u);
      steps(6, 6);
      screen.write(out.text().substr(wide.size()));
      ASSERT_EQ(screen.rows.size(), 2u) << screen.rows.back();
      EXPECT_EQ(screen.rows[0], "before");
      EXPECT_TRUE(screen.rows[1].starts_with("epoch 1/2  6/10")) << screen.rows[1];
      EXPECT_LT(screen.rows[1].size(), 40u);
    }
  }
}

// A warning of the library, from any thread, replaces the line instead of running into it.
TEST(Progress, LogLinesAreNotTorn) {
  const Variable term("TERM", "xterm"), no_color("NO_COLOR", "1");
  Output out(80);
  const int kept = dup(STDERR_FILENO);
  dup2(fileno(out.file), STDERR_FILENO);
  {
    double time = 0;
    Progress p({.epochs = 1, .steps_per_epoch = 10, .out = out.file, .clock = [&] { return time; }});
    for (int i = 1; i <= 3; ++i) {
      time += 1;
      p.step({.epoch = 1, .step = i, .seconds = 1});
      std::thread([&] { log::warn("test", "a warning"); }).join();
    }
    p.hold(true);  // another writer's unfinished line
    time += 1;
    const std::string before = out.text();
    p.step({.epoch = 1, .step = 4, .seconds = 1});
    EXPECT_EQ(out.text(), before);
  }
  dup2(kept, STDERR_FILENO);
  close(kept);
  Screen screen(80);
  screen.write(out.text());
  ASSERT_EQ(screen.rows.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(screen.rows[i].ends_with("] [warning] [test] a warning")) << screen.rows[i];
  EXPECT_EQ(screen.rows[3], "");
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
    EXPECT_LE(lines.size(), 11u) << "one per 10 s and the printed one: it is the first epoch of this run";
    EXPECT_EQ(lines[0].substr(0, 10), "epoch 3/12") << lines[0];
  }
  const Variable term("TERM", "xterm");
  Output out(0);
  EXPECT_EQ(visible(Script().run(&out, {.log_every = 100}, 450, 0.001)).size(), 5u) << "four by steps and the printed one";
}

// One line per epoch, and a sign of life if an epoch takes more than a minute.
TEST(Progress, AFileGetsALineAnEpoch) {
  const Variable term("TERM", "xterm");
  Output out(0);
  double time = 0;
  Progress p({.epochs = 4, .steps_per_epoch = 100, .eval_every = 1, .eval_steps = 10, .out = out.file, .clock = [&] { return time; }});
  const auto epoch = [&](int64_t number, double step_seconds) {
    const size_t before = visible(out.text()).size();
    for (int i = 1; i <= 100; ++i) {
      time += step_seconds;
      p.step({.epoch = number, .step = i, .seconds = step_seconds, .loss = 1});
    }
    p.phase("evaluating");
    time += 5;
    p.eval_took(5);
    p.print(epoch_text({.epoch = number, .epochs = 4, .loss = 1, .metrics = {{"accuracy", 0.5}}, .samples_per_second = 10}));
    return visible(out.text()).size() - before;
  };
  EXPECT_EQ(epoch(1, 0.3), 3u) << "30 s: two lines of steps while the duration is unknown, none at its end";
  EXPECT_EQ(epoch(2, 0.3), 1u);
  EXPECT_EQ(epoch(3, 0.5), 1u);
  EXPECT_EQ(epoch(4, 1.5), 3u);
  EXPECT_EQ(visible(out.text()).back(), "epoch 4/4: loss 1.0000, accuracy 0.5000, 10 samples/s");
}

TEST(Progress, RemainingTimeLeavesOutTheFirstStepsAndHiccups) {
  Output out(0);
  double time = 0;
  Progress p({.epochs = 2, .steps_per_epoch = 100, .eval_every = 1, .save_every = 2, .out = out.file, .clock = [&] { return time; }});
  const auto step = [&](int64_t epoch, int64_t number, double seconds) {
    time += seconds;
    p.step({.epoch = epoch, .step = number, .seconds = seconds});
  };
  EXPECT_LT(p.remaining(), 0) << "unknown";
  step(1, 1, 60);
  step(1, 2, 30);
  EXPECT_LT(p.remaining(), 0) << "the first two steps do not count";
  for (int i = 3; i <= 40; ++i) step(1, i, i == 10 || i == 12 ? 5.0 : 0.5);
  EXPECT_DOUBLE_EQ(p.remaining(), 160 * 0.5);
  for (int i = 41; i <= 100; ++i) step(1, i, 0.25);
  EXPECT_DOUBLE_EQ(p.remaining(), 100 * 0.25) << "only the last 50 count";
  time += 12;
  p.eval_took(8);
  p.save_took(4);
  step(2, 1, 0.25 + 3);
  EXPECT_DOUBLE_EQ(p.remaining(), 99 * 0.25 + 8 + 4) << "the end of an epoch is not part of a step";
  step(2, 100, 0.25);
  EXPECT_DOUBLE_EQ(p.remaining(), 8 + 4) << "the time after the last step";
}

// Data that arrives four batches at a time: three steps do not wait, the fourth waits for all.
TEST(Progress, RemainingTimeOfStepsThatComeInBursts) {
  Output out(0);
  double time = 0;
  Progress p({.epochs = 1, .steps_per_epoch = 1000, .out = out.file, .clock = [&] { return time; }});
  for (int i = 1; i <= 100; ++i) {
    const double seconds = i % 4 == 0 ? 0.37 : 0.01;
    time += seconds;
    p.step({.epoch = 1, .step = i, .seconds = seconds});
  }
  EXPECT_NEAR(p.remaining(), 900 * 0.1, 900 * 0.1 * 0.15);
}

TEST(Progress, RemainingTimeKnowsWhereTheRunEnds) {
  double time = 0;
  Output out(0);
  Progress p({.epochs = 20,
              .steps_per_epoch = 44,
              .max_steps = 60,
              .eval_every = 1,
              .save_every_steps = 30,
              .eval_at_end = true,
              .eval_steps = 6,
              .out = out.file,
              .clock = [&] { return time; }});
  const auto step = [&](int64_t epoch, int64_t number) {
    time += 1.5;  // a step of 1 s, and half a second of callbacks
    p.step({.epoch = epoch, .step = number, .seconds = 1});
  };
  for (int i = 1; i <= 10; ++i) step(1, i);
  EXPECT_DOUBLE_EQ(p.remaining(), 50 * 1.5 + 2 * 6 * 1.5 / 3) << "an evaluation without a measurement is estimated; one after the epoch, one at the end";
  for (int i = 11; i <= 44; ++i) step(1, i);
  time += 40 + 2;
  p.eval_took(40);
  p.save_took(2);
  EXPECT_DOUBLE_EQ(p.remaining(), 16 * 1.5 + 2 * 6 * 1.5 + 2) << "the first evaluation includes compiling";
  time += 4;
  p.eval_took(4);
  step(2, 1);
  EXPECT_DOUBLE_EQ(p.remaining(), 15 * 1.5 + 4 + 2) << "evaluating is not part of a step";
  step(2, 16);
  EXPECT_DOUBLE_EQ(p.remaining(), 4) << "the evaluation after the last step remains";
}

// 50 steps of a millisecond are a small sample: a busy moment is weighed against the steps before it.
TEST(Progress, RemainingTimeOfShortSteps) {
  Output out(0);
  double time = 0;
  Progress p({.epochs = 1, .steps_per_epoch = 100000, .out = out.file, .clock = [&] { return time; }});
  for (int i = 1; i <= 10000; ++i) {
    const double seconds = i > 9940 ? 0.005 : 0.001;
    time += seconds;
    p.step({.epoch = 1, .step = i, .seconds = seconds});
  }
  EXPECT_NEAR(p.remaining(), 90000 * 0.001, 90000 * 0.001 * 0.02);
}

// In sink mode one call reports many steps.
TEST(Progress, RemainingTimeOfChunks) {
  double time = 0;
  Output out(0);
  Progress p({.epochs = 4, .steps_per_epoch = 44, .out = out.file, .clock = [&] { return time; }});
  for (int64_t epoch = 1; epoch <= 3; ++epoch) {
    time += epoch == 1 ? 20 : 4.4;
    p.step({.epoch = epoch, .step = 44, .steps = 44, .seconds = epoch == 1 ? 20 : 4.4});
    if (epoch == 1) EXPECT_LT(p.remaining(), 0) << "it contains the steps that compile";
    else EXPECT_NEAR(p.remaining(), static_cast<double>(4 - epoch) * 4.4, 1e-9);
  }
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
