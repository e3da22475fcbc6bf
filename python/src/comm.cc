// Distributed ranks: the world and its groups, collective calls on the host, and the ops. Every call that may wait for other ranks releases
// the interpreter lock.
#include <fmt/format.h>

#include "python/src/casters.h"
#include "python/src/op_function.h"
#include "sindri/app/dist.h"
#include "sindri/comm/communicator.h"
#include "sindri/comm/trace.h"
#include "sindri/core/log.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/random.h"
#include "sindri/train/data_parallel.h"

namespace sindri::python {

namespace {

app::Settings environment_settings() {
  app::Settings s;
  s.load_environment();
  s.validate();
  return s;
}

// The options that all training steps of this process share, besides each step's arguments. Set by init.
train::DataParallelOptions& step_options() {
  static train::DataParallelOptions o;
  return o;
}

// A Python process is one virtual rank. The key counts samples from this offset, so its random ops draw that rank's numbers.
int64_t own_sample_offset() { return train::sample_offset(comm::world().rank()); }

void place_random_numbers() {
  const std::vector<int64_t> key = ops::rng_state().stored().to_vector<int64_t>();
  ops::rng_state().store(Tensor::from_vector<int64_t>({3}, {key.at(0), key.at(1), own_sample_offset()}));
}

// Warns about settings of `sindri train` that a script specifies in another way or implements itself.
void warn_of_others(const app::Settings& s) {
  for (const char* name : {"dist.parallel_mode", "dist.gradients_mean", "dist.overlap", "dist.bn_merge", "dist.loss_scope", "dist.load_local", "dist.stop_file",
                           "dist.term_grace"})
    if (!s.is_default(name)) log::warn("comm", fmt::format("{} is a setting of sindri train; in a script it changes nothing", name));
}

void join() {
  const app::Settings s = environment_settings();
  const train::DataParallelOptions o = app::data_parallel_options(s);
  {
    const py::gil_scoped_release release;
    comm::init(app::comm_options(s));
  }
  if (const int size = comm::world().size(); o.virtual_ranks != 0 && o.virtual_ranks != size)
    throw CommError(ErrorCode::kLayout, fmt::format("dist.virtual_ranks is {}, and there are {} processes, each of which is one", o.virtual_ranks, size),
                    "SINDRI_DIST_VIRTUAL_RANKS", "unset it, or start as many processes");
  if (comm::world().rank() == 0) warn_of_others(s);
  step_options() = o;
  place_random_numbers();
}

train::DataParallelOptions options_of(bool mean, const std::optional<std::vector<int64_t>>& fusion, double bucket_mb) {
  train::DataParallelOptions o = step_options();
  o.gradients_mean = mean;
  if (fusion || bucket_mb > 0) o.all_reduce_fusion_config = fusion;
  if (bucket_mb > 0) o.bucket_mb = bucket_mb;
  return o;
}

/// The joint actions of ranks between steps. The step itself reduces in its stage `reduce`, with reduce_gradients.
class PyDataParallel {
 public:
  PyDataParallel(const py::iterable& parameters, const std::vector<std::pair<std::string, py::object>>& network_state, bool mean,
                 const std::optional<std::vector<int64_t>>& fusion, double bucket_mb, bool parameter_broadcast) {
    train::BuildContext context;
    for (const py::handle p : parameters) context.parameters.push_back(slot(p));
    for (const auto& [name, p] : network_state) context.network_state.emplace_back(name, slot(p));
    train::DataParallelOptions o = options_of(mean, fusion, bucket_mb);
    o.parameter_broadcast = o.parameter_broadcast && parameter_broadcast;
    train::TrainStep unused;  // Python's stages replace it
    state_ = train::apply_data_parallel(unused, context, o, comm::world());
  }
  void begin(const std::vector<std::string>& lines, const py::iterable& state) {
    std::vector<Parameter*> more;
    for (const py::handle p : state) more.push_back(slot(p));
    const py::gil_scoped_release release;
    state_->begin(lines, more);
    place_random_numbers();
  }
  void check_replicas() { state_->check_replicas(); }
  void after_step(int64_t step) { state_->after_step(step); }
  std::vector<std::tuple<int64_t, int64_t, int64_t>> buckets() const {
    std::vector<std::tuple<int64_t, int64_t, int64_t>> out;
    for (const train::GradientBucket& b : state_->buckets()) out.emplace_back(b.first, b.last, b.bytes);
    return out;
  }

 private:
  Parameter* slot(py::handle p) {
    kept_.push_back(slot_of(p));
    return kept_.back().get();
  }
  std::vector<std::shared_ptr<Parameter>> kept_;
  std::shared_ptr<train::DataParallel> state_;
};

// The host number of each rank, by world rank. All ranks call this at init.
std::vector<int> hosts_of_world() {
  std::vector<int> out;
  comm::Communicator& w = comm::world();
  for (const std::string& host : w.all_gather_text(std::to_string(w.host_index()), {"hosts of ranks"})) out.push_back(std::stoi(host));
  return out;
}

std::vector<Tensor> list_of(py::handle sequence) {
  std::vector<Tensor> out;
  for (const py::handle h : py::reinterpret_borrow<py::iterable>(sequence)) out.push_back(to_tensor(h));
  return out;
}

template <class F> auto unlocked(F&& f) {
  const py::gil_scoped_release release;
  return f();
}

void bind_ops_of_ranks(py::module_& into) {
  into.def(
      "all_reduce",
      [](py::handle xs, const std::string& op, const std::string& group, const std::string& what, int64_t index, double scale, const std::string& wire) {
        const std::vector<Tensor> in = list_of(xs);
        return to_python_tuple(unlocked([&] { return ops::all_reduce(in, {op, group, what, index, scale, wire}); }));
      },
      py::arg("xs"), py::arg("op") = "sum", py::arg("group") = "world", py::arg("what") = "all_reduce", py::arg("index") = 0, py::arg("scale") = 1.0,
      py::arg("wire") = "", op_doc("all_reduce").c_str());
  into.def(
      "all_gather", [](const Tensor& x, const std::string& group) { return to_python(unlocked([&] { return ops::all_gather(x, group); })); }, py::arg("x"),
      py::arg("group") = "world", op_doc("all_gather").c_str());
  into.def(
      "reduce_scatter",
      [](const Tensor& x, const std::string& op, const std::string& group) { return to_python(unlocked([&] { return ops::reduce_scatter(x, op, group); })); },
      py::arg("x"), py::arg("op") = "sum", py::arg("group") = "world", op_doc("reduce_scatter").c_str());
  into.def(
      "broadcast",
      [](py::handle xs, int64_t root, const std::string& group) {
        const std::vector<Tensor> in = list_of(xs);
        return to_python_tuple(unlocked([&] { return ops::broadcast(in, root, group); }));
      },
      py::arg("xs"), py::arg("root") = 0, py::arg("group") = "world", op_doc("broadcast").c_str());
  into.def(
      "all_to_all", [](const Tensor& x, const std::string& group) { return to_python(unlocked([&] { return ops::all_to_all(x, group); })); }, py::arg("x"),
      py::arg("group") = "world", op_doc("all_to_all").c_str());
  into.def(
      "neighbor_exchange",
      [](py::handle xs, const std::vector<int64_t>& to, const std::vector<int64_t>& from, const std::vector<std::vector<int64_t>>& shapes, DType dtype,
         int64_t tag, const std::string& group) {
        const std::vector<Tensor> in = list_of(xs);
        const std::vector<Shape> results(shapes.begin(), shapes.end());
        return to_python_tuple(unlocked([&] { return ops::neighbor_exchange(in, to, from, results, dtype, tag, group); }));
      },
      py::arg("xs"), py::arg("to"), py::arg("source"), py::arg("shapes"), py::arg("dtype"), py::arg("tag") = 0, py::arg("group") = "world",
      op_doc("neighbor_exchange").c_str());
  into.def(
      "send",
      [](const Tensor& x, int64_t to, int64_t tag, const std::string& group) { return to_python(unlocked([&] { return ops::send(x, to, tag, group); })); },
      py::arg("x"), py::arg("to"), py::arg("tag") = 0, py::arg("group") = "world", "Sends x to rank `to` of the group and returns it.");
  into.def(
      "recv",
      [](const Shape& shape, DType dtype, int64_t from, int64_t tag, const std::string& group) {
        return to_python(unlocked([&] { return ops::recv(shape, dtype, from, tag, group); }));
      },
      py::arg("shape"), py::arg("dtype"), py::arg("source"), py::arg("tag") = 0, py::arg("group") = "world",
      "Returns the next tensor that rank `source` of the group sends.");
  into.def(
      "send_recv",
      [](const Tensor& x, int64_t to, int64_t from, int64_t tag, const std::string& group) {
        return to_python(unlocked([&] { return ops::send_recv(x, to, from, tag, group); }));
      },
      py::arg("x"), py::arg("to"), py::arg("source"), py::arg("tag") = 0, py::arg("group") = "world",
      "Sends x to rank `to` of the group and receives a tensor of the same shape from rank `source` at the same time.");
}

void bind_world(py::module_& m) {
  m.def("init", &join, "Joins the group that this process was started in, with the settings SINDRI_DIST_….");
  m.def("finalize", &comm::finalize, py::call_guard<py::gil_scoped_release>());
  m.def("initialized", &comm::initialized);
  m.def("backend", [] { return std::string(comm::world().backend()); });
  m.def("hosts", &hosts_of_world, py::call_guard<py::gil_scoped_release>(), "Returns the number of each rank's host. All ranks must call it.");
  m.def("local_rank", [] { return comm::world().local_rank(); });
  m.def("local_size", [] { return comm::world().local_size(); });
  m.def(
      "rank", [](const std::string& group) { return comm::find_group(group).rank(); }, py::arg("group") = "world");
  m.def(
      "members", [](const std::string& group) { return comm::find_group(group).members(); }, py::arg("group") = "world");
  m.def(
      "create_group", [](const std::string& name, const std::vector<int>& ranks) { comm::create_group(name, ranks); }, py::arg("name"), py::arg("ranks"),
      py::call_guard<py::gil_scoped_release>());
  m.def("destroy_group", &comm::destroy_group, py::arg("name"), py::call_guard<py::gil_scoped_release>());
  m.def("check", [] { comm::world().check(); });
  m.def("arm_exit_guard", &comm::arm_exit_guard, "From this call on the process ends five seconds after its job failed, whatever it is doing.");
  m.def("fail_at_exit", &comm::fail_at_exit, "Makes the process, which is ending, exit with code 7 if it would have exited with 0.");
  m.def(
      "leave_code", [](int code) { comm::leave_code(static_cast<ErrorCode>(code)); }, py::arg("code"),
      "Reports to sindri run the error that ends this process.");
  m.def(
      "abort", [](const std::string& reason) { comm::abort(reason); }, py::arg("reason"), py::call_guard<py::gil_scoped_release>(),
      "Ends the job because of this rank: the other ranks' calls raise CommError.");
}

void bind_host_calls(py::module_& m) {
  m.def(
      "barrier", [](const std::string& group) { comm::find_group(group).barrier({"Barrier"}); }, py::arg("group") = "world",
      py::call_guard<py::gil_scoped_release>());
  m.def(
      "all_gather_text",
      [](const std::string& text, const std::string& what, const std::string& group) { return comm::find_group(group).all_gather_text(text, {what.c_str()}); },
      py::arg("text"), py::arg("what"), py::arg("group") = "world", py::call_guard<py::gil_scoped_release>(), "Returns the texts of all ranks, by rank.");
}

}  // namespace

void bind_comm(py::module_& m) {
  py::module_ ops = m.attr("ops");
  bind_ops_of_ranks(ops);
  py::module_ c = m.def_submodule("comm", "The ranks of a distributed run (include/sindri/comm/communicator.h).");
  bind_world(c);
  bind_host_calls(c);
  c.def(
      "reduce_gradients",
      [](py::handle gradients, bool mean, const std::optional<std::vector<int64_t>>& fusion, double bucket_mb, const std::string& group) {
        const TensorList g = list_of(gradients);
        const train::DataParallelOptions o = options_of(mean, fusion, bucket_mb);
        return to_python_tuple(unlocked([&] { return train::reduce_gradients(g, o, comm::find_group(group)); }));
      },
      py::arg("gradients"), py::arg("mean"), py::arg("fusion") = py::none(), py::arg("bucket_mb") = 0.0, py::arg("group") = "world",
      "Reduces the ranks' gradients, one bucket per call. fusion: the last gradient of each bucket; None: as the settings say.");
  c.def("place_random_numbers", &place_random_numbers, py::call_guard<py::gil_scoped_release>(),
        "Makes the random ops draw this rank's numbers, even if another rank's state was loaded.");
  py::class_<PyDataParallel>(c, "DataParallel", "The joint actions of the ranks of a data-parallel run between steps (include/sindri/train/data_parallel.h).")
      .def(py::init<const py::iterable&, const std::vector<std::pair<std::string, py::object>>&, bool, const std::optional<std::vector<int64_t>>&, double,
                    bool>(),
           py::arg("parameters"), py::arg("network_state"), py::arg("mean"), py::arg("fusion"), py::arg("bucket_mb"), py::arg("parameter_broadcast"))
      .def("begin", &PyDataParallel::begin, py::arg("lines"), py::arg("state"),
           "Prepares the first step: raises CommError unless all ranks have equal lines, then copies rank 0's parameters and state to all.")
      .def("check_replicas", &PyDataParallel::check_replicas, py::call_guard<py::gil_scoped_release>(),
           "Raises CommError that names the ranks whose parameters differ from the others'.")
      .def("after_step", &PyDataParallel::after_step, py::arg("step"), py::call_guard<py::gil_scoped_release>(),
           "Calls check_replicas() every dist.replica_check_steps steps.")
      .def_property_readonly("buckets", &PyDataParallel::buckets, "[(first, last, bytes)] in the order of reduction.");
  // For tests: ranks that are threads. On each of them, the world is the one that run_ranks gave to this thread.
  c.def(
      "run_ranks",
      [](int size, const py::function& f) {
        const py::gil_scoped_release release;
        comm::run_ranks(size, [&f](int rank) {
          const py::gil_scoped_acquire acquire;
          f(rank);
        });
      },
      py::arg("size"), py::arg("f"), "Calls f(rank) on `size` threads, each a rank of one world.");
}

}  // namespace sindri::python
