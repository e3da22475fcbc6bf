// sindri._core: the engine as Python sees it. Only the public headers under include/sindri are used here. The Python code in python/sindri adds
// MindSpore's interface.
#include "python/src/casters.h"
#include "python/src/progress.h"
#include "sindri/core/long_wait.h"
#include "sindri/version.h"

namespace {

// Runs long waits, such as the measurement of kernels, without the interpreter lock, so that other Python threads continue.
void without_interpreter_lock(void (*f)(void*), void* argument) {
  std::optional<pybind11::gil_scoped_release> released;
  if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) released.emplace();
  f(argument);
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  using namespace sindri::python;
  m.doc() = "Sindri's engine: tensors, ops, gradients, compiled functions, data pipelines, checkpoints.";
  m.attr("version") = SINDRI_VERSION_STRING;
  // pybind11 imports NumPy within std::call_once, where nothing may throw (src/core/once.h). Done here first, it is a plain ImportError.
  pybind11::module_::import("numpy");
  sindri::set_around_long_wait(&without_interpreter_lock);
  bind_errors(m);
  bind_dtype(m);
  bind_tensor_types(m);
  bind_tensor(m);
  bind_parameter();
  bind_ops(m);
  bind_engine(m);
  bind_dataset(m);
  bind_summary(m);
  bind_progress(m);
  bind_train(m);
  bind_train_step(m);
  bind_optim(m);
  bind_nn_rules(m);
  bind_comm(m);
}
