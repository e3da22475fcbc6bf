// Scopes and functions of the engine: tape, custom gradients, compiled functions, mixed precision, context, seeds, initializers.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "python/src/tensor_object.h"
#include "sindri/amp/amp.h"
#include "sindri/amp/policy.h"
#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/log.h"
#include "sindri/core/rng.h"
#include "sindri/device/device.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/initializer.h"
#include "sindri/nn/recompute.h"
#include "sindri/op/bind.h"
#include "sindri/op/host_call.h"
#include "sindri/op/observer.h"
#include "sindri/op/timeline.h"
#include "sindri/ops/random.h"

namespace sindri::python {

namespace {

TensorList to_list(py::handle sequence) {
  TensorList out;
  for (const py::handle h : py::reinterpret_borrow<py::iterable>(sequence)) out.push_back(h.is_none() ? Tensor() : to_tensor(h));
  return out;
}

std::vector<Parameter*> params_of(py::handle sequence) {
  std::vector<Parameter*> out;
  for (const py::handle h : py::reinterpret_borrow<py::iterable>(sequence)) out.push_back(slot_of(h).get());
  return out;
}

/// A scope of the engine as a context manager. Scopes must end in the reverse order of their start, which `with` ensures.
template <class Scope, class... Args> struct PyScope {
  explicit PyScope(Args... a) : args(std::move(a)...) {}
  void enter() {
    if (scope != nullptr) throw ValueError("the scope is in force already", "", "make a new one for every `with`");
    scope = std::apply([](const auto&... a) { return std::make_unique<Scope>(a...); }, args);
  }
  void exit() { scope.reset(); }
  std::tuple<Args...> args;
  std::unique_ptr<Scope> scope;
};

template <class S> py::class_<S> bind_scope(py::module_& m, const char* name, const char* doc) {
  py::class_<S> c(m, name, doc);
  c.def("__enter__", [](py::object self) {
    py::cast<S&>(self).enter();
    return self;
  });
  c.def("__exit__", [](S& s, const py::args&) { s.exit(); });
  return c;
}

using NameScopePy = PyScope<NameScope, std::string>;
using AmpScopePy = PyScope<amp::AmpScope, amp::Options>;
using FullPrecisionPy = PyScope<amp::FullPrecisionScope>;
using BelowPy = PyScope<BelowScope>;
struct CellScopePy : PyScope<amp::CellScope, std::string, std::optional<DType>> {
  using PyScope::PyScope;
};

/// A Tape that keeps its Parameters alive.
struct PyTape {
  explicit PyTape(bool uses) : tape({.uses = uses}) {}
  Tape tape;
  ParameterKeeper keeper;
  std::unique_ptr<TraceScope> scope;
  std::unique_ptr<ParameterKeeper::Scope> keeping;
  void enter() {
    if (scope != nullptr) throw ValueError("the tape is recording already");
    scope = std::make_unique<TraceScope>(tape);
    keeping = std::make_unique<ParameterKeeper::Scope>(keeper);
  }
  void exit() {
    keeping.reset();
    scope.reset();
  }
};

Gradients run_backward(const PyTape& t, const py::object& outputs, const py::object& seeds, const py::object& inputs, const std::vector<Parameter*>& params) {
  const TensorList out = to_list(outputs), seed = seeds.is_none() ? TensorList() : to_list(seeds), in = to_list(inputs);
  const py::gil_scoped_release release;  // custom gradients acquire it again
  return t.tape.backward(out, seed, in, params);
}

py::tuple backward(const PyTape& t, const py::object& outputs, const py::object& seeds, const py::object& inputs, const py::object& params) {
  const Gradients g = run_backward(t, outputs, seeds, inputs, params_of(params));
  return py::make_tuple(to_python_tuple(g.of_inputs), to_python_tuple(g.of_params));
}

// The function lives as long as any graph that contains the call, and is released with the lock held.
void call_on_host(const std::vector<Tensor>& inputs, int64_t number, py::function function) {
  const std::shared_ptr<py::function> held(new py::function(std::move(function)), [](py::function* f) {
    if (Py_IsInitialized() == 0) return;  // the interpreter has ended, and its objects with it
    const py::gil_scoped_acquire acquire;
    delete f;
  });
  host_call(inputs, number, [held](Span<const Tensor> values) {
    const py::gil_scoped_acquire acquire;
    py::list given;
    for (const Tensor& t : values) given.append(to_python(t));
    (*held)(given);
  });
}

// (index of the Parameter, op or "", its attributes, operand, operands, path, gradient of the output)
py::tuple use_tuple(const ParamUse& use, const std::vector<Parameter*>& params) {
  py::list operands, path;
  for (const Tensor& t : use.operands) operands.append(or_none(t));
  for (const Rearrangement& r : use.path) path.append(py::make_tuple(r.op->name, attrs_dict(r.attrs)));
  return py::make_tuple(std::find(params.begin(), params.end(), use.param) - params.begin(), use.op != nullptr ? use.op->name : "", attrs_dict(use.attrs),
                        use.operand, py::tuple(operands), py::tuple(path), or_none(use.output_grad));
}

py::tuple backward_with_uses(const PyTape& t, const py::object& outputs, const py::object& seeds, const py::object& params, const py::object& inputs) {
  const std::vector<Parameter*> slots = params_of(params);
  const Gradients g = run_backward(t, outputs, seeds, inputs, slots);
  py::list uses;
  for (const ParamUse& use : g.uses) uses.append(use_tuple(use, slots));
  return py::make_tuple(to_python_tuple(g.of_inputs), to_python_tuple(g.of_params), py::tuple(uses));
}

// A Python object that C++ may copy and release on any thread, with or without the interpreter lock.
std::shared_ptr<py::function> shared_function(const py::function& f) {
  return {new py::function(f), [](py::function* p) {
            if (Py_IsInitialized() == 0) return;  // the process is ending
            const py::gil_scoped_acquire acquire;
            delete p;
          }};
}

/// The records of a tape that was filled while a graph was traced. They hold everything that the gradient of a run needs except the tensors' data.
struct PyTapeForm {
  Tape tape;
  ParameterKeeper keeper;
  std::vector<uint64_t> ids;  ///< ids of the tensors that a run returns
  std::vector<std::pair<uint64_t, std::shared_ptr<Parameter>>> read;  ///< tensors that are a Parameter's value after the run
};

// Returns (form, tensors, results, inputs). `tensors` are those that each run has to return; they include `results`. The returned results and inputs only carry
// the identities by which the form knows them. Returns None if a gradient rule holds tensors.
py::object form_of(const PyTape& t, const py::object& results, const py::object& inputs) {
  std::optional<TensorList> traced = t.tape.traced();
  if (!traced.has_value()) return py::none();
  const TensorList out = to_list(results), in = to_list(inputs);
  for (const Tensor& r : out)
    if (std::none_of(traced->begin(), traced->end(), [&](const Tensor& known) { return known.id() == r.id(); })) traced->push_back(r);
  auto form = std::make_unique<PyTapeForm>();
  TensorList given;
  for (const Tensor& v : *traced) {
    // The random key is passed like other tensors, because its stored value differs in the next part of the step.
    const Parameter* const p = t.tape.parameter_of(v);
    const auto at = std::find_if(t.keeper.params().begin(), t.keeper.params().end(), [&](const auto& known) { return known.get() == p; });
    if (p != nullptr && p != &ops::rng_state() && at != t.keeper.params().end() && p->value().id() == v.id()) {
      form->read.emplace_back(v.id(), *at);
    } else {
      form->ids.push_back(v.id());
      given.push_back(v);
    }
  }
  form->tape.take(t.tape, {}, {});
  for (const auto& p : t.keeper.params()) form->keeper.add(p);
  const auto known = [](const TensorList& ts) {
    TensorList bare;
    for (const Tensor& v : ts) bare.push_back(identity_of(v));
    return to_python_tuple(bare);
  };
  return py::make_tuple(py::cast(std::move(form)), to_python_tuple(given), known(out), known(in));
}

// Returns (tape, results, inputs) for the tensors that a run returned. The returned results and inputs are the run's tensors. The tape is filled in the
// interpreter that is in force.
py::tuple tape_on(const PyTapeForm& form, const py::object& given, const py::object& results, const py::object& inputs) {
  std::vector<uint64_t> ids = form.ids;
  TensorList by = to_list(given);
  if (by.size() != ids.size()) throw ValueError(fmt::format("the run of a recorded Cell gives {} tensors, got {}", ids.size(), by.size()), "TapeForm.on");
  for (const auto& [id, p] : form.read) {
    ids.push_back(id);
    by.push_back(p->value());
  }
  auto t = std::make_unique<PyTape>(false);
  by = t->tape.take(form.tape, ids, std::move(by));
  for (const auto& p : form.keeper.params()) t->keeper.add(p);
  const auto placed = [&](const py::object& known) {
    TensorList out = to_list(known);
    for (Tensor& v : out) {
      const auto at = std::find(ids.begin(), ids.end(), v.id());
      if (at != ids.end()) v = by[static_cast<size_t>(at - ids.begin())];
    }
    return to_python_tuple(out);
  };
  return py::make_tuple(py::cast(std::move(t)), placed(results), placed(inputs));
}

py::tuple recompute(const py::function& f, const py::object& inputs, const py::object& params, const std::string& name) {
  const auto shared = shared_function(f);
  // Python's Parameters live as long as the record, which holds raw pointers.
  auto keep = std::make_shared<std::vector<std::shared_ptr<Parameter>>>();
  for (const py::handle h : py::reinterpret_borrow<py::iterable>(params)) keep->push_back(slot_of(h));
  const auto run = [shared, keep](std::span<const Tensor> in) {
    const py::gil_scoped_acquire acquire;
    return to_list((*shared)(to_python_tuple({in.begin(), in.end()})));
  };
  return to_python_tuple(nn::recompute_function(run, to_list(inputs), params_of(params), name));
}

void bind_gradients(py::module_& m) {
  py::class_<PyTape> tape(m, "Tape", "Records the ops inside `with tape:`; backward() differentiates the recorded ops and can be called several times.");
  tape.def(py::init<bool>(), py::arg("uses") = false);
  tape.def("__enter__", [](py::object self) {
    py::cast<PyTape&>(self).enter();
    return self;
  });
  tape.def("__exit__", [](PyTape& t, const py::args&) { t.exit(); });
  tape.def("backward", &backward, py::arg("outputs"), py::arg("seeds"), py::arg("inputs"), py::arg("params"),
           "Returns the gradients of sum(<output, seed>) (seeds None: ones): (of inputs, of params), zeros for those that no output depends on.");
  tape.def("backward_with_uses", &backward_with_uses, py::arg("outputs"), py::arg("seeds"), py::arg("params"), py::arg("inputs") = py::tuple(),
           "Returns (gradients of inputs, of params, the params' uses) of a tape created with uses=True. A use: (index in params, op, attrs, operand, "
           "operands, path, output_grad).");
  tape.def("form", &form_of, py::arg("results"), py::arg("inputs"),
           "For a tape filled while a graph is traced, returns (its form, the tensors that each run has to pass to it, results and inputs as the form "
           "identifies them). None if it cannot be applied to other data because it holds a rule made in Python.");
  py::class_<PyTapeForm> form(m, "TapeForm", "The records of a tape without its data.");
  form.def("on", &tape_on, py::arg("given"), py::arg("results"), py::arg("inputs"),
           "Returns (a tape, results and inputs as it identifies them) for the tensors of a run.");
  form.def(
      "versions",
      [](const PyTapeForm& f) {
        py::tuple v(f.read.size());
        for (size_t i = 0; i < f.read.size(); ++i) v[i] = f.read[i].second->stored().id();
        return v;
      },
      "Returns the identities of the Parameters' values that it reads.");
  m.def(
      "custom_gradient",
      [](const py::function& f, const py::object& inputs, const py::function& vjp) {
        const TensorList in = to_list(inputs);
        const std::shared_ptr<py::function> rule = shared_function(vjp);
        const TensorList out = custom_gradient(
            [&f](std::span<const Tensor> x) {
              return to_list(f(to_python_tuple({x.begin(), x.end()})));
            },
            in,
            [rule](Span<const Tensor> x, Span<const Tensor> y, Span<const Tensor> dy) {
              const py::gil_scoped_acquire acquire;
              py::tuple d(dy.size());
              for (size_t i = 0; i < dy.size(); ++i) d[i] = or_none(dy[i]);
              return to_list((*rule)(to_python_tuple({x.begin(), x.end()}), to_python_tuple({y.begin(), y.end()}), d));
            });
        return to_python_tuple(out);
      },
      py::arg("f"), py::arg("inputs"), py::arg("vjp"), "Returns f(inputs) with the gradient rule vjp(inputs, outputs, douts) -> dinputs (None: no gradient).");
  m.def(
      "fresh_leaf", [](PyTensor& t) { return to_python(fresh_leaf(t.value())); }, py::arg("tensor"),
      "Returns the tensor as a separate value, whose gradient excludes other uses of the tensor.");
  m.def("recompute", &recompute, py::arg("f"), py::arg("inputs"), py::arg("params"), py::arg("name"),
        "Returns f(inputs) and recomputes its values for the gradient; params: the Parameters that f reads.");
}

/// A Python function of tensors, compiled per signature. It keeps the Parameters that it reads or writes alive. A `part` is called by eagerly running
/// code, and its random ops belong to that code's step.
class PyCompiled {
 public:
  PyCompiled(py::function f, CompileOptions options, py::object on_leave, bool is_part) : f_(std::move(f)), on_leave_(std::move(on_leave)), part_(is_part) {
    if (is_part)
      options.drop_garbage = [] {
        const py::gil_scoped_acquire acquire;
        py::module_::import("gc").attr("collect")();
      };
    fn_ = CompiledFn(
        [this](std::span<const Tensor> in, int) {
          const py::gil_scoped_acquire acquire;
          const ParameterKeeper::Scope keeping(keeper_);
          PyCompiled* const outer = std::exchange(tracing(), this);
          const struct Back {
            PyCompiled* to;
            ~Back() { tracing() = to; }
          } back{outer};
          ops::set_rng_instance(0);
          const int64_t number = calls_++;
          Part* const part = part_in_force();
          TensorList out;
          try {
            out = to_list(f_(to_python_tuple({in.begin(), in.end()})));
          } catch (...) {
            if (part != nullptr && traced_call_has_run()) part->drawn = ops::rng_instance();
            throw;
          }
          if (part != nullptr) {
            part->number = number;
            part->drawn = drawn_[number] = ops::rng_instance();
          } else if (ops::rng_instance() != 0) {
            ops::end_rng_step();  // becomes part of the graph: every replay draws new numbers
          }
          return out;
        },
        std::move(options));
  }
  py::tuple call(const py::object& inputs) { return run(inputs)[1]; }
  py::tuple run(const py::object& inputs) {
    const TensorList in = to_list(inputs);
    if (part_) return run_part(in);
    const PartInForce none(nullptr);
    int64_t path = -1;
    // The call is a separate step for the random ops, regardless of what ran before (random.h).
    if (ops::rng_instance() != 0) ops::end_rng_step();
    ops::begin_rng_step();
    const TensorList out = run_fn(in, &path);
    ops::set_rng_instance(0);
    return py::make_tuple(path, to_python_tuple(out));
  }
  // Does the work of the first call of this signature without running it.
  void compile(const py::object& inputs) {
    const TensorList in = to_list(inputs);
    {
      const py::gil_scoped_release release;
      fn_.prepare(in);
    }
    ops::set_rng_instance(0);
  }
  const CompiledFn& fn() const { return fn_; }
  const py::object& on_leave() const { return on_leave_; }
  /// The object whose function runs on this thread.
  static PyCompiled*& tracing() {
    thread_local PyCompiled* p = nullptr;
    return p;
  }

  // The function references the Cell, which holds this object: Python's collector must see the cycle to free it.
  static void collectable(PyHeapTypeObject* heap_type) {
    PyTypeObject* const type = &heap_type->ht_type;
    type->tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
      Py_VISIT(Py_TYPE(self));
      const PyCompiled* mine = of(self);
      if (mine == nullptr) return 0;
      Py_VISIT(mine->f_.ptr());
      Py_VISIT(mine->on_leave_.ptr());
      return 0;
    };
    type->tp_clear = [](PyObject* self) {
      if (PyCompiled* mine = of(self)) {
        const py::object last = std::exchange(mine->f_, py::function()), on_leave = std::exchange(mine->on_leave_, py::object());
      }
      return 0;
    };
  }

  struct Part {
    ops::RngPart numbers;
    int64_t number = -1, drawn = 0;  ///< if this run was traced: the number of the call of f_, and its number of random ops
  };
  /// The part that runs on this thread.
  static Part*& part_in_force() {
    thread_local Part* p = nullptr;
    return p;
  }

 private:
  class PartInForce {
   public:
    explicit PartInForce(Part* p) : previous_(std::exchange(part_in_force(), p)) {}
    ~PartInForce() { part_in_force() = previous_; }
    PartInForce(const PartInForce&) = delete;
    PartInForce& operator=(const PartInForce&) = delete;

   private:
    Part* previous_;
  };

  TensorList run_fn(const TensorList& in, int64_t* path) {
    const py::gil_scoped_release release;
    return fn_.run(in, 0, path);
  }
  py::tuple run_part(const TensorList& in) {
    Part part;
    const PartInForce in_force(&part);
    int64_t path = -1;
    TensorList out;
    try {
      out = run_fn(in, &path);
    } catch (...) {
      part.numbers.end(part.drawn);
      throw;
    }
    part.numbers.end(path >= 0 ? drawn_.at(path) : part.drawn);
    if (path < 0) drawn_.erase(part.number);
    return py::make_tuple(path, to_python_tuple(out));
  }

  // Null while Python is still constructing it.
  static PyCompiled* of(PyObject* self) {
    const auto v = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
    return v.holder_constructed() ? v.value_ptr<PyCompiled>() : nullptr;
  }

  py::function f_;
  py::object on_leave_;
  bool part_;
  int64_t calls_ = 0;  // number of calls of f_
  std::unordered_map<int64_t, int64_t> drawn_;  // number of random ops in a part, by the call of f_ that traced them
  ParameterKeeper keeper_;
  CompiledFn fn_;
};

// Continues the traced call eagerly. `next` is the number of its next random op; traced and eager code count separately.
void go_on_eagerly(int64_t next, const std::string& what) {
  if (PyCompiled::Part* const part = PyCompiled::part_in_force()) part->numbers.end(next);
  else ops::set_rng_instance(next);
  const PyCompiled* const p = PyCompiled::tracing();
  if (p != nullptr && !p->on_leave().is_none()) p->on_leave()(what);
}

bool leave(const std::string& what) {
  const int64_t next = ops::rng_instance();
  {
    const py::gil_scoped_release release;
    if (!leave_trace()) return false;
  }
  go_on_eagerly(next, what);
  return true;
}

void bind_compile(py::module_& m) {
  py::class_<PyCompiled> c(m, "CompiledFn", py::custom_type_setup(&PyCompiled::collectable),
                           "A function of tensors that is traced once per signature and then replayed without Python.");
  c.def(py::init([](py::function f, std::string name, std::vector<std::string> disable_passes, py::object on_leave, bool part) {
          CompileOptions options{.name = std::move(name), .disable_passes = std::move(disable_passes)};
          return std::make_unique<PyCompiled>(std::move(f), std::move(options), std::move(on_leave), part);
        }),
        py::arg("f"), py::arg("name") = "fn", py::arg("disable_passes") = std::vector<std::string>{}, py::arg("on_leave") = py::none(), py::arg("part") = false,
        "part: eagerly running code calls it. Its random ops belong to that code's step, and traced tensors that are still referenced at the end besides "
        "the result get their data; such a path is not kept.");
  c.def("run", &PyCompiled::run, py::arg("inputs"),
        "Runs it like a call and returns (the number of the call of f that traced the path, or -1 if the path is not kept, a tuple of tensors).");
  m.def("traced_call_has_run", &traced_call_has_run, "Whether a part of the call that is being traced has already run, because of a condition.");
  m.def("leave_graph", &leave, py::arg("what"),
        "After a condition on a tensor in traced code: runs the traced ops, and the rest of the call eagerly. Returns False elsewhere.");
  c.def("__call__", &PyCompiled::call, py::arg("inputs"), "Runs the function on a sequence of tensors; returns a tuple of tensors.");
  c.def("compile", &PyCompiled::compile, py::arg("inputs"), "Traces and compiles the function for tensors like these, without running it.");
  c.def(
      "graph_text", [](const PyCompiled& p) { return p.fn().graph_text(); }, py::call_guard<py::gil_scoped_release>(),
      "Returns the optimized graph of the latest signature.");
  c.def_property_readonly("num_signatures",
                          py::cpp_function([](const PyCompiled& p) { return p.fn().num_signatures(); }, py::call_guard<py::gil_scoped_release>()));
  c.def("info", [](const PyCompiled& p) {
    const ExecutableInfo i = [&] {
      const py::gil_scoped_release release;  // another thread may be compiling it, and need the lock
      return p.fn().info();
    }();
    py::dict d;
    d["nodes_traced"] = i.nodes_traced, d["nodes"] = i.nodes, d["arena_bytes"] = i.arena_bytes, d["unplanned_bytes"] = i.unplanned_bytes;
    d["compile_seconds"] = i.compile_seconds, d["segments"] = i.segments;
    return d;
  });
  m.def("host_call", &call_on_host, py::arg("inputs"), py::arg("number"), py::arg("function"),
        "Calls function(list of tensors) with the values of the inputs when the program gets here, in each run of a traced graph. Functions with the same "
        "number must do the same.");
  m.def("is_tracing_graph", &is_tracing_graph, "Whether a graph is being traced on this thread.");
  m.def("is_eager", &is_eager, "Whether no tape records, no graph is traced and nothing is cast on this thread.");
  // begin_step and end_step surround an outermost eager call, so that it draws the same random numbers as the compiled call.
  m.def("begin_step", [] {
    if (ops::rng_instance() != 0) ops::end_rng_step();
    ops::begin_rng_step();
  });
  m.def("end_step", [] {
    if (ops::rng_instance() != 0) ops::end_rng_step();
    ops::set_rng_instance(0);
  });
}

amp::Options amp_options(const std::string& level, DType dtype, std::optional<bool> keep_batchnorm_fp32, std::vector<std::string> white,
                         std::vector<std::string> black) {
  return {.level = amp::parse_level(level),
          .dtype = dtype,
          .keep_batchnorm_fp32 = keep_batchnorm_fp32,
          .white_list = std::move(white),
          .black_list = std::move(black)};
}

void bind_amp(py::module_& m) {
  py::class_<amp::Options>(m, "AmpOptions", "Mixed precision: level, half type, lists (include/sindri/amp/amp.h).")
      .def(py::init(&amp_options), py::arg("level") = "O0", py::arg("dtype") = DType::kBFloat16, py::arg("keep_batchnorm_fp32") = py::none(),
           py::arg("white_list") = std::vector<std::string>{}, py::arg("black_list") = std::vector<std::string>{})
      .def_property_readonly("level", [](const amp::Options& o) { return amp::level_name(o.level); })
      .def_property_readonly("dtype", [](const amp::Options& o) { return o.dtype; })
      .def_property_readonly("active", &amp::Options::active)
      .def(
          "check", [](const amp::Options& o, const std::vector<std::string>& cell_classes) { amp::check(o, cell_classes); }, py::arg("cell_classes"));
  using amp::NamedPolicy;
  py::class_<NamedPolicy>(m, "AmpPolicy", "A named policy of mixed precision (include/sindri/amp/policy.h).")
      .def_readonly("name", &NamedPolicy::name)
      .def_readonly("half_cells", &NamedPolicy::half_cells)
      .def_readonly("float_cells", &NamedPolicy::float_cells)
      .def_property_readonly("casts_ops", [](const NamedPolicy& p) { return p.casts == amp::Casts::kOps; })
      .def_property_readonly("casts_batchnorm", &NamedPolicy::casts_batchnorm)
      .def_property_readonly("casts_all", &NamedPolicy::casts_all)
      .def_property_readonly("keeps_batchnorm", [](const NamedPolicy& p) { return p.casts_batchnorm() && p.keeps_batchnorm; })
      .def("provides_loss_scale", &NamedPolicy::provides_loss_scale, py::arg("half"))
      .def("options", &NamedPolicy::options, py::arg("half"), py::arg("keep_batchnorm_fp32") = py::none());
  m.def(
      "amp_policy", [](const std::string& name, const std::string& target) { return amp::find_policy(name, amp::Casts::kCells, target); }, py::arg("name"),
      py::arg("device_target") = "CPU", "Returns the policy of a name; 'O1' to 'O3' are those of MindSpore, which mark Cells.");
  m.def("default_half", &amp::default_half, py::arg("device_target"), "Returns the half type that is used unless the user names one.");
  bind_scope<AmpScopePy>(m, "AmpScope", "Casts the ops inside `with` according to the options.").def(py::init<amp::Options>(), py::arg("options"));
  bind_scope<FullPrecisionPy>(m, "FullPrecisionScope", "Nothing is cast inside `with`.").def(py::init<>());
  bind_scope<CellScopePy>(m, "CellScope", "The casts that a Cell adds during construct.")
      .def(py::init<std::string, std::optional<DType>>(), py::arg("cell_class"), py::arg("to_float") = py::none());
  m.def(
      "hold_type", [](const py::object& t) { amp::hold_type(to_tensor(t)); }, py::arg("t"),
      "Makes ops of a Cell with a type read this Tensor in the Tensor's own type.");
  m.def("set_casts_hold", &amp::set_casts_hold, py::arg("on"), "Sets whether casts written by the user hold inside Cells with a type.");
  m.def("is_casting", &amp::is_casting, "Whether casts are being inserted on this thread.");
  m.def("cast_floating", &amp::cast_floating, py::arg("t"), py::arg("dtype"),
        "Casts t to dtype if it is bfloat16, float16 or float32, otherwise returns it unchanged; scopes do not apply.");
}

// Every call of a Cell goes through this function, so Python calls it directly, without pybind11.
PyObject* call_in_scope(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 4 || !PyUnicode_Check(args[0]) || !PyTuple_Check(args[2]) || !PyDict_Check(args[3]))
      throw py::type_error("call_in_scope takes a name, a callable, a tuple and a dict");
    Py_ssize_t size = 0;
    const char* const name = PyUnicode_AsUTF8AndSize(args[0], &size);
    if (name == nullptr) return nullptr;
    const NameScope scope(std::string(name, static_cast<size_t>(size)));
    return PyObject_Call(args[1], args[2], PyDict_GET_SIZE(args[3]) > 0 ? args[3] : nullptr);
  });
}

// Returns whether every name is still bound to its value. Called before every compiled call with a tuple (owner, name, value, …). An owner is a dict, a cell of
// a closure, or an object that has the attribute `name`.
PyObject* still_bound(PyObject*, PyObject* watched) {
  if (!PyTuple_Check(watched) || PyTuple_GET_SIZE(watched) % 3 != 0) {
    PyErr_SetString(PyExc_TypeError, "still_bound takes a tuple of owners, names and values");
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(watched); i += 3) {
    PyObject* const owner = PyTuple_GET_ITEM(watched, i);
    PyObject* const name = PyTuple_GET_ITEM(watched, i + 1);
    const PyObject* const value = PyTuple_GET_ITEM(watched, i + 2);
    bool same = false;
    if (PyDict_Check(owner)) {
      same = PyDict_GetItemWithError(owner, name) == value;
    } else if (PyCell_Check(owner)) {
      same = PyCell_GET(owner) == value;
    } else {
      PyObject* const now = PyObject_GetAttr(owner, name);
      same = now == value;
      Py_XDECREF(now);
    }
    if (PyErr_Occurred() != nullptr) PyErr_Clear();  // it no longer exists, or cannot be read: not the same
    if (!same) Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

// Returns a device by its name ("sim:0"); an empty name means the current device.
Device device_of(const std::string& name) { return name.empty() ? current_device() : find_device(name); }

void bind_devices(py::module_& m) {
  using Release = py::call_guard<py::gil_scoped_release>;
  m.def(
      "set_device_target", [](const std::string& target, int id) { set_device_target(target, id); }, py::arg("target"), py::arg("id") = 0,
      "Makes that device the current one, or the CPU if GPU or Ascend are not available.");
  m.def("get_device_target", [] { return context().device_target; });
  m.def("get_device_id", [] { return context().device_id; });
  m.def("device_targets", &device_targets, "Returns the names that set_device_target accepts.");
  m.def("target_substitution", &target_substitution, "Returns the message that the CPU replaces the target; empty if it does not.");
  m.def(
      "current_device", [] { return current_device().str(); }, "Returns the name of the current device, such as 'cpu' or 'cuda:0'.");
  m.def(
      "devices",
      [] {
        py::list all;
        for (const DeviceListing& d : devices()) all.append(py::make_tuple(d.device.str(), d.target, d.info.name, d.info.memory, d.info.free));
        return all;
      },
      "Returns tuples (name, target, hardware, bytes of memory, free bytes), the CPU first.");
  m.def(
      "device_memory_stats",
      [](const std::string& device) {
        const DeviceMemoryStats s = device_memory_stats(device_of(device));
        py::dict d;
        d["in_use"] = s.in_use;
        d["peak"] = s.peak;
        d["cached"] = s.cached;
        d["limit"] = s.limit;
        d["peak_reserved"] = s.peak_reserved;
        return d;
      },
      py::arg("device") = "", "Returns the bytes of a device's memory: in_use, peak, cached, limit, peak_reserved.");
  m.def(
      "reset_device_memory_peaks",
      [](const std::string& device, bool in_use, bool reserved) { reset_device_memory_peaks(device_of(device), in_use, reserved); }, py::arg("device") = "",
      py::arg("in_use") = true, py::arg("reserved") = true, "Resets the peaks to the current values.");
  m.def(
      "is_idle", [] { return current_device().is_cpu() || current_stream(current_device()).record()->done(); },
      "Returns whether all work is done, without waiting.");
  m.def(
      "set_device_memory_limit", [](int64_t bytes) { set_device_memory_limit(current_device(), bytes); }, py::arg("bytes"));
  m.def(
      "release_cached_device_memory", [] { release_cached_device_memory(current_device()); }, Release(),
      "Returns freed blocks that are kept for reuse to the device or the system.");
  m.def(
      "synchronize", [] { synchronize(current_device()); }, Release(), "Waits for all work on the current device.");
}

void bind_context(py::module_& m) {
  bind_devices(m);
  m.def("set_mode", [](int mode) { set_mode(mode == 0 ? Mode::kGraph : Mode::kPynative); });
  m.def("get_mode", [] { return context().mode == Mode::kGraph ? 0 : 1; });
  m.def("set_save_graphs", &set_save_graphs, py::arg("on"), py::arg("path") = ".");
  m.def("set_strict", &set_strict);
  m.def("strict_mode", &strict_mode);
  m.def("set_num_threads", &set_num_threads);
  m.def("num_threads", &num_threads);
  m.def("cpu_isa", [] { return cpu_isa_name(cpu_isa()); });
  m.def("set_seed", &set_seed);
  m.def("get_seed", [] { return seed_is_set() ? py::object(py::int_(get_seed())) : py::object(py::none()); });
  m.def("reset_rng", &ops::reset_rng, py::arg("seed"), py::arg("step") = 0, py::arg("sample_offset") = 0);  // for a rank: comm.place_random_numbers
  m.def(
      "rng_state", [] { return ops::rng_state().stored(); }, "Returns the key of the random ops: seed, step, sample offset.");
  m.def("set_rng_state", [](const Tensor& t) { ops::rng_state().assign(t.clone()); });
  m.def(
      "rng_key", [] { return ops::rng_state().value(); }, "Returns the key as the interpreters in force see it.");
  m.def(
      "next_rng_instance",
      [] {
        const int64_t mine = ops::rng_instance();
        ops::set_rng_instance(mine + 1);
        return mine;
      },
      "Returns the number of the next random op of the step, and counts it.");
  m.def("log_warning", [](const std::string& topic, const std::string& message) { log::warn(topic.c_str(), message); });
  bind_scope<NameScopePy>(m, "NameScope", "A component of the path that messages and profiles show.").def(py::init<std::string>(), py::arg("name"));
  bind_scope<BelowPy>(m, "BelowScope", "Inside `with`, the topmost interpreter (a tape) sees no ops.").def(py::init<>());
  m.def("current_scope", &current_scope);
  static PyMethodDef in_scope = {
      "call_in_scope", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_in_scope)), METH_FASTCALL,
      "call_in_scope(name: str, f: object, args: tuple, kwargs: dict) -> object\n\nReturns f(*args, **kwargs), run under the name of a Cell."};
  m.attr("call_in_scope") = py::reinterpret_steal<py::object>(PyCFunction_NewEx(&in_scope, nullptr, m.attr("__name__").ptr()));
  static PyMethodDef bound = {
      "still_bound", still_bound, METH_O,
      "still_bound(watched: tuple) -> bool\n\nReturns whether each variable of (owner, name, value, ...) is still bound to that value."};
  m.attr("still_bound") = py::reinterpret_steal<py::object>(PyCFunction_NewEx(&bound, nullptr, m.attr("__name__").ptr()));
}

void bind_initializers(py::module_& m) {
  using Ptr = std::shared_ptr<nn::Initializer>;
  py::class_<nn::Initializer, Ptr>(m, "NativeInitializer", "An initializer for tensors (include/sindri/nn/initializer.h).")
      .def("__repr__", &nn::Initializer::describe);
  py::module_ i = m.def_submodule("init", "Initializers of the engine.");
  i.def("Zero", &nn::Zero);
  i.def("One", &nn::One);
  i.def("Constant", &nn::Constant, py::arg("value"));
  i.def("Normal", &nn::Normal, py::arg("sigma") = 0.01, py::arg("mean") = 0.0);
  i.def("TruncatedNormal", &nn::TruncatedNormal, py::arg("sigma") = 0.01, py::arg("mean") = 0.0, py::arg("a") = -2.0, py::arg("b") = 2.0);
  i.def("Uniform", &nn::Uniform, py::arg("scale") = 0.07);
  i.def("XavierUniform", &nn::XavierUniform, py::arg("gain") = 1.0);
  i.def("XavierNormal", &nn::XavierNormal, py::arg("gain") = 1.0);
  i.def("HeUniform", &nn::HeUniform, py::arg("negative_slope") = 0.0, py::arg("mode") = "fan_in", py::arg("nonlinearity") = "leaky_relu");
  i.def("HeNormal", &nn::HeNormal, py::arg("negative_slope") = 0.0, py::arg("mode") = "fan_in", py::arg("nonlinearity") = "leaky_relu");
  i.def("VarianceScaling", &nn::VarianceScaling, py::arg("scale") = 1.0, py::arg("mode") = "fan_in", py::arg("distribution") = "truncated_normal");
  i.def("Identity", &nn::Identity);
  i.def("Orthogonal", &nn::Orthogonal, py::arg("gain") = 1.0);
  i.def("Dirac", &nn::Dirac, py::arg("groups") = 1);
  i.def("Sparse", &nn::Sparse, py::arg("sparsity"), py::arg("sigma") = 0.01);
  i.def(
      "draw", [](const Ptr& init, const Shape& shape, DType dtype) { return nn::initializer(init, shape, dtype); }, py::arg("init"), py::arg("shape"),
      py::arg("dtype") = DType::kFloat32, "Returns a tensor filled by the initializer; random draws are counted from set_seed.");
  i.def(
      "draw_alias", [](const std::string& alias, const Shape& shape, DType dtype) { return nn::initializer(alias, shape, dtype); }, py::arg("alias"),
      py::arg("shape"), py::arg("dtype") = DType::kFloat32);
  i.def("fan_in_and_out", &nn::fan_in_and_out, py::arg("shape"));
  i.def("calculate_gain", &nn::calculate_gain, py::arg("nonlinearity"), py::arg("negative_slope") = 0.0);
}

/// A Timeline that can be started and stopped.
struct PyTimeline {
  explicit PyTimeline(int64_t max_bytes) : timeline(max_bytes) {}
  Timeline timeline;
  std::unique_ptr<ObserveKernels> scope;
};

void bind_timeline(py::module_& m) {
  // Seconds of time.perf_counter(), which reads the same clock.
  const auto point = [](double seconds) {
    return std::chrono::steady_clock::time_point(std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds)));
  };
  py::class_<PyTimeline>(m, "Timeline", "Collects kernel runs between start() and stop() and writes them as a Chrome trace.")
      .def(py::init<int64_t>(), py::arg("max_bytes") = 50'000'000)
      .def("start",
           [](PyTimeline& t) {
             if (t.scope == nullptr) t.scope = std::make_unique<ObserveKernels>(t.timeline);
           })
      .def("stop", [](PyTimeline& t) { t.scope.reset(); })
      .def(
          "add_span", [point](PyTimeline& t, const std::string& name, double begin, double end) { t.timeline.add_span(name, point(begin), point(end)); },
          py::arg("name"), py::arg("begin"), py::arg("end"))
      .def("events", [](const PyTimeline& t) { return t.timeline.events(); })
      .def("dropped", [](const PyTimeline& t) { return t.timeline.dropped(); })
      .def(
          "write", [](const PyTimeline& t, const std::string& path) { t.timeline.write(path); }, py::arg("path"));
}

}  // namespace

bool leave_traced_call(const std::string& what) { return leave(what); }

std::optional<bool> traced_truth(const Tensor& t) {
  const int64_t next = ops::rng_instance();
  const bool tracing = is_tracing_graph();
  const std::optional<bool> outcome = [&] {
    const py::gil_scoped_release release;  // the ops traced so far are compiled and run
    return traced_condition(t);
  }();
  if (tracing && !is_tracing_graph()) go_on_eagerly(next, "");  // too many paths are known already
  return outcome;
}

void bind_engine(py::module_& m) {
  bind_gradients(m);
  bind_compile(m);
  bind_amp(m);
  bind_context(m);
  bind_initializers(m);
  bind_timeline(m);
}

}  // namespace sindri::python
