// What Thor keeps of the curvature, and how it comes to it. Private to optim/thor/.
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

/// Which rank does each of the units of work: the dearest first, to whom has least so far (of several the lowest rank).
std::vector<int> owners_of(const std::vector<double>& costs, int ranks);

}  // namespace thor

struct Thor::Impl {
  explicit Impl(Options options) : o(std::move(options)) {}

  /// What is kept of a parameter's curvature; made at its first use.
  struct Slots {
    std::unique_ptr<Parameter> a_inv, g_inv;  ///< inverses; with joint damping eigenvectors. An embedding's a_inv has one number for each row
    std::unique_ptr<Parameter> a_values, g_values;  ///< eigenvalues, with joint damping
    std::unique_ptr<Parameter> a, g;  ///< running averages
    std::unique_ptr<Parameter> trace;  ///< of the trace rule: the last trace, and whether the parameter is frozen
    std::unique_ptr<Parameter> seen;  ///< [2]: the traces of A and G at the last refresh, for reports; not state
    int64_t a_dim = 0, g_dim = 0;
    thor::Kind kind = thor::Kind::kPlain;
    std::vector<std::unique_ptr<Parameter>*> state() { return {&a_inv, &g_inv, &a_values, &g_values, &a, &g, &trace}; }
  };
  /// One factor that is to be inverted.
  struct Inversion {
    Slots* of;
    bool is_a;
    Tensor factor, root;  ///< root: the damping on its diagonal
    int64_t d;
    Tensor held;  ///< bool scalar: what was there stays
    Parameter& kept() const { return is_a ? *of->a_inv : *of->g_inv; }
    Parameter* values() const { return (is_a ? of->a_values : of->g_values).get(); }
  };
  using Parts = std::vector<std::vector<thor::Layer>>;

  Options o;
  Parameter* momentum = nullptr;
  std::unordered_map<const Parameter*, Slots> slots;
  std::unique_ptr<Parameter> ready;  ///< [2] float32: whether every factor was inverted once, and how many inversions failed
  bool is_ready = false;  ///< the host's knowledge of it
  double failed = 0;  ///< inversions that were told of
  bool told_nothing = false;
  std::vector<thor::Layer> known;  ///< of the last refresh, without its uses: steps that give none use these
  std::map<int, std::unique_ptr<Parameter>> mine;  ///< by variant: which blocks this rank inverts; not state
  double balance = 0;  ///< of that: mean over the most that a rank has; 0: every rank inverts all
  int ranks = 1;

  bool joint() const { return o.damping_form == "joint"; }
  bool as_mindspore() const { return o.compat == "mindspore"; }
  bool means_of_inverses() const { return o.reduce == "inverse_mean" || as_mindspore(); }
  bool means_of_batches() const { return o.statistics == "batch_mean" || as_mindspore(); }

  /// The damping of this update, a scalar.
  Tensor damping(const Tensor& global_step) const;
  /// Takes the curvature of the layers of this variant, over all parts of the batch, and inverts it. Gives how many factors could not be inverted.
  Tensor refresh(const Parts& parts, const Tensor& lambda, double samples, const Gradients& step);
  TensorList natural(const std::vector<thor::Layer>& layers, const TensorList& grads, const Tensor& lambda, double samples) const;
  /// Makes split_indices that count parameters count layers. Throws ValueError where they name more than there are.
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
