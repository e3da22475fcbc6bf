// Thor's curvature state and the functions that compute it. Private to optim/thor/.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optim/thor/curvature_of.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/thor.h"

namespace sindri::optim {

/// A float32 scalar on the host.
inline Tensor scalar(double value) { return ops::full({}, value, DType::kFloat32); }

namespace thor {

constexpr int kRefresh = 0, kReuse = 1, kFirstPiece = 2;

/// Assigns units of work to ranks: the most expensive first, each to the rank with the least work so far (the lowest of equal ones).
std::vector<int> owners_of(const std::vector<double>& costs, int ranks);

}  // namespace thor

struct Thor::Impl {
  explicit Impl(Options options) : o(std::move(options)) {}

  /// The curvature state of a parameter; created at its first use.
  struct Slots {
    std::unique_ptr<Parameter> a_inv, g_inv;  ///< inverses; with joint damping eigenvectors. An embedding's a_inv has one element per row
    std::unique_ptr<Parameter> a_values, g_values;  ///< eigenvalues, with joint damping
    std::unique_ptr<Parameter> a, g;  ///< running averages
    std::unique_ptr<Parameter> trace;  ///< for the trace rule: the last trace, and whether the parameter is frozen
    std::unique_ptr<Parameter> seen;  ///< [2]: the traces of A and G at the last refresh, for reports; not state
    int64_t a_dim = 0, g_dim = 0;
    thor::Kind kind = thor::Kind::kPlain;
    std::vector<std::unique_ptr<Parameter>*> state() { return {&a_inv, &g_inv, &a_values, &g_values, &a, &g, &trace}; }
  };
  /// One factor to invert.
  struct Inversion {
    Slots* of;
    bool is_a;
    Tensor factor, root;  ///< root: the damping added to its diagonal
    int64_t d;
    Tensor held;  ///< bool scalar: keep the previous inverse
    Parameter& kept() const { return is_a ? *of->a_inv : *of->g_inv; }
    Parameter* values() const { return (is_a ? of->a_values : of->g_values).get(); }
  };
  using Parts = std::vector<std::vector<thor::Layer>>;

  Options o;
  Parameter* momentum = nullptr;
  std::unordered_map<const Parameter*, Slots> slots;
  std::unique_ptr<Parameter> ready;  ///< [2] float32: whether every factor has been inverted once, and the number of failed inversions
  bool is_ready = false;  ///< ready[0] as last read by the host
  double failed = 0;  ///< inversion failures already reported
  bool warned_nothing = false;
  std::vector<thor::Layer> known;  ///< layers of the last refresh without their uses, for steps that record no uses
  std::map<int, std::unique_ptr<Parameter>> mine;  ///< by variant: for each block, 1 if this rank inverts it, else 0; not state
  double balance = 0;  ///< balance of that distribution: the ranks' mean work divided by the largest; 0: every rank inverts all blocks
  int ranks = 1;

  bool joint() const { return o.damping_form == "joint"; }
  bool as_mindspore() const { return o.compat == "mindspore"; }
  bool means_of_inverses() const { return o.reduce == "inverse_mean" || as_mindspore(); }
  bool means_of_batches() const { return o.statistics == "batch_mean" || as_mindspore(); }

  /// The damping of this update, a scalar.
  Tensor damping(const Tensor& global_step) const;
  /// Computes the factors of this variant's layers over all parts of the batch and inverts them. Returns the number of factors that could not be inverted.
  Tensor refresh(const Parts& parts, const Tensor& lambda, double samples, const Gradients& step);
  TensorList natural(const std::vector<thor::Layer>& layers, const TensorList& grads, const Tensor& lambda, double samples) const;
  /// Converts split_indices that count parameters to layers. Throws ValueError if they exceed both counts.
  void number_buckets(const std::vector<thor::Layer>& layers);
  void clip(const std::vector<thor::Layer>& layers, const TensorList& grads, const Tensor& rate, TensorList* natural) const;

 private:
  Slots& slots_of(const thor::Layer& layer, const thor::Moments& m);
  std::pair<Tensor, Tensor> means(const thor::Layer& layer, const thor::Moments& sum, double samples, double parts) const;
  std::vector<size_t> refreshed(const std::vector<thor::Layer>& layers, int variant) const;
  TensorList factors(const std::vector<thor::Layer>& layers, const std::vector<size_t>& which, double samples, double parts);
  TensorList means_over_parts(const std::vector<TensorList>& lists, const std::vector<size_t>& which, const Gradients& step) const;
  std::vector<Inversion> inversions(const std::vector<thor::Layer>& layers, const std::vector<size_t>& which, const TensorList& factors, const Tensor& lambda,
                                    const Tensor& skip);
  Tensor averaged(Parameter& kept, const Tensor& now, const Tensor& skip) const;
  Tensor kept_by_trace(const thor::Layer& layer, Slots& s, const Tensor& tr_a, const Tensor& tr_g, const Tensor& lambda, const Tensor& skip) const;
  TensorList inverted(const Inversion& one, const Tensor& own) const;
  bool shares(const std::vector<Inversion>& all, const Gradients& step) const;
  Tensor share_of(const std::vector<Inversion>& all, const Gradients& step);
  Tensor invert(const std::vector<Inversion>& all, const Gradients& step);
  Tensor mean_of_inverses(const Parts& parts, const std::vector<size_t>& which, const std::vector<TensorList>& lists, const Tensor& lambda,
                          const Gradients& step);
};

}  // namespace sindri::optim
