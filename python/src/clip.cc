// _core.ops: norms of several tensors and clipping, which are not ops themselves but composed of ops (include/sindri/optim/clip.h).
#include "sindri/optim/clip.h"
#include "python/src/op_function.h"
#include "sindri/ops/shape.h"

namespace sindri::python {

namespace {

// A limit may be a number, which stays in double precision until it is combined with a norm.
Tensor limit_of(py::handle limit) { return PyFloat_Check(limit.ptr()) ? ops::full({}, py::cast<double>(limit), DType::kFloat64) : to_tensor(limit); }

}  // namespace

void bind_clip(py::module_& m) {
  m.def(
      "clip_by_axes_norm",
      [](const Tensor& x, py::handle clip_norm, const std::vector<int64_t>& axes) {
        const Tensor limit = limit_of(clip_norm);
        return without_lock(x.numel(), [&] { return optim::clip_by_norm(x, limit, axes); });
      },
      py::arg("x"), py::arg("clip_norm"), py::arg("axes"),
      "Returns x scaled so that its L2 norm over the axes is at most clip_norm, a float or a scalar tensor.");
  m.def("global_norm", &optim::global_norm, py::arg("xs"), py::call_guard<ReleaseForLongCall>(), "Returns the L2 norm of all tensors together.");
  m.def(
      "clip_by_global_norm",
      [](const TensorList& xs, py::handle clip_norm, const Tensor& norm) {
        const Tensor limit = limit_of(clip_norm);
        int64_t elements = 0;
        for (const Tensor& x : xs) elements += x.numel();
        return TensorTuple{without_lock(elements, [&] { return optim::clip_by_global_norm(xs, limit, norm); })};
      },
      py::arg("xs"), py::arg("clip_norm"), py::arg("norm") = py::none(),
      "Returns every tensor times clip_norm/max(norm, clip_norm); norm: None for their global norm.");
  m.def("total_norm", &optim::total_norm, py::arg("xs"), py::arg("p"), py::call_guard<ReleaseForLongCall>(), "Returns the p-norm of all tensors together.");
  m.def(
      "clip_by_total_norm",
      [](const TensorList& xs, double max_norm, const Tensor& norm) { return TensorTuple{optim::clip_by_total_norm(xs, max_norm, norm)}; }, py::arg("xs"),
      py::arg("max_norm"), py::arg("norm"), py::call_guard<ReleaseForLongCall>(), "Returns every tensor times min(1, max_norm/(norm + 1e-6)).");
}

}  // namespace sindri::python
