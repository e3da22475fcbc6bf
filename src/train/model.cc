// Model: the training loop around a TrainStep, evaluation and prediction.
#include "sindri/train/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sindri/comm/communicator.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/nn/loss.h"
#include "sindri/nn/norm.h"
#include "sindri/ops/random.h"
#include "src/comm/session.h"
#include "src/core/clock.h"
#include "src/train/first_rank.h"
#include "src/train/save_state.h"
#include "src/train/step_log.h"

namespace sindri::train {

namespace {

// Copies tensors to the device that trains and applies the network. Host tensors are copied ahead of the work that reads them.
TensorList on_device(const TensorList& tensors, const std::function<Tensor(const Tensor&)>& prepare) {
  TensorList out = copy_ahead(tensors, current_device());
  if (prepare && !out.empty()) out[0] = prepare(out[0]);
  return out;
}

Tensor first_tensor(const nn::Value& v) {
  const std::vector<Tensor> t = v.flatten();
  if (t.empty()) throw ValueError("the network returned no tensor");
  return t[0];
}

std::vector<BuildContext::MovingAverage> moving_averages(nn::Cell& network) {
  std::vector<BuildContext::MovingAverage> out;
  for (const auto& [path, cell] : network.cells_and_names()) {
    if (auto* norm = dynamic_cast<nn::BatchNorm*>(cell);
        norm != nullptr && !norm->bypassed() && norm->options().use_batch_statistics.value_or(true)) {  // other norms have fixed statistics
      out.push_back({&norm->moving_mean(), norm->options().momentum});
      out.push_back({&norm->moving_variance(), norm->options().momentum, &norm->moving_mean()});
    }
  }
  return out;
}

}  // namespace

// State of one call of train().
struct Model::Loop {
  Loop(const std::vector<CallbackPtr>& cbs, const TrainOptions& opts, const ModelOptions& model, int64_t steps_per_update)
      : callbacks(cbs), options(opts), prepare(model.prepare), log(state, model, steps_per_update, [this](const KnownSteps& known) {
          for (const CallbackPtr& c : callbacks) c->steps_known(state, known);
        }) {
    state.settle = [this] { log.settle(); };
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  TrainState state;
  const std::vector<CallbackPtr>& callbacks;
  const TrainOptions& options;
  const std::function<Tensor(const Tensor&)>& prepare;
  StepLog log;
  std::unique_ptr<dataset::Iterator> data;
  bool sink = false;
  int64_t chunk = 1;  // steps between callbacks
  bool compiled = false;  // a step has been compiled
  bool stopping = false;  // several ranks: this one has requested a stop
  bool endless = false;  // sink_size counts the steps of an epoch, and data continues across passes

  // Algorithms come first: callbacks save the state after their changes.
  void notify(Event event, void (Callback::*hook)(TrainState&)) {
    for (const BoostAlgorithmPtr& a : state.algorithms) a->on_event(event, state);
    for (const CallbackPtr& c : callbacks) (*c.*hook)(state);
  }
  // Reports this rank's progress to ranks that wait for it.
  void say(int64_t step, const char* phase) const {
    if (state.ranks == nullptr) return;
    state.ranks->session()->step = step;
    state.ranks->session()->phase = phase;
  }
  // Fetches the next batch and starts its copy to the device. Starts a new pass over the data if `endless` decouples epochs from passes. Adds the time to
  // `waited`.
  bool fetch(std::vector<Tensor>* batch, double* waited) {
    const double start = now_seconds();
    say(state.cur_step_num + 1, "data");
    bool got = data->next(batch);
    if (!got && endless && data->next_epoch()) got = data->next(batch);
    *waited += now_seconds() - start;
    if (got) *batch = on_device(*batch, prepare);
    return got;
  }
};

Model::Model(nn::CellPtr network, nn::CellPtr loss, std::shared_ptr<optim::Optimizer> optimizer, ModelOptions options)
    : network_(std::move(network)), loss_(std::move(loss)), optimizer_(std::move(optimizer)), options_(std::move(options)) {
  if (!network_) throw ValueError("Model needs a network");
  net_with_loss_ = loss_ ? nn::WithLossCell::make(network_, loss_) : network_;
  network_->get_parameters();  // names every parameter by its path
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
    BuildContext context = {.parameters = optimizer_->parameters(),
                            .network_state = network_->parameters_and_names(),
                            .moving_averages = moving_averages(*network_),
                            .grouped_weights = grouped_weights(*network_),
                            .network = network_.get(),
                            .optimizer = optimizer_.get(),
                            .loss_scale = optimizer_->base_options().loss_scale};
    if (options_.data_parallel && !options_.data_parallel->gradients_mean)
      context.gradient_sum = static_cast<double>(virtual_ranks(*options_.data_parallel, comm::world()));
    if (options_.data_parallel) context.gradient_lists = virtual_ranks(*options_.data_parallel, comm::world()) / comm::world().size();
    algorithms_ = apply_boosts(step_, context, options_.algorithms);
    if (options_.data_parallel) {
      parallel_ = apply_data_parallel(step_, context, *options_.data_parallel, comm::world());
      for (const BoostAlgorithmPtr& a : algorithms_) {
        parallel_->copy_from_first(a->follows_forward());
        std::vector<Parameter*> of_groups = a->own_state();
        std::erase_if(of_groups, [&](const Parameter* p) { return std::find(step_.collected.begin(), step_.collected.end(), p) != step_.collected.end(); });
        parallel_->keep_of_groups(of_groups);
      }
    }
    CompileOptions compile_options = options_.compile;
    compile_options.name = "train_step";
    if (parallel_ && !options_.data_parallel->overlap) compile_options.disable_passes.emplace_back("hoist_comm");
    runner_ = std::make_unique<StepRunner>(step_, compile_options);
  } else if (!options_.algorithms.empty()) {
    throw ValueError("training algorithms need an optimizer", "ModelOptions::algorithms");
  } else if (options_.data_parallel) {
    throw ValueError("data-parallel training needs an optimizer", "ModelOptions::data_parallel");
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

void Model::restore_of_ranks(std::vector<std::pair<std::string, Tensor>> saved) {
  if (parallel_ && parallel_->active()) parallel_->restore_of_ranks(std::move(saved));
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

int64_t bytes_of(const TensorList& batch) {
  int64_t bytes = 0;
  for (const Tensor& t : batch) bytes += t.nbytes();
  return bytes;
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

  Loop loop(callbacks, options, options_, step_.steps_per_update);
  TrainState& s = loop.state;
  s.network = network_.get();
  s.train_network = net_with_loss_.get();
  s.optimizer = optimizer_.get();
  s.loss_scale_manager = loss_scale_manager_.get();
  s.algorithms = algorithms_;
  s.train_dataset = data.get();
  s.open_data = [data, policy = options.on_corrupt, most = options.max_corrupt,
                 prepare = options_.prepare] {  // with the run's settings, so that it reads the same rows as the run
    const std::shared_ptr<dataset::Iterator> it = data->create_iterator({.num_epochs = 1, .on_corrupt = policy, .max_corrupt = most});
    return [it, prepare](std::vector<Tensor>* batch) {
      if (!it->next(batch)) return false;
      *batch = on_device(*batch, prepare);
      return true;
    };
  };
  s.epoch_num = epochs;
  s.batch_size = data->get_batch_size();
  s.batch_num = sink && options.sink_size > 0 ? options.sink_size : size;
  s.dataset_sink_mode = sink;
  s.settings_hash = options.settings_hash;
  s.data_fingerprint = options.data_fingerprint;
  s.class_names = options.class_names;
  s.record = options.record;
  for (const CallbackPtr& c : callbacks) s.callbacks.push_back(c.get());
  s.skipped_steps = options.initial_counts.skipped;
  s.overflow_steps = options.initial_counts.overflow;
  s.nonfinite_steps = options.initial_counts.nonfinite;
  s.nonfinite_in_epoch = options.initial_counts.nonfinite_in_epoch;
  s.cur_epoch_num = options.initial_epoch + (options.initial_step > 0 ? 1 : 0);
  loop.sink = sink;
  loop.endless = sink && options.sink_size > 0;
  // In sink mode, graph mode reports once per chunk; eager mode reports every step, as in MindSpore.
  loop.chunk = sink && context().mode == Mode::kGraph ? s.batch_num : 1;
  s.cur_step_num = options.initial_total >= 0 ? options.initial_total : options.initial_epoch * s.batch_num + options.initial_step;
  step_.steps_before = s.cur_step_num == 0 ? steps_trained_ : 0;  // a resumed run counts these steps in cur_step_num
  const std::shared_ptr<void> count(nullptr, [this, &s](void*) { steps_trained_ = step_.steps_before + s.cur_step_num; });

  s.global_batch = s.batch_size;
  if (parallel_ && parallel_->active()) {
    if (parallel_->communicator().size() > 1) s.ranks = &parallel_->communicator();
    s.virtual_ranks = parallel_->virtual_ranks();
    s.global_batch = s.batch_size * parallel_->communicator().size();
    s.moving_averages_written = [this] { parallel_->give_moving_averages(); };
    s.merge_ranks = [this, &s]() -> std::shared_ptr<void> {
      parallel_->check_replicas();
      if (within_group(s)) parallel_->merge_collected();
      s.of_ranks = parallel_->of_ranks();
      return {nullptr, [&s, merged = parallel_->merged()](void*) { s.of_ranks.clear(); }};
    };
  }
  s.global_samples = options.initial_samples >= 0 ? options.initial_samples : s.cur_step_num * s.global_batch;
  s.steps_before_epoch = s.cur_step_num - options.initial_step;
  if (options.initial_epoch < epochs && (options.max_steps <= 0 || s.cur_step_num < options.max_steps)) loop.data = open_at(loop, *data, size);
  // Callbacks may save before the first step: at the end of an epoch whose steps an earlier process trained.
  if (!options.dataset_state.empty()) s.dataset_state = options.dataset_state;
  else if (loop.data && s.cur_step_num > 0) s.dataset_state = loop.data->state_dict();

  net_with_loss_->set_train(true);
  begin_parallel(loop);
  int64_t end = s.cur_step_num + (epochs - options.initial_epoch) * s.batch_num - options.initial_step;
  if (options.max_steps > 0) end = std::min(options.max_steps, end);
  step_.last_step = end - 1;
  load_states(s.callbacks, options.callbacks);
  loop.notify(Event::kBegin, &Callback::begin);
  warn_without_updates(step_, s.cur_step_num, end);
  try {
    run_epochs(loop);
    loop.log.settle();
  } catch (...) {
    // Steps trained before the failure are reported.
    try {
      loop.log.settle();
    } catch (const Error&) {}  // the first error is the one that matters
    throw;
  }
  loop.notify(Event::kEnd, &Callback::end);
  if (!parallel_) return;
  if (within_group(s)) parallel_->merge_collected();  // a second call of train() starts with rank 0's
  parallel_->merge_moving_averages();
}

// Returns whether the last step left gradients for a later update.
bool Model::within_group(const TrainState& s) const { return s.cur_step_num > 0 && !step_.updates(s.cur_step_num - 1); }

// Opens the data at the step where the run starts.
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
    // A state saved after the last batch of an epoch still belongs to that epoch.
    if (!loop.endless && it->epoch() < options.initial_epoch) it->next_epoch();
  }
  return it;
}

// Ranks compare their options, and copy rank 0's state.
void Model::begin_parallel(Loop& loop) {
  if (!parallel_ || !parallel_->active()) return;
  TrainState& s = loop.state;
  const int64_t start = s.cur_step_num;
  std::vector<std::string> names;
  for (const BoostAlgorithmPtr& a : algorithms_) names.push_back(a->name());
  PlanLines lines = {
      fmt::format("mode: {}", context().mode == Mode::kGraph ? "graph" : "eager"),
      fmt::format("epochs: {}", s.epoch_num),
      fmt::format("steps per epoch: {}", s.batch_num),
      fmt::format("batch size of all ranks: {}", s.global_batch),
      fmt::format("first step: {} of {} (epoch {}, step {})", start, loop.options.max_steps, loop.options.initial_epoch, loop.options.initial_step),
      fmt::format("steps per chunk: {}", loop.chunk),
      fmt::format("micro batches: {}", options_.micro_batches),
      fmt::format("mixed precision: {} {}", static_cast<int>(options_.amp.level), dtype_name(options_.amp.dtype)),
      fmt::format("loss scale: {} {}", options_.loss_scale, loss_scale_manager_ != nullptr),
      fmt::format("not finite: {} {} {}", options_.nan_policy == NanPolicy::kSkip ? "skip" : "stop", options_.max_skipped, options_.max_skips),
      fmt::format("optimizer: {}", optimizer_->name()),
      fmt::format("algorithms: {}", fmt::join(names, ", ")),
  };
  lines.insert(lines.end(), loop.options.plan.begin(), loop.options.plan.end());
  std::vector<Parameter*> state = optimizer_->state();
  if (loss_scale_manager_)
    for (Parameter* p : loss_scale_manager_->state()) state.push_back(p);
  for (Parameter* p : algorithm_state()) state.push_back(p);
  if (began_ && start == 0) {  // a second call of train(): the ranks already have their own
    for (const BoostAlgorithmPtr& a : algorithms_)
      for (const Parameter* own : a->own_state()) std::erase(state, own);
  }
  began_ = true;
  parallel_->begin(lines, state);
}

// Returns whether the run ends after this step.
bool Model::run_step(Loop& loop, const TensorList& batch) {
  TrainState& s = loop.state;
  const bool several = parallel_ && parallel_->active();
  if (several && loop.options.stop_requested && loop.options.stop_requested()) parallel_->request_stop();
  loop.say(s.cur_step_num, "step");
  if (several && !loop.compiled) {
    parallel_->share_kernel_choices([&] { runner_->prepare(batch, s.cur_step_num - 1); });
    if (s.ranks != nullptr && context().mode == Mode::kGraph) check_same_graph(parallel_->communicator(), runner_->compiled().graph_text());
  }
  loop.compiled = true;
  const StepResult result = (*runner_)(batch, s.cur_step_num - 1);
  loop.say(s.cur_step_num, "callbacks");
  s.net_outputs = result.loss;
  s.global_samples += s.global_batch;
  if (several) parallel_->after_step(s.cur_step_num);
  try {
    loop.log.add(result, bytes_of(batch));
  } catch (NonFiniteError& e) {  // the values are the same on all ranks, so all of them get here, unless the host runs ahead
    if (s.ranks != nullptr && result.loss.device().is_cpu())
      if (const std::string ranks = parallel_->nonfinite_ranks(); !ranks.empty()) e.add_where("gradients were not finite first on " + ranks);
    throw;
  }
  if (!several) return loop.options.stop_requested && loop.options.stop_requested();
  return parallel_->stop_agreed();
}

// Ranks must agree on a stop that a callback of one rank requests. They agree immediately at the end of an epoch; otherwise the next step communicates it.
void Model::share_stop(Loop& loop, bool epoch_ended) {
  TrainState& s = loop.state;
  if (!parallel_ || !parallel_->active()) return;
  loop.stopping = loop.stopping || s.stop;
  if (epoch_ended) {
    s.stop = parallel_->any(loop.stopping, "end of the training");
  } else if (s.stop) {
    parallel_->request_stop();
    s.stop = false;
  }
}

// The other ranks have started a step that this rank cannot take part in.
void Model::fail_without_data(const Loop& loop) const {
  const TrainState& s = loop.state;
  const std::string what =
      fmt::format("the data of rank {} ended after step {} of {} of the epoch", parallel_->communicator().rank(), s.step_in_epoch(), s.batch_num);
  comm::abort(what);
  throw CommError(ErrorCode::kRankData, what, fmt::format("epoch {}", s.cur_epoch_num),
                  "repair the samples that were skipped as corrupt on this rank, or use data.on_corrupt: replace");
}

void Model::run_epochs(Loop& loop) {
  TrainState& s = loop.state;
  std::vector<Tensor> batch;
  const int64_t limit = loop.options.max_steps > 0 ? loop.options.max_steps : INT64_MAX;
  if (loop.options.epoch_not_ended) {
    s.steps_before_epoch = s.cur_step_num - s.batch_num;
    s.epoch_complete = s.epoch_ending = true;
    loop.notify(Event::kEpochEnd, &Callback::epoch_end);
  }
  for (int64_t epoch = loop.options.initial_epoch + 1; epoch <= s.epoch_num && !s.stop; ++epoch) {
    if (s.cur_step_num >= limit) break;
    int64_t done = epoch == loop.options.initial_epoch + 1 ? loop.options.initial_step : 0;
    s.cur_epoch_num = epoch;
    s.steps_before_epoch = s.cur_step_num - done;
    s.epoch_complete = s.epoch_ending = false;
    if (done == 0) s.nonfinite_in_epoch = 0;
    loop.notify(Event::kEpochBegin, &Callback::epoch_begin);
    while (done < s.batch_num && !s.stop) {
      const int64_t steps = std::min({loop.chunk - done % loop.chunk, s.batch_num - done, limit - s.cur_step_num});
      int64_t ran = 0;
      double waited = 0;
      loop.log.begin_unit();
      for (; ran < steps; ++ran) {
        if (!loop.fetch(&batch, &waited)) {
          if (s.ranks != nullptr) fail_without_data(loop);
          break;  // fewer rows than counted (dropped ones): the epoch ends here
        }
        check_columns(batch, loss_ != nullptr);
        if (ran == 0) {
          ++s.cur_step_num;
          loop.notify(Event::kStepBegin, &Callback::step_begin);
        } else {
          ++s.cur_step_num;
        }
        if (run_step(loop, batch)) {
          ++ran;
          s.interrupted = true;
          s.request_stop();
          break;
        }
      }
      if (ran > 0 && loop.chunk > 1) loop.log.settle();
      loop.log.end_unit(waited);
      if (ran == 0) break;
      done += ran;
      s.epoch_complete = done == s.batch_num;
      if (s.cur_step_num >= limit) s.request_stop();
      s.dataset_state = loop.data->state_dict();
      const bool agreed = s.stop;
      loop.notify(Event::kStepEnd, &Callback::step_end);
      if (!agreed) share_stop(loop, false);
    }
    if (s.stop && done < s.batch_num) break;  // stopped inside the epoch: it has not ended
    loop.log.settle();
    s.epoch_complete = s.epoch_ending = true;
    loop.notify(Event::kEpochEnd, &Callback::epoch_end);
    share_stop(loop, true);
    if (!loop.endless && epoch < s.epoch_num) loop.data->next_epoch();
  }
  if (loop.data) s.data_stats = loop.data->stats().str();
}

// Runs the network at its amp level; the output is float32 again, for losses and metrics.
Tensor Model::run_network(const Tensor& x) {
  const amp::AmpScope scope(options_.amp);
  const nn::Value v(x);
  const Tensor out = first_tensor(network_->call({&v, 1}));
  return options_.amp.active() ? amp::cast_floating(out, DType::kFloat32) : out;
}

// Returns {output} or {output, loss} of one batch.
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

namespace {

// Passes outputs, losses and labels to the metrics. Values on a device are copied to the host together, for as many batches as the limits below allow.
class EvaluatedRun {
 public:
  EvaluatedRun(const std::map<std::string, std::shared_ptr<nn::Metric>>& metrics, const nn::Cell* loss)
      : metrics_(metrics), loss_(dynamic_cast<const nn::LossBase*>(loss)) {
    for (const auto& [name, metric] : metrics) (metric->uses_loss() ? losses_ : outputs_) = true;
  }
  /// `out`: {output} or {output, loss}.
  void add(const TensorList& out, const Tensor& labels) {
    if (losses_ && out.size() < 2) throw ValueError("metric 'loss' needs a Model with a loss function");
    seen_.push_back(outputs_ ? out[0] : Tensor());
    seen_.push_back(losses_ ? out[1] : Tensor());
    labels_.push_back(labels);
    bytes_ += outputs_ ? out[0].nbytes() : 0;
    if (out[0].device().is_cpu() || bytes_ > kMostBytes || labels_.size() == kMostBatches) update();
  }
  void update() {
    const TensorList host = to_host(seen_, "metrics");
    for (size_t i = 0; i < labels_.size(); ++i) {
      for (const auto& [name, metric] : metrics_) {
        if (!metric->uses_loss()) metric->update({host[2 * i], labels_[i]});
        else if (auto* const loss = dynamic_cast<nn::Loss*>(metric.get())) count(*loss, host[2 * i + 1], labels_[i]);
        else metric->update({host[2 * i + 1]});
      }
    }
    seen_.clear();
    labels_.clear();
    bytes_ = 0;
  }

 private:
  // Weighted by samples, not by batches: the last batch may be smaller, and the result must not depend on the batch size.
  void count(nn::Loss& metric, const Tensor& loss, const Tensor& labels) const {
    if (loss_ != nullptr && loss_->reduction() == "sum") return metric.add_total(loss);
    const double samples = labels.rank() > 0 ? static_cast<double>(labels.dim(0)) : 1;
    metric.add_weighted(loss, loss_ != nullptr && loss_->reduction() == "mean" ? loss_->divisor(labels) : samples);
  }

  static constexpr int64_t kMostBytes = 64 << 20;
  static constexpr size_t kMostBatches = 256;
  const std::map<std::string, std::shared_ptr<nn::Metric>>& metrics_;
  const nn::LossBase* loss_;  // null: a Cell of the user's, whose mean is taken over samples
  bool outputs_ = false, losses_ = false;
  TensorList seen_, labels_;  // seen_ has two tensors for each of labels_
  int64_t bytes_ = 0;
};

}  // namespace

namespace {

// Adds up the ranks' counts, in rank order, on each of them.
void add_over_ranks(const std::map<std::string, std::shared_ptr<nn::Metric>>& metrics, comm::Communicator& ranks) {
  std::vector<double> mine;
  for (const auto& [name, metric] : metrics) {
    const std::vector<double> counts = metric->saved();
    mine.push_back(static_cast<double>(counts.size()));
    mine.insert(mine.end(), counts.begin(), counts.end());
  }
  const auto size = static_cast<int64_t>(mine.size());
  std::vector<int64_t> sizes(static_cast<size_t>(ranks.size()));
  ranks.all_gather(&size, sizes.data(), 1, DType::kInt64, {"metrics"});
  int64_t total = 0;
  for (const int64_t n : sizes) total += n;
  std::vector<double> all(static_cast<size_t>(total));
  ranks.all_gather_v(mine.data(), all.data(), sizes, DType::kFloat64, {"metrics"});
  for (const auto& [name, metric] : metrics) metric->clear();
  auto at = all.begin();
  for (int r = 0; r < ranks.size(); ++r) {
    for (const auto& [name, metric] : metrics) {
      const auto end = at + 1 + static_cast<std::ptrdiff_t>(*at);
      metric->add_saved({at + 1, end});
      at = end;
    }
  }
}

}  // namespace

MetricValues Model::eval(const std::shared_ptr<dataset::Dataset>& data, dataset::OnCorrupt on_corrupt, int64_t max_corrupt, comm::Communicator* ranks) {
  if (options_.metrics.empty()) throw ValueError("Model::eval needs metrics", "", "give ModelOptions::metrics, for example {\"accuracy\", …}");
  if (!data) throw ValueError("Model::eval needs a dataset");
  if (data->get_dataset_size() < 0) throw ValueError("the dataset repeats without end", "", "give repeat() a count");
  const std::shared_ptr<void> merged = parallel_ ? parallel_->merged() : nullptr;
  const bool was_training = net_with_loss_->training();
  std::optional<OtherWeights> other;
  if (options_.eval_weights != "trained") other.emplace(*algorithm(options_.eval_weights));
  net_with_loss_->set_train(false);
  for (auto& [name, metric] : options_.metrics) metric->clear();
  const auto it = data->create_iterator({.num_epochs = 1, .on_corrupt = on_corrupt, .max_corrupt = max_corrupt});
  std::vector<Tensor> batch;
  EvaluatedRun judged(options_.metrics, loss_.get());
  while (it->next(&batch)) {
    if (batch.size() < 2) throw ValueError(fmt::format("evaluation needs two columns (data, label), the dataset has {}", batch.size()));
    judged.add(run_eval(on_device(batch, options_.prepare)), batch[1]);
  }
  judged.update();
  net_with_loss_->set_train(was_training);
  if (ranks != nullptr && ranks->size() > 1) add_over_ranks(options_.metrics, *ranks);
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
  const TensorList in = on_device({x}, options_.prepare);
  const Tensor out = context().mode == Mode::kGraph ? predict_fn_(in)[0] : run_network(in[0]);
  network_->set_train(was_training);
  return out;
}

}  // namespace sindri::train
