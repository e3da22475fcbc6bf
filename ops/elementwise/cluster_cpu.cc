// Kernels of elementwise_cluster. "simd" runs all steps on one tile of the output before the next tile, with the vectorised loops of
// the separate ops, so that intermediate values stay in L1. "reference" runs the ops' reference kernels in sequence.
#include "ops/elementwise/cluster.h"

#include <algorithm>
#include <array>

#include "ops/elementwise/elementwise_impl.h"
#include "ops/elementwise/tile_loops.h"
#include "ops/elementwise/tile_operands.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri::elementwise {
namespace {

static_assert(kMaxClusterInputs <= TileOperands::kMost);

constexpr int64_t kTileBytes = 24576;  // of all values of a tile together: they stay in L1
constexpr int64_t kTileMultiple = 64, kLongestTile = 2048;  // elements
// With the shortest tile every input and step may need a buffer of 8-byte elements.
constexpr size_t kBufferBytes = std::max<size_t>(kTileBytes, (kMaxClusterInputs + kMaxClusterSteps) * 8 * kTileMultiple);
constexpr int64_t kParallelGrain = 16384;  // element operations per thread; with fewer, starting threads costs more than it saves

// One step. Values are numbered: inputs first, then steps.
struct StepPlan {
  TileFn loop = nullptr;
  std::array<double, 2> numbers{};
  std::vector<size_t> in;
  size_t result = 0;
};

class ClusterKernel final : public Kernel {
 public:
  explicit ClusterKernel(const KernelQuery& q) : operands_(q.in, q.out[0]), numel_(q.out[0].numel()), out_of_step_(kMaxClusterSteps, kNone) {
    const ClusterProgram program = parse_cluster(q.attrs.as<ClusterAttrs>().program);
    const std::vector<TensorMeta> made = infer_cluster_steps(program, q.in);
    for (size_t k = 0; k < program.out.size(); ++k) out_of_step_[program.out[k]] = k;
    for (const TensorMeta& m : q.out) out_size_.push_back(dtype_size(m.dtype));
    plan_steps(program, q.in, made);
    plan_buffers(made);
  }

  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    if (numel_ == 0) return;
    const int64_t grain = std::max<int64_t>(1, kParallelGrain / static_cast<int64_t>(steps_.size()) / tile_);
    parallel_for(fixed_chunks(numel_, tile_), grain, [&](int64_t first, int64_t last) { run_range(in, out, first * tile_, std::min(numel_, last * tile_)); });
  }

 private:
  using Access = TileOperands::Access;
  static constexpr size_t kNone = ~size_t{0};

  void plan_steps(const ClusterProgram& program, Span<const TensorMeta> in, const std::vector<TensorMeta>& made) {
    for (size_t k = 0; k < program.steps.size(); ++k) {
      const ClusterStep& s = program.steps[k];
      StepPlan plan;
      std::vector<TensorMeta> metas;
      for (const ClusterOperand& o : s.in) {
        metas.push_back(o.step ? made[o.index] : in[o.index]);
        plan.in.push_back(o.step ? in.size() + o.index : o.index);
      }
      plan.loop = find_tile(*s.op, metas, made[k]);
      if (plan.loop == nullptr) throw InternalError(std::string("elementwise_cluster: no loop for ") + s.op->name);
      plan.numbers = numbers_of(s.attrs);
      plan.result = in.size() + k;
      steps_.push_back(std::move(plan));
    }
  }

  // Gives every gathered input a separate buffer, and every intermediate value a buffer from the step that computes it to its last
  // reader. The last reader may write its result into it: only values of one element size share a buffer.
  void plan_buffers(const std::vector<TensorMeta>& made) {
    const size_t inputs = operands_.size(), values = inputs + made.size();
    std::vector<int64_t> widths;  // bytes per element, by buffer
    int64_t bytes = 0;  // per element: buffers, and operands and results accessed in their own memory
    buffer_.assign(values, kNone);
    const auto add_buffer = [&](size_t value, int64_t width) {
      buffer_[value] = widths.size();
      widths.push_back(width);
      bytes += width;
    };
    for (size_t k = 0; k < inputs; ++k) {
      const auto width = static_cast<int64_t>(operands_.element_size(k));
      if (operands_.access(k) == Access::kInPlace) bytes += width;
      else add_buffer(k, width);
    }
    std::vector<size_t> last_use(values, 0), free;
    for (size_t k = 0; k < steps_.size(); ++k)
      for (size_t v : steps_[k].in) last_use[v] = k;
    for (size_t k = 0; k < made.size(); ++k) {
      for (size_t v : steps_[k].in) {
        const bool dies = v >= inputs && buffer_[v] != kNone && last_use[v] == k;
        if (dies && std::find(free.begin(), free.end(), buffer_[v]) == free.end()) free.push_back(buffer_[v]);
      }
      const auto width = static_cast<int64_t>(dtype_size(made[k].dtype));
      const auto same = std::find_if(free.begin(), free.end(), [&](size_t b) { return widths[b] == width; });
      if (out_of_step_[k] != kNone) {
        bytes += width;
      } else if (same == free.end()) {
        add_buffer(inputs + k, width);
      } else {
        buffer_[inputs + k] = *same;
        free.erase(same);
      }
    }
    tile_ = std::clamp(kTileBytes / bytes / kTileMultiple * kTileMultiple, kTileMultiple, kLongestTile);
    for (size_t offset = 0; int64_t w : widths) {
      offsets_.push_back(offset);
      offset += static_cast<size_t>(w * tile_);
    }
  }

  void run_range(Span<const Buffer> in, Span<const Buffer> out, int64_t begin, int64_t end) const {
    alignas(64) std::array<char, kBufferBytes> memory;
    std::array<void*, kMaxClusterInputs + kMaxClusterSteps> at{};
    for (size_t v = 0; v < buffer_.size(); ++v)
      if (buffer_[v] != kNone) at[v] = memory.data() + offsets_[buffer_[v]];
    for (size_t k = 0; k < in.size(); ++k)
      if (operands_.access(k) == Access::kConstant) operands_.gather(k, in[k].data, begin, std::min(tile_, end - begin), at[k]);
    for (int64_t i = begin; i < end; i += tile_) {
      const int64_t n = std::min(tile_, end - i);
      for (size_t k = 0; k < in.size(); ++k) {
        if (operands_.access(k) == Access::kInPlace) at[k] = static_cast<char*>(in[k].data) + static_cast<size_t>(i) * operands_.element_size(k);
        if (operands_.access(k) == Access::kGather) operands_.gather(k, in[k].data, i, n, at[k]);
      }
      for (size_t k = 0; k < steps_.size(); ++k) {
        if (out_of_step_[k] == kNone) continue;
        const size_t o = out_of_step_[k];
        at[in.size() + k] = static_cast<char*>(out[o].data) + static_cast<size_t>(i) * out_size_[o];
      }
      for (const StepPlan& s : steps_) {
        std::array<const void*, 3> from{};
        for (size_t j = 0; j < s.in.size(); ++j) from[j] = at[s.in[j]];
        s.loop(from.data(), at[s.result], n, s.numbers.data());
      }
    }
  }

  TileOperands operands_;
  int64_t numel_;
  std::vector<size_t> out_of_step_;  // by step: index of its result, or kNone
  std::vector<size_t> out_size_;
  std::vector<StepPlan> steps_;
  std::vector<size_t> buffer_;  // by value: its buffer, or kNone
  std::vector<size_t> offsets_;  // by buffer
  int64_t tile_ = 0;
};

void reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const ClusterProgram program = parse_cluster(q.attrs.as<ClusterAttrs>().program);
  std::vector<TensorMeta> made = infer_cluster_steps(program, q.in);
  std::vector<std::vector<char>> memory(made.size());
  for (size_t k = 0; k < made.size(); ++k) {
    made[k].layout = q.out[0].layout;
    memory[k].resize(static_cast<size_t>(made[k].nbytes()));
    std::vector<TensorMeta> metas;
    std::vector<Buffer> operands;
    const ClusterStep& s = program.steps[k];
    for (const ClusterOperand& o : s.in) metas.push_back(o.step ? made[o.index] : q.in[o.index]);
    for (size_t j = 0; j < s.in.size(); ++j) operands.push_back({s.in[j].step ? memory[s.in[j].index].data() : in[s.in[j].index].data, &metas[j]});
    const Buffer result{memory[k].data(), &made[k]};
    ExecContext context;
    make_kernel({*s.op, s.attrs, metas, {&made[k], 1}}, nullptr, "reference")->run(context, operands, {&result, 1});
  }
  // Copied only now, because a result may share memory with an input.
  for (size_t k = 0; k < out.size(); ++k) std::copy(memory[program.out[k]].begin(), memory[program.out[k]].end(), out[k].as<char>());
}

std::unique_ptr<Kernel> make_cluster(const KernelQuery& q) { return std::make_unique<ClusterKernel>(q); }

const bool kSimd = register_kernel({.op = "elementwise_cluster", .name = "simd", .make = make_cluster});
const bool kReference = register_kernel({.op = "elementwise_cluster", .name = "reference", .priority = kReferencePriority, .simple = reference});

}  // namespace
}  // namespace sindri::elementwise
