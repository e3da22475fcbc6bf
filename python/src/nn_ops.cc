// _core.ops: convolution, matrix products, norms, losses, pools, random numbers, linear algebra, optimizer updates, clipping.
#include "python/src/op_function.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/loss.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/optimizer.h"
#include "sindri/ops/pool.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/clip.h"

namespace sindri::python {

namespace {

using Ints = std::vector<int64_t>;
const Ints kOnes = {1, 1}, kNoPad = {0, 0, 0, 0};

ops::Conv2dAttrs conv_attrs(const Ints& stride, const Ints& pad, const Ints& dilation, int64_t groups) {
  return {.stride = stride, .pad = pad, .dilation = dilation, .groups = groups};
}

void bind_conv_and_pool(py::module_& m) {
  def_op(
      m, "conv2d",
      [](const Tensor& x, const Tensor& w, const Ints& stride, const Ints& pad, const Ints& dilation, int64_t groups) {
        return ops::conv2d(x, w, conv_attrs(stride, pad, dilation, groups));
      },
      py::arg("x"), py::arg("w"), py::arg("stride") = kOnes, py::arg("pad") = kNoPad, py::arg("dilation") = kOnes, py::arg("groups") = 1);
  def_op(
      m, "conv2d_input_grad",
      [](const Tensor& dy, const Tensor& w, const Shape& x_shape, const Ints& stride, const Ints& pad, const Ints& dilation, int64_t groups) {
        return ops::conv2d_input_grad(dy, w, x_shape, conv_attrs(stride, pad, dilation, groups));
      },
      py::arg("dy"), py::arg("w"), py::arg("x_shape"), py::arg("stride") = kOnes, py::arg("pad") = kNoPad, py::arg("dilation") = kOnes, py::arg("groups") = 1);
  def_op(
      m, "conv2d_weight_grad",
      [](const Tensor& dy, const Tensor& x, const Shape& w_shape, const Ints& stride, const Ints& pad, const Ints& dilation, int64_t groups) {
        return ops::conv2d_weight_grad(dy, x, w_shape, conv_attrs(stride, pad, dilation, groups));
      },
      py::arg("dy"), py::arg("x"), py::arg("w_shape"), py::arg("stride") = kOnes, py::arg("pad") = kNoPad, py::arg("dilation") = kOnes, py::arg("groups") = 1);
  const auto pool = [&](const char* name, Tensor (*f)(const Tensor&, const ops::Pool2dAttrs&)) {
    def_op(
        m, name,
        [f](const Tensor& x, const Ints& kernel, const Ints& stride, const Ints& pad, bool ceil_mode, bool count_include_pad) {
          return f(x, {.kernel = kernel, .stride = stride, .pad = pad, .ceil_mode = ceil_mode, .count_include_pad = count_include_pad});
        },
        py::arg("x"), py::arg("kernel"), py::arg("stride") = kOnes, py::arg("pad") = kNoPad, py::arg("ceil_mode") = false,
        py::arg("count_include_pad") = false);
  };
  pool("max_pool2d", &ops::max_pool2d);
  pool("avg_pool2d", &ops::avg_pool2d);
  def_op(m, "adaptive_avg_pool2d", &ops::adaptive_avg_pool2d, py::arg("x"), py::arg("oh"), py::arg("ow"));
  def_op(m, "global_avg_pool2d", &ops::global_avg_pool2d, py::arg("x"));
}

void bind_matmul_norm_loss(py::module_& m) {
  def_op(m, "matmul", &ops::matmul, py::arg("a"), py::arg("b"), py::arg("transpose_a") = false, py::arg("transpose_b") = false);
  def_op(m, "batch_matmul", &ops::batch_matmul, py::arg("a"), py::arg("b"), py::arg("transpose_a") = false, py::arg("transpose_b") = false);
  def_op(
      m, "batch_norm_train",
      [](const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps) {
        const ops::BatchNormOut out = ops::batch_norm_train(x, gamma, beta, eps);
        return TensorTuple{{out.y, out.mean, out.var}};
      },
      py::arg("x"), py::arg("gamma"), py::arg("beta"), py::arg("eps") = 1e-5);
  def_op(m, "batch_norm_infer", &ops::batch_norm_infer, py::arg("x"), py::arg("gamma"), py::arg("beta"), py::arg("mean"), py::arg("var"),
         py::arg("eps") = 1e-5);
  def_op(m, "layer_norm", &ops::layer_norm, py::arg("x"), py::arg("gamma"), py::arg("beta"), py::arg("begin_norm_axis") = -1, py::arg("eps") = 1e-7);
  def_op(m, "softmax", &ops::softmax, py::arg("x"), py::arg("axis") = -1);
  def_op(m, "log_softmax", &ops::log_softmax, py::arg("x"), py::arg("axis") = -1);
  def_op(m, "softmax_cross_entropy_sparse", &ops::softmax_cross_entropy_sparse, py::arg("logits"), py::arg("labels"), py::arg("label_smoothing") = 0.0,
         py::arg("ignore_index") = -100);
  def_op(m, "check_labels", py::overload_cast<const Tensor&, int64_t, int64_t>(&ops::check_labels), py::arg("labels"), py::arg("classes"),
         py::arg("ignore_index") = -100);
  def_op(m, "check_probabilities", &ops::check_probabilities, py::arg("x"));
  def_op(m, "softmax_cross_entropy_dense", &ops::softmax_cross_entropy_dense, py::arg("logits"), py::arg("labels"));
}

void bind_random(py::module_& m) {
  def_op(m, "random_uniform", &ops::random_uniform, py::arg("shape"), py::arg("low") = 0.0, py::arg("high") = 1.0, py::arg("dtype") = DType::kFloat32);
  def_op(m, "random_normal", &ops::random_normal, py::arg("shape"), py::arg("mean") = 0.0, py::arg("stddev") = 1.0, py::arg("dtype") = DType::kFloat32);
  def_op(m, "random_truncated_normal", &ops::random_truncated_normal, py::arg("shape"), py::arg("mean") = 0.0, py::arg("stddev") = 1.0,
         py::arg("dtype") = DType::kFloat32);
  def_op(m, "random_bernoulli", &ops::random_bernoulli, py::arg("shape"), py::arg("p") = 0.5, py::arg("dtype") = DType::kBool);
  def_op(m, "random_permutation", &ops::random_permutation, py::arg("n"));
  def_op(m, "dropout", &ops::dropout, py::arg("x"), py::arg("keep_prob"));
}

void bind_linalg(py::module_& m) {
  def_op(m, "cholesky", &ops::cholesky, py::arg("a"));
  def_op(m, "triangular_solve", &ops::triangular_solve, py::arg("a"), py::arg("b"), py::arg("lower") = true, py::arg("transpose") = false,
         py::arg("unit_diagonal") = false);
  def_op(m, "inverse", &ops::inverse, py::arg("a"));
  m.def("lu", &ops::lu, py::arg("a"), py::call_guard<ReleaseForLongCall>(), op_doc("lu").c_str());
  m.def("eigh", &ops::eigh, py::arg("a"), py::call_guard<ReleaseForLongCall>(), op_doc("eigh").c_str());
  m.def("svd", &ops::svd, py::arg("a"), py::call_guard<ReleaseForLongCall>(), op_doc("svd").c_str());
}

void bind_updates(py::module_& m) {
  def_op(
      m, "momentum_update",
      [](const Tensor& param, const Tensor& velocity, const Tensor& grad, const Tensor& lr, const Tensor& momentum, double weight_decay, double grad_scale,
         bool nesterov, const Tensor& inv_scale, const Tensor& skip) {
        return TensorTuple{ops::momentum_update(param, velocity, grad, lr, momentum, weight_decay, grad_scale, nesterov, inv_scale, skip)};
      },
      py::arg("param"), py::arg("velocity"), py::arg("grad"), py::arg("lr"), py::arg("momentum"), py::arg("weight_decay") = 0.0, py::arg("grad_scale") = 1.0,
      py::arg("nesterov") = false, py::arg("inv_scale") = py::none(), py::arg("skip") = py::none());
  def_op(
      m, "sgd_update",
      [](const Tensor& param, const Tensor& accum, const Tensor& stat, const Tensor& grad, const Tensor& lr, double momentum, double dampening,
         double weight_decay, double grad_scale, bool nesterov, const Tensor& inv_scale, const Tensor& skip) {
        return TensorTuple{ops::sgd_update(param, accum, stat, grad, lr, momentum, dampening, weight_decay, grad_scale, nesterov, inv_scale, skip)};
      },
      py::arg("param"), py::arg("accum"), py::arg("stat"), py::arg("grad"), py::arg("lr"), py::arg("momentum"), py::arg("dampening") = 0.0,
      py::arg("weight_decay") = 0.0, py::arg("grad_scale") = 1.0, py::arg("nesterov") = false, py::arg("inv_scale") = py::none(), py::arg("skip") = py::none());
  def_op(
      m, "adam_update",
      [](const Tensor& param, const Tensor& m1, const Tensor& v, const Tensor& grad, const Tensor& lr, const Tensor& beta1_power, const Tensor& beta2_power,
         double beta1, double beta2, double eps, double weight_decay, double grad_scale, bool nesterov, const Tensor& inv_scale, const Tensor& skip) {
        return TensorTuple{
            ops::adam_update(param, m1, v, grad, lr, beta1_power, beta2_power, beta1, beta2, eps, weight_decay, grad_scale, nesterov, inv_scale, skip)};
      },
      py::arg("param"), py::arg("m"), py::arg("v"), py::arg("grad"), py::arg("lr"), py::arg("beta1_power"), py::arg("beta2_power"), py::arg("beta1") = 0.9,
      py::arg("beta2") = 0.999, py::arg("eps") = 1e-8, py::arg("weight_decay") = 0.0, py::arg("grad_scale") = 1.0, py::arg("nesterov") = false,
      py::arg("inv_scale") = py::none(), py::arg("skip") = py::none());
  def_op(
      m, "adam_weight_decay_update",
      [](const Tensor& param, const Tensor& m1, const Tensor& v, const Tensor& grad, const Tensor& lr, double beta1, double beta2, double eps,
         double weight_decay, double grad_scale, const Tensor& inv_scale, const Tensor& skip) {
        return TensorTuple{ops::adam_weight_decay_update(param, m1, v, grad, lr, beta1, beta2, eps, weight_decay, grad_scale, inv_scale, skip)};
      },
      py::arg("param"), py::arg("m"), py::arg("v"), py::arg("grad"), py::arg("lr"), py::arg("beta1") = 0.9, py::arg("beta2") = 0.999, py::arg("eps") = 1e-6,
      py::arg("weight_decay") = 0.0, py::arg("grad_scale") = 1.0, py::arg("inv_scale") = py::none(), py::arg("skip") = py::none());
}

// A limit may be a number, whose digits stay until it meets a norm.
Tensor limit_of(py::handle limit) { return PyFloat_Check(limit.ptr()) ? ops::full({}, py::cast<double>(limit), DType::kFloat64) : to_tensor(limit); }

void bind_clip(py::module_& m) {
  m.def(
      "clip_by_axes_norm", [](const Tensor& x, py::handle clip_norm, const Ints& axes) { return optim::clip_by_norm(x, limit_of(clip_norm), axes); },
      py::arg("x"), py::arg("clip_norm"), py::arg("axes"), "x scaled so that its L2 norm over the axes is at most clip_norm, a float or a scalar tensor.");
  m.def("global_norm", &optim::global_norm, py::arg("xs"), "The L2 norm of all tensors together.");
  m.def(
      "clip_by_global_norm",
      [](const TensorList& xs, py::handle clip_norm, const Tensor& norm) { return TensorTuple{optim::clip_by_global_norm(xs, limit_of(clip_norm), norm)}; },
      py::arg("xs"), py::arg("clip_norm"), py::arg("norm") = py::none(),
      "Every tensor times clip_norm/max(norm, clip_norm); norm: None for their global norm.");
  m.def("total_norm", &optim::total_norm, py::arg("xs"), py::arg("p"), "The p-norm of all tensors together.");
  m.def(
      "clip_by_total_norm",
      [](const TensorList& xs, double max_norm, const Tensor& norm) { return TensorTuple{optim::clip_by_total_norm(xs, max_norm, norm)}; }, py::arg("xs"),
      py::arg("max_norm"), py::arg("norm"), "Every tensor times min(1, max_norm/(norm + 1e-6)).");
}

}  // namespace

void bind_nn_ops(py::module_& m) {
  py::module_ o = m.attr("ops").cast<py::module_>();
  bind_conv_and_pool(o);
  bind_matmul_norm_loss(o);
  bind_random(o);
  bind_linalg(o);
  bind_updates(o);
  bind_clip(o);
}

}  // namespace sindri::python
