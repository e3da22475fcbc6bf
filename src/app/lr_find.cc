// `sindri train --lr-find`: trains a few steps as the settings describe, with increasing learning rates.
#include <fmt/format.h>

#include <cstdio>

#include "sindri/app/app.h"
#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/train/boost.h"
#include "sindri/train/lr_range.h"
#include "src/app/build.h"
#include "src/app/session.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

constexpr double kFirstRate = 1e-6, kLastRate = 10;
constexpr int64_t kUpdates = 100;

// Called before anything is computed. Only the file of an earlier curve may be replaced.
void check_file(const std::string& path) {
  if (!path.ends_with(".csv")) throw SettingsError("--lr-find writes a CSV file, and its name does not end in .csv", path, "name a CSV file, such as lr.csv");
  if (!train::file_exists(path, "curve") || train::read_small_file(path, 64, "curve").starts_with("step,lr,loss,smoothed\n")) return;
  throw SettingsError("--lr-find would replace a file that is not a learning-rate curve", path, "give another name");
}

std::string text_of(const train::LrRange& range, const std::string& path, int64_t planned) {
  const std::vector<double> smoothed = range.smoothed();
  std::string text = fmt::format("{:>12}  {:>10}\n", "lr", "loss");
  constexpr int64_t kRows = 12;
  const auto count = static_cast<int64_t>(smoothed.size());
  for (int64_t row = 0, last = -1; row < kRows; ++row) {
    const int64_t i = (count - 1) * row / (kRows - 1);
    if (i > last && i >= 0) text += fmt::format("{:>12.3g}  {:>10.4f}\n", range.rate(i), smoothed[static_cast<size_t>(i)]);
    last = i;
  }
  if (count < planned) text += fmt::format("the loss diverged after {} of {} updates\n", count, planned);
  text += fmt::format("curve: {}\n", path);
  if (const auto rate = range.suggestion()) return text + fmt::format("suggestion: lr.max {:.2g}, where the loss falls fastest\n", *rate);
  return text + "no suggestion: the loss does not fall at any of these rates; check the data, the net and optimizer.name\n";
}

}  // namespace

void find_rate(Session* s, const std::function<void(Session*)>& build) {
  if (s->group.several()) throw SettingsError("--lr-find runs in one process", "dist.*", "start it without ranks, with the global batch as train.batch_size");
  check_file(s->request.lr_find);
  train::LrRange range(kFirstRate, kLastRate, kUpdates);
  for (int64_t i = 0; i < kUpdates; ++i) s->rates.push_back(static_cast<float>(range.rate(i)));
  build(s);
  load_start(s);
  s->network->set_train(true);
  train::StepRunner run(s->model->train_step());
  const auto it = s->data.train->create_iterator();
  const int64_t group = s->steps_per_update;
  double sum = 0;
  for (int64_t step = 0; step < kUpdates * group; ++step) {
    TensorList batch;
    if (!it->next(&batch) && (!it->next_epoch() || !it->next(&batch))) break;
    batch = copy_ahead(batch, current_device());
    if (s->data.prepare) batch[0] = s->data.prepare(batch[0]);
    sum += run(batch, step).loss.item();
    if ((step + 1) % group != 0) continue;
    if (!range.add(sum / static_cast<double>(group))) break;
    sum = 0;
  }
  train::write_file_atomically(s->request.lr_find, range.csv(), "curve");
  std::fputs(text_of(range, s->request.lr_find, kUpdates).c_str(), stdout);
}

}  // namespace sindri::app
