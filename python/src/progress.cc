// sindri._core.Progress: the progress line of a training run. It is the one that the `sindri` program prints (sindri/app/progress.h).
#include "python/src/progress.h"

#include <unistd.h>

#include <memory>
#include <optional>

#include "python/src/casters.h"
#include "sindri/app/progress.h"

namespace sindri::python {

namespace {

// A Progress with the file that it writes to.
class Bar {
 public:
  Bar(std::optional<int> fd, app::ProgressOptions options) {
    options.out = nullptr;
    if (fd) {
      const int own = dup(*fd);  // the script may close its descriptor
      if (own >= 0) file_.reset(fdopen(own, "w"));
      if (own >= 0 && !file_) close(own);
      if (!file_) throw py::value_error("Progress: 'fd' is not a writable file");
      options.out = file_.get();
    }
    progress_ = std::make_unique<app::Progress>(std::move(options));
  }
  app::Progress* operator->() const { return progress_.get(); }

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file_;  // outlives the Progress
  std::unique_ptr<app::Progress> progress_;
};

app::ProgressOptions options_of(int64_t epochs, int64_t steps_per_epoch, int64_t eval_every, int64_t eval_steps, int64_t save_every_steps, bool quiet) {
  return {.epochs = epochs,
          .steps_per_epoch = steps_per_epoch,
          .eval_every = eval_every,
          .save_every_steps = save_every_steps,
          .eval_steps = eval_steps,
          .quiet = quiet};
}

}  // namespace

void bind_progress(py::module_& m) {
  m.def(
      "epoch_text",
      [](int64_t epoch, int64_t epochs, std::optional<double> loss, std::vector<std::pair<std::string, double>> metrics, double samples_per_second) {
        return app::epoch_text({.epoch = epoch,
                                .epochs = epochs,
                                .loss = loss.value_or(0),
                                .has_loss = loss.has_value(),
                                .metrics = std::move(metrics),
                                .samples_per_second = samples_per_second});
      },
      py::arg("epoch"), py::arg("epochs"), py::arg("loss"), py::arg("metrics"), py::arg("samples_per_second"), "Returns the line that summarises an epoch.");
  py::class_<Bar>(m, "Progress",
                  "The progress line of a training run, written to a file descriptor; with None nothing is written, and line() is shown elsewhere.")
      .def(py::init([](std::optional<int> fd, int64_t epochs, int64_t steps_per_epoch, int64_t eval_every, int64_t eval_steps, int64_t save_every_steps,
                       bool quiet) { return std::make_unique<Bar>(fd, options_of(epochs, steps_per_epoch, eval_every, eval_steps, save_every_steps, quiet)); }),
           py::arg("fd"), py::arg("epochs"), py::arg("steps_per_epoch"), py::arg("eval_every") = 0, py::arg("eval_steps") = 0, py::arg("save_every_steps") = 0,
           py::arg("quiet") = false)
      .def(
          "step",
          [](Bar& b, int64_t epoch, int64_t step, int64_t steps, int64_t samples, double seconds, std::optional<double> loss, std::optional<double> lr,
             const std::optional<std::pair<std::string, double>>& metric) {
            app::StepProgress s{.epoch = epoch, .step = step, .steps = steps, .samples = samples, .seconds = seconds, .loss = loss.value_or(0)};
            s.has_loss = loss.has_value();
            s.lr = lr.value_or(-1);
            if (metric) s.metric = metric->first, s.metric_value = metric->second;
            b->step(s);
          },
          py::arg("epoch"), py::arg("step"), py::arg("steps"), py::arg("samples"), py::arg("seconds"), py::arg("loss") = py::none(), py::arg("lr") = py::none(),
          py::arg("metric") = py::none(), "Reports completed steps.")
      .def(
          "due", [](const Bar& b, int64_t steps) { return b->due(steps); }, py::arg("steps"), "Whether step() with this number of steps would draw.")
      .def(
          "print", [](Bar& b, const std::string& line) { b->print(line); }, py::arg("line"), "Prints a line that stays on the screen.")
      .def(
          "phase", [](Bar& b, const std::string& what) { b->phase(what); }, py::arg("what"), "Names a long phase outside of steps.")
      .def(
          "hide", [](Bar& b) { b->hide(); }, "Removes the line until the next step.")
      .def(
          "hold", [](Bar& b, bool held) { b->hold(held); }, py::arg("held"), "Suspends drawing while held.")
      .def(
          "finish", [](Bar& b) { b->finish(); }, "Ends the progress of the training run.")
      .def(
          "eval_took", [](Bar& b, double seconds) { b->eval_took(seconds); }, py::arg("seconds"),
          "Adds the duration of an evaluation to the estimate of the remaining time.")
      .def(
          "save_took", [](Bar& b, double seconds) { b->save_took(seconds); }, py::arg("seconds"),
          "Adds the duration of a save to the estimate of the remaining time.")
      .def(
          "remaining", [](const Bar& b) { return b->remaining(); }, "Returns the seconds to the end, negative while unknown.")
      .def(
          "line", [](const Bar& b, size_t columns) { return b->line(columns); }, py::arg("columns"),
          "Returns the line for a window with this number of columns; 0: the whole line.")
      .def_property_readonly("redraws", [](const Bar& b) { return b->redraws(); });
}

}  // namespace sindri::python
