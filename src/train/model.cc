// Model: the training loop around a TrainStep, evaluation and prediction.
#include "sindri/train/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/nn/loss.h"
#include "sindri/nn/norm.h"
#include "sindri/ops/random.h"

namespace sindri::train {

namespace {

double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Tensor first_tensor(const nn::Value& v) {
  const std::vector<Tensor> t = v.flatten();
  if (t.empty()) throw ValueError("the network returned no tensor");
  return t[0];
}

std::vector<BuildContext::MovingAverage> moving_averages(nn::Cell& network) {
  std::vector<BuildContext::MovingAverage> out;
  for (const auto& [path, cell] : network.cells_and_names()) {
    if (auto* norm = dynamic_cast<nn::BatchNorm*>(cell)) {
      out.push_back({&norm->moving_mean(), norm->options().momentum});
      out.push_back({&norm->moving_variance(), norm->options().momentum});
    }
  }
  return out;
}

}  // namespace

// State of one call of train().
struct Model::Loop {
  TrainState state;
  const std::vector<CallbackPtr>& callbacks;
  const TrainOptions& options;
  std::unique_ptr<dataset::Iterator> data;
  bool sink = false;
  int64_t chunk = 1;  // steps between callbacks
  bool endless = false;  // sink_size counts the steps of an epoch, data runs on across passes

  // The algorithms first: what callbacks save is what they have made of it.
  void notify(Event event, void (Callback::*hook)(TrainState&)) {
    for (const BoostAlgorithmPtr& a : state.algorithms) a->on_event(event, state);
    for (const CallbackPtr& c : callbacks) (*c.*hook)(state);
  }
  // The next batch; starts a new pass of the data where `endless` says that epochs are not passes.
  bool fetch(std::vector<Tensor>* batch) {
    const double start = now_seconds();
    bool got = data->next(batch);
    if (!got && endless && data->next_epoch()) got = data->next(batch);
    state.data_wait_seconds += now_seconds() - start;
    return got;
  }
};

Model::Model(nn::CellPtr network, nn::CellPtr loss, std::shared_ptr<optim::Optimizer> optimizer, ModelOptions options)
    : network_(std::move(network)), loss_(std::move(loss)), optimizer_(std::move(optimizer)), options_(std::move(options)) {
  if (!network_) throw ValueError("Model needs a network");
  net_with_loss_ = loss_ ? nn::WithLossCell::make(network_, loss_) : network_;
  network_->get_parameters();  // gives every parameter its path as name
  std::vector<std::string> classes;
  for (const auto& [path, cell] : net_with_loss_->cells_and_names()) classes.push_back(cell->class_name());
  amp::check(options_.amp, classes);
  if (optimizer_) {
    const bool narrow = options_.amp.level == amp::Level::kO2 && options_.amp.dtype == DType::kFloat16;
    const bool by_default = narrow && options_.loss_scale == 1 && optimizer_->base_options().loss_scale == 1;
    if (options_.loss_scale_manager.has_value()) loss_scale_manager_ = *options_.loss_scale_manager;
    else if (by_default) loss_scale_manager_ = std::make_shared<DynamicLossScaleManager>();
    step_ = make_train_step(*net_with_loss_, *optimizer_,
                            {.loss_scale = options_.loss_scale,
                             .skip_nonfinite = options_.nan_policy == NanPolicy::kSkip,
                             .micro_batches = options_.micro_batches,
                             .amp = options_.amp,
                             .loss_scale_manager = loss_scale_manager_});
    algorithms_ = apply_boosts(step_,
                               {.parameters = optimizer_->parameters(),
                                .network_state = network_->parameters_and_names(),
                                .moving_averages = moving_averages(*network_),
                                .network = network_.get(),
                                .optimizer = optimizer_.get(),
                                .loss_scale = optimizer_->base_options().loss_scale},
                               options_.algorithms);
    CompileOptions compile_options = options_.compile;
    compile_options.name = "train_step";
    runner_ = std::make_unique<StepRunner>(step_, compile_options);
  } else if (!options_.algorithms.empty()) {
    throw ValueError("training algorithms need an optimizer", "ModelOptions::algorithms");
  }
  if (options_.eval_weights == "trained") return;
  check_keeps_weights(options_.eval_weights);
  if (algorithm(options_.eval_weights) == nullptr)
    throw ValueError(fmt::format("eval_weights is '{}', and no training algorithm of that name is in force", options_.eval_weights),
                     "ModelOptions::eval_weights", "switch it on, or evaluate with \"trained\"");
}

Model::~Model() = default;

BoostAlgorithm* Model::algorithm(const std::string& name) const {
  const auto it = std::find_if(algorithms_.begin(), algorithms_.end(), [&](const BoostAlgorithmPtr& a) { return a->name() == name; });
  return it == algorithms_.end() ? nullptr : it->get();
}

std::vector<Parameter*> Model::algorithm_state() const {
  std::vector<Parameter*> all;
  for (const BoostAlgorithmPtr& a : algorithms_) {
    for (Parameter* p : a->state()) all.push_back(p);
  }
  return all;
}

const CompiledFn& Model::compiled_train_step() const {
  static const CompiledFn none;
  return runner_ ? runner_->compiled() : none;
}

namespace {

void check_columns(const std::vector<Tensor>& batch, bool has_loss) {
  if (has_loss && batch.size() != 2)
    throw ValueError(fmt::format("with a loss function the dataset must have two columns (data, label), it has {}", batch.size()), "",
                     "use project({\"image\", \"label\"})");
}

// A training that leaves out most of its steps has failed, however finite the rest is.
void check_skipped(const TrainState& s, double bound, const std::string& where) {
  constexpr int64_t kLeast = 10;  // a few at the start of a training are nothing
  const auto check = [&](int64_t skipped, int64_t steps, const char* of) {
    if (skipped < kLeast || static_cast<double>(skipped) <= bound * static_cast<double>(steps)) return;
    throw NonFiniteError(fmt::format("{} of the {} steps of {} were left out because their loss or a gradient was not finite", skipped, steps, of), where,
                         "lower the learning rate or clip gradients; train.max_skipped is the share that is let pass; checkpoints saved before are good");
  };
  check(s.nonfinite_in_epoch, s.step_in_epoch(), "this epoch");
  check(s.nonfinite_steps, s.cur_step_num, "this training");
}

// The steps of one update.
struct Group {
  int64_t steps = 1;
  bool bad_loss = false;  // of one of those so far
};

// Stops before anything that was trained on garbage is saved; callbacks of this step do not run. `left_out`: the step has found
// something that is not finite itself, and changed nothing. With accumulation that is known at the end of a group, for all of its steps.
void check_finite(double loss, bool left_out, Group& group, TrainState& s, const ModelOptions& options) {
  const bool scaled = s.loss_scale_manager != nullptr && s.loss_scale_manager->get_drop_overflow_update();
  group.bad_loss = group.bad_loss || !std::isfinite(loss);
  const bool mends = scaled && !group.bad_loss;  // a scale that is too large for a step is part of its working
  if (left_out) {
    (scaled ? s.overflow_steps : s.skipped_steps) += group.steps;
    group.bad_loss = false;
  }
  if (std::isfinite(loss) && (!left_out || mends)) return;
  const int64_t first = (s.step_in_epoch() - 1) * s.batch_size;
  const std::string where =
      fmt::format("epoch {}, step {} (samples {} to {} of the epoch)", s.cur_epoch_num, s.step_in_epoch(), first, first + s.batch_size - 1);
  if (left_out || group.steps == 1) {
    s.nonfinite_steps += group.steps;
    s.nonfinite_in_epoch += std::min(group.steps, s.step_in_epoch());  // a group may have begun in the epoch before
  }
  const std::string what = group.steps == 1 ? "the step is" : fmt::format("the {} steps of its update are", group.steps);
  if (std::isfinite(loss)) {
    log::warn("train",
              fmt::format("{} not finite {} {}: {} left out", group.steps == 1 ? "a gradient is" : "a loss or gradient was",
                          group.steps == 1 ? "at" : "in the update that ends at", where, what));
    return check_skipped(s, options.max_skipped, where);
  }
  const char* value = std::isnan(loss) ? "NaN" : loss > 0 ? "infinite" : "-infinite";  // a NaN's sign means nothing
  if (options.nan_policy == NanPolicy::kSkip) {
    log::warn("train", fmt::format("the loss is {} at {}: {} left out", value, where, what));
    return check_skipped(s, options.max_skipped, where);
  }
  throw NonFiniteError(fmt::format("the loss is {}", value), where,
                       "lower the learning rate or clip gradients; SINDRI_CHECK_FINITE=1 names the first op that gave it; checkpoints saved before are good");
}

}  // namespace

void Model::train(int64_t epochs, const std::shared_ptr<dataset::Dataset>& data, const std::vector<CallbackPtr>& callbacks, const TrainOptions& options) {
  if (!optimizer_) throw ValueError("Model::train needs an optimizer");
  if (!data) throw ValueError("Model::train needs a dataset");
  if (epochs < 1) throw ValueError(fmt::format("epochs must be at least 1, got {}", epochs));
  if (options.sink_size == 0 || options.sink_size < -1) throw ValueError(fmt::format("sink_size must be -1 or positive, got {}", options.sink_size));
  if (options.initial_epoch < 0 || options.initial_step < 0) throw ValueError("initial_epoch and initial_step must not be negative");
  const int64_t size = data->get_dataset_size();
  const bool sink = options.dataset_sink_mode;
  if (size < 0 && !(sink && options.sink_size > 0)) throw ValueError("the dataset repeats without end", "", "set sink_size, or give repeat() a count");

  Loop loop{.state = {}, .callbacks = callbacks, .options = options, .data = nullptr};
  TrainState& s = loop.state;
  s.network = network_.get();
  s.train_network = net_with_loss_.get();
  s.optimizer = optimizer_.get();
  s.loss_scale_manager = loss_scale_manager_.get();
  s.algorithms = algorithms_;
  s.train_dataset = data.get();
  s.open_data = [data] {
    const std::shared_ptr<dataset::Iterator> it = data->create_iterator({.num_epochs = 1, .on_corrupt = dataset::OnCorrupt::kSkip});
    return [it](std::vector<Tensor>* batch) { return it->next(batch); };
  };
  s.epoch_num = epochs;
  s.batch_size = data->get_batch_size();
  s.batch_num = sink && options.sink_size > 0 ? options.sink_size : size;
  s.dataset_sink_mode = sink;
  s.settings_hash = options.settings_hash;
  s.data_fingerprint = options.data_fingerprint;
  s.class_names = options.class_names;
  s.record = options.record;
  s.skipped_steps = options.initial_counts.skipped;
  s.overflow_steps = options.initial_counts.overflow;
  s.nonfinite_steps = options.initial_counts.nonfinite;
  s.nonfinite_in_epoch = options.initial_counts.nonfinite_in_epoch;
  s.cur_epoch_num = options.initial_epoch + (options.initial_step > 0 ? 1 : 0);
  loop.sink = sink;
  loop.endless = sink && options.sink_size > 0;
  // Sunk graphs report once per chunk; eager mode reports every step (mindspore_api.md 13.2).
  loop.chunk = sink && context().mode == Mode::kGraph ? s.batch_num : 1;
  s.cur_step_num = options.initial_total >= 0 ? options.initial_total : options.initial_epoch * s.batch_num + options.initial_step;

  s.steps_before_epoch = s.cur_step_num - options.initial_step;
  if (options.initial_epoch < epochs && (options.max_steps <= 0 || s.cur_step_num < options.max_steps)) loop.data = open_at(loop, *data, size);

  net_with_loss_->set_train(true);
  loop.notify(Event::kBegin, &Callback::begin);
  run_epochs(loop);
  loop.notify(Event::kEnd, &Callback::end);
}

// The data at the step the training begins with.
std::unique_ptr<dataset::Iterator> Model::open_at(const Loop& loop, const dataset::Dataset& data, int64_t size) {
  const TrainOptions& options = loop.options;
  const TrainState& s = loop.state;
  dataset::IteratorOptions where;
  if (!loop.endless) {
    where.num_epochs = s.epoch_num;
    where.start_epoch = options.initial_epoch;
    where.start_batch = options.initial_step;
  } else if (size > 0) {
    where.start_epoch = s.cur_step_num / size;
    where.start_batch = s.cur_step_num % size;
  } else {
    where.start_batch = s.cur_step_num;
  }
  if (!options.dataset_state.empty()) where.start_epoch = where.start_batch = 0;
  where.on_corrupt = options.on_corrupt;
  where.max_corrupt = options.max_corrupt;
  std::unique_ptr<dataset::Iterator> it = data.create_iterator(where);
  if (!options.dataset_state.empty()) {
    it->load_state(options.dataset_state);
    // A state saved behind the last batch of an epoch stands in that epoch still.
    if (!loop.endless && it->epoch() < options.initial_epoch) it->next_epoch();
  }
  return it;
}

void Model::run_epochs(Loop& loop) {
  TrainState& s = loop.state;
  std::vector<Tensor> batch;
  Group group{.steps = step_.steps_per_update};
  const int64_t limit = loop.options.max_steps > 0 ? loop.options.max_steps : INT64_MAX;
  if (loop.options.epoch_not_ended) {
    s.steps_before_epoch = s.cur_step_num - s.batch_num;
    s.epoch_complete = true;
    loop.notify(Event::kEpochEnd, &Callback::epoch_end);
  }
  for (int64_t epoch = loop.options.initial_epoch + 1; epoch <= s.epoch_num && !s.stop; ++epoch) {
    if (s.cur_step_num >= limit) break;
    int64_t done = epoch == loop.options.initial_epoch + 1 ? loop.options.initial_step : 0;
    s.cur_epoch_num = epoch;
    s.steps_before_epoch = s.cur_step_num - done;
    s.epoch_complete = false;
    if (done == 0) s.nonfinite_in_epoch = 0;
    loop.notify(Event::kEpochBegin, &Callback::epoch_begin);
    while (done < s.batch_num && !s.stop) {
      const int64_t steps = std::min({loop.chunk - done % loop.chunk, s.batch_num - done, limit - s.cur_step_num});
      const double start = now_seconds();
      int64_t ran = 0;
      s.data_wait_seconds = 0;
      s.losses.clear();
      for (; ran < steps; ++ran) {
        if (!loop.fetch(&batch)) break;  // fewer rows than counted (dropped ones): the epoch ends here
        check_columns(batch, loss_ != nullptr);
        if (ran == 0) {
          ++s.cur_step_num;
          loop.notify(Event::kStepBegin, &Callback::step_begin);
        } else {
          ++s.cur_step_num;
        }
        const StepResult result = (*runner_)(batch, s.cur_step_num - 1);
        s.net_outputs = result.loss;
        const double loss = result.loss.item();
        check_finite(loss, result.finite.defined() && result.finite.item() == 0, group, s, options_);
        s.losses.push_back(static_cast<float>(loss));
        if (loop.options.stop_requested && loop.options.stop_requested()) {
          ++ran;
          s.request_stop();
          break;
        }
      }
      if (ran == 0) break;
      done += ran;
      s.epoch_complete = done == s.batch_num;
      if (s.cur_step_num >= limit) s.request_stop();
      s.last_step_seconds = (now_seconds() - start) / static_cast<double>(ran);
      s.data_wait_seconds /= static_cast<double>(ran);
      s.dataset_state = loop.data->state_dict();
      loop.notify(Event::kStepEnd, &Callback::step_end);
    }
    if (s.stop && done < s.batch_num) break;  // stopped inside the epoch: it has not ended
    s.epoch_complete = true;
    loop.notify(Event::kEpochEnd, &Callback::epoch_end);
    if (!loop.endless && epoch < s.epoch_num) loop.data->next_epoch();
  }
  if (loop.data) s.data_stats = loop.data->stats().str();
}

// The network at its amp level; what it gives is float32 again, for losses and metrics.
Tensor Model::run_network(const Tensor& x) {
  const amp::AmpScope scope(options_.amp);
  const nn::Value v(x);
  const Tensor out = first_tensor(network_->call({&v, 1}));
  return options_.amp.active() ? amp::cast_floating(out, DType::kFloat32) : out;
}

// {output} or {output, loss} of one batch.
TensorList Model::run_eval(const TensorList& batch) {
  const auto forward = [this](Span<const Tensor> in, int) -> TensorList {
    const Tensor out = run_network(in[0]);
    if (!loss_) return {out};
    const nn::Value pair[] = {nn::Value(out), nn::Value(in[1])};
    return {out, loss_->call(pair).tensor()};
  };
  if (context().mode == Mode::kPynative) return forward(batch, 0);
  if (!eval_fn_) {
    CompileOptions compile_options = options_.compile;
    compile_options.name = "eval_step";
    eval_fn_ = CompiledFn(forward, compile_options);
  }
  return eval_fn_(batch);
}

MetricValues Model::eval(const std::shared_ptr<dataset::Dataset>& data, dataset::OnCorrupt on_corrupt, int64_t max_corrupt) {
  if (options_.metrics.empty()) throw ValueError("Model::eval needs metrics", "", "give ModelOptions::metrics, for example {\"accuracy\", …}");
  if (!data) throw ValueError("Model::eval needs a dataset");
  if (data->get_dataset_size() < 0) throw ValueError("the dataset repeats without end", "", "give repeat() a count");
  const bool was_training = net_with_loss_->training();
  std::optional<OtherWeights> other;
  if (options_.eval_weights != "trained") other.emplace(*algorithm(options_.eval_weights));
  net_with_loss_->set_train(false);
  for (auto& [name, metric] : options_.metrics) metric->clear();
  const auto it = data->create_iterator({.num_epochs = 1, .on_corrupt = on_corrupt, .max_corrupt = max_corrupt});
  std::vector<Tensor> batch;
  while (it->next(&batch)) {
    if (batch.size() < 2) throw ValueError(fmt::format("evaluation needs two columns (data, label), the dataset has {}", batch.size()));
    const TensorList out = run_eval(batch);
    for (auto& [name, metric] : options_.metrics) {
      if (metric->uses_loss()) {
        if (out.size() < 2) throw ValueError("metric 'loss' needs a Model with a loss function");
        metric->update({out[1]});
      } else {
        metric->update({out[0], batch[1]});
      }
    }
  }
  net_with_loss_->set_train(was_training);
  MetricValues values;
  for (auto& [name, metric] : options_.metrics) values[name] = metric->value();
  return values;
}

Tensor Model::predict(const Tensor& x) {
  const bool was_training = network_->training();
  network_->set_train(false);
  if (!predict_fn_) {
    CompileOptions compile_options = options_.compile;
    compile_options.name = "predict";
    predict_fn_ = CompiledFn([this](Span<const Tensor> in, int) -> TensorList { return {run_network(in[0])}; }, compile_options);
  }
  const Tensor out = context().mode == Mode::kGraph ? predict_fn_({&x, 1})[0] : run_network(x);
  network_->set_train(was_training);
  return out;
}

}  // namespace sindri::train
