// sindri._core.dataset: the data pipeline in Python. Datasets, samplers, transforms and iterators are thin handles here; names,
// defaults and checks are in python/sindri/dataset.
//
// The interpreter lock (GIL) needs care. Workers call Python functions, so every call that may wait for a worker releases it, including
// the destructor of an iterator. Python objects that the pipeline holds are released with the lock held.
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "python/src/casters.h"
#include "python/src/dataset_values.h"
#include "sindri/dataset/dataset.h"
#include "sindri/dataset/transforms.h"
#include "sindri/dataset/vision.h"
#include "sindri/device/device.h"

namespace sindri::python {

dataset::vision::Size size_of(const std::vector<int64_t>& s) {
  if (s.size() == 1) return dataset::vision::Size(s[0]);
  if (s.size() == 2) return dataset::vision::Size(s[0], s[1]);
  throw ValueError(fmt::format("size has {} numbers, expected one or two", s.size()), "", "give an edge, or (height, width)");
}

dataset::vision::Inter inter_of(const std::string& name) {
  if (name == "NEAREST") return dataset::vision::Inter::kNearest;
  if (name == "LINEAR") return dataset::vision::Inter::kLinear;
  if (name == "CUBIC") return dataset::vision::Inter::kCubic;
  if (name == "AREA") return dataset::vision::Inter::kArea;
  throw ValueError(fmt::format("interpolation {} is not known", name), "", "use NEAREST, LINEAR, CUBIC or AREA");
}

dataset::vision::Border border_of(const std::string& name) {
  if (name == "constant") return dataset::vision::Border::kConstant;
  if (name == "edge") return dataset::vision::Border::kEdge;
  if (name == "reflect") return dataset::vision::Border::kReflect;
  if (name == "symmetric") return dataset::vision::Border::kSymmetric;
  throw ValueError(fmt::format("padding mode {} is not known", name), "", "use constant, edge, reflect or symmetric");
}

namespace {

namespace data = sindri::dataset;
using data::Dataset;
using data::Transform;

bool interpreter_runs() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() != 0 && Py_IsFinalizing() == 0;
#else
  return Py_IsInitialized() != 0 && _Py_IsFinalizing() == 0;
#endif
}

/// A Python object that C++ threads may hold. It is released with the lock held, or not at all after the interpreter has ended.
using Held = std::shared_ptr<py::object>;
Held hold(py::object o) {
  return Held(new py::object(std::move(o)), [](py::object* p) {
    if (interpreter_runs()) {
      const py::gil_scoped_acquire acquire;
      delete p;
    } else {
      p->release();
      delete p;
    }
  });
}

// Never destroyed: exceptions may occur while the interpreter shuts down.
struct RowErrors {
  py::object bad_sample, empty;
};
RowErrors& row_errors() {
  static auto* t = new RowErrors;
  return *t;
}

// Exceptions of Python functions on their way through the pipeline.

/// The payload of PythonError.
struct Carried {
  explicit Carried(Held e) : exception(std::move(e)) {}
  virtual ~Carried() = default;
  Held exception;
};
/// A Python exception inside a C++ exception. The pipeline adds file, row and operation. Only a BadSample can be replaced or skipped.
template <class Base> struct PythonError final : Base, Carried {
  PythonError(Held e, std::string text) : Base(std::move(text)), Carried(std::move(e)) {}
};

/// Depth of Python callbacks on this thread.
thread_local int t_callback_depth = 0;
struct CallbackScope {
  CallbackScope() { ++t_callback_depth; }
  ~CallbackScope() { --t_callback_depth; }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
};

[[noreturn]] void throw_python(py::error_already_set& e) {
  py::object value = e.value();
  if (e.trace()) PyException_SetTraceback(value.ptr(), e.trace().ptr());
  std::string text = fmt::format("{}: {}", py::cast<std::string>(py::type::of(value).attr("__name__")), py::cast<std::string>(py::str(value)));
  const bool bad = PyObject_IsInstance(value.ptr(), row_errors().bad_sample.ptr()) == 1;
  Held held = hold(std::move(value));
  if (bad) throw PythonError<data::BadSample>(std::move(held), std::move(text));
  throw PythonError<DataError>(std::move(held), std::move(text));
}

/// Runs `f`, which calls into Python, on a worker thread.
template <class F> auto call_python(F&& f) {
  const py::gil_scoped_acquire acquire;
  const CallbackScope scope;
  try {
    return f();
  } catch (py::error_already_set& e) { throw_python(e); }
}

/// Adds a note that the traceback prints below the message (PEP 678), once per text.
void add_note(const py::object& exception, const std::string& note) {
  try {
    py::list notes = py::getattr(exception, "__notes__", py::list());
    if (notes.contains(py::str(note))) return;
    notes.append(note);
    py::setattr(exception, "__notes__", notes);
  } catch (py::error_already_set&) {
    // An exception class without attributes stays unchanged.
  }
}

void raise_error(const py::object& type, const Error& e) {
  const py::object exception = type(py::str(e.what()));
  exception.attr("code") = static_cast<int>(e.code());
  exception.attr("message") = e.message();
  exception.attr("where") = e.where();
  exception.attr("fix") = e.fix();
  PyErr_SetObject(type.ptr(), exception.ptr());
}

void translate(std::exception_ptr p) {
  if (!p) return;
  try {
    std::rethrow_exception(p);
  } catch (const Carried& c) {
    const auto* e = dynamic_cast<const Error*>(&c);
    if (e != nullptr && !e->where().empty()) add_note(*c.exception, fmt::format("data pipeline: {}", e->where()));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(c.exception->ptr())), c.exception->ptr());
  } catch (const data::BadSample& e) { raise_error(row_errors().bad_sample, e); } catch (const DataError& e) {
    if (e.code() != ErrorCode::kDataEmpty) throw;
    raise_error(row_errors().empty, e);
  }
}

// Rows between Python and C++.

// Converts to a tensor on the host, where rows are produced.
Tensor value_to_tensor(py::handle value, const std::string& who, size_t k) {
  if (PyTensor* t = tensor_of(value)) return t->value().to({});
  const py::array a(py::reinterpret_borrow<py::object>(value));  // raises as NumPy or the value's __array__ does
  const char kind = a.dtype().kind();
  if (kind == 'U' || kind == 'S' || kind == 'O') {
    if (kind == 'O')
      throw DTypeError(fmt::format("value {} is {}, a Python object that no column holds", k, py::cast<std::string>(py::type::of(value).attr("__name__"))), who,
                       "return numbers, bools, text or a dict");
    throw DTypeError(fmt::format("value {} is text, the first row's was not", k), who, "give text from the first row on");
  }
  const DeviceScope host(Device{});
  return from_numpy(a, false);
}

/// A tuple holds one value per column; any other object is the value of a single column.
std::vector<Tensor> row_to_tensors(const py::object& row, const std::string& who) {
  std::vector<Tensor> out;
  if (py::isinstance<py::tuple>(row)) {
    const auto values = py::reinterpret_borrow<py::tuple>(row);
    for (size_t k = 0; k < values.size(); ++k) out.push_back(value_to_tensor(values[k], who, k));
  } else {
    out.push_back(value_to_tensor(row, who, 0));
  }
  return out;
}

py::tuple arrays(const std::vector<Tensor>& columns, size_t first_free = 0) {
  py::tuple out(columns.size() + first_free);
  for (size_t i = 0; i < columns.size(); ++i) out[i + first_free] = to_numpy(columns[i]);
  return out;
}

// Transforms.

Transform python_function(const std::string& name, py::object callable, int num_outputs, bool keyed) {
  const Held f = hold(std::move(callable));
  if (keyed) {
    return data::transforms::Function(name, data::transforms::Function::RandomFn([f, name](const std::vector<Tensor>& in, PhiloxSequence& draws) {
                                        const uint64_t key = draws.next_u64();
                                        return call_python([&] {
                                          py::tuple args = arrays(in, 1);
                                          args[0] = py::int_(key);
                                          return row_to_tensors((*f)(*args), name);
                                        });
                                      }),
                                      num_outputs);
  }
  return data::transforms::Function(name, data::transforms::Function::Fn([f, name](const std::vector<Tensor>& in) {
                                      return call_python([&] { return row_to_tensors((*f)(*arrays(in)), name); });
                                    }),
                                    num_outputs);
}

data::vision::RandomResizedCropOptions crop_options(std::array<double, 2> scale, std::array<double, 2> ratio, const std::string& inter, int attempts) {
  data::vision::RandomResizedCropOptions o;
  o.scale = scale;
  o.ratio = ratio;
  o.interpolation = inter_of(inter);
  o.max_attempts = attempts;
  return o;
}

/// Arrays that need no conversion are read in place; the caller keeps them alive meanwhile.
Tensor value_for_a_call(py::handle value, const std::string& who, size_t k) {
  if (py::isinstance<py::array>(value)) {
    const auto a = py::reinterpret_borrow<py::array>(value);
    const char kind = a.dtype().kind();
    const bool known = (kind == 'u' && a.itemsize() == 1) || (kind == 'f' && a.itemsize() >= 4 && a.itemsize() <= 8);
    if (known && a.size() > 0 && (a.flags() & py::array::c_style) != 0 && memory_can_be_shared(a)) {
      const DeviceScope host(Device{});
      return from_numpy(a, true);
    }
  }
  return value_to_tensor(value, who, k);
}

py::tuple apply_transform(const Transform& t, const py::sequence& values, uint64_t key) {
  std::vector<Tensor> in;
  for (size_t k = 0; k < values.size(); ++k) in.push_back(value_for_a_call(values[k], t.str(), k));
  std::vector<Tensor> out;
  {
    const py::gil_scoped_release release;
    out = t.apply(in, key);
  }
  return arrays(out);
}

void bind_transforms(py::module_& m) {
  py::class_<Transform>(m, "Transform", "An operation on a row.")
      .def("__str__", &Transform::str)
      .def_property_readonly("columns", &Transform::columns, "The number of values it accepts (0: any number) and returns.")
      .def(
          "__call__",
          [](const Transform& t, const py::object& input) {
            const Tensor in = value_for_a_call(input, t.str(), 0);
            Tensor out;
            {
              const py::gil_scoped_release release;
              out = t(in);
            }
            return to_numpy(out);
          },
          py::arg("input"), "Applies the transform to one array.")
      .def("apply", &apply_transform, py::arg("values"), py::arg("key"),
           "Returns the results for one row's values; a random transform draws from the key alone.");
  namespace v = data::vision;
  using I64s = std::vector<int64_t>;
  using Pair = std::array<double, 2>;
  m.def("decode", [] { return Transform(v::Decode()); });
  m.def("resize", [](const I64s& size, const std::string& inter, bool round_long_edge) {
    return Transform(v::Resize(size_of(size), inter_of(inter), round_long_edge ? v::LongEdge::kRound : v::LongEdge::kCut));
  });
  m.def("center_crop", [](const I64s& size) { return Transform(v::CenterCrop(size_of(size))); });
  m.def("random_crop", [](const I64s& size, const I64s& padding, bool pad_if_needed, const I64s& fill_value, const std::string& mode) {
    return Transform(v::RandomCrop(size_of(size), {padding, pad_if_needed, fill_value, border_of(mode)}));
  });
  m.def("random_resized_crop", [](const I64s& size, Pair scale, Pair ratio, const std::string& inter, int attempts) {
    return Transform(v::RandomResizedCrop(size_of(size), crop_options(scale, ratio, inter, attempts)));
  });
  m.def("random_crop_decode_resize", [](const I64s& size, Pair scale, Pair ratio, const std::string& inter, int attempts) {
    return Transform(v::RandomCropDecodeResize(size_of(size), crop_options(scale, ratio, inter, attempts)));
  });
  m.def("random_horizontal_flip", [](double prob) { return Transform(v::RandomHorizontalFlip(prob)); });
  m.def("horizontal_flip", [] { return Transform(v::HorizontalFlip()); });
  m.def("rescale", [](double rescale, double shift) { return Transform(v::Rescale(rescale, shift)); });
  m.def("normalize", [](const std::vector<double>& mean, const std::vector<double>& std, bool is_hwc) { return Transform(v::Normalize(mean, std, is_hwc)); });
  m.def("hwc2chw", [] { return Transform(v::HWC2CHW()); });
  m.def("type_cast", [](DType dtype) { return Transform(data::transforms::TypeCast(dtype)); });
  m.def("one_hot", [](int64_t classes, double rate) { return Transform(data::transforms::OneHot(classes, rate)); });
  m.def("function", &python_function, py::arg("name"), py::arg("callable"), py::arg("num_outputs") = 1, py::arg("keyed") = false,
        "Returns a transform that calls a Python function with the input columns' arrays; keyed: preceded by a number that depends on (seed, pass, position).");
}

// Sources.

using MaybeInt = std::optional<int64_t>;

/// Options of every source, in the order of the Python side's `_source_options`.
struct Common {
  MaybeInt num_samples;
  int workers = 0;
  std::optional<bool> shuffle;
  std::optional<data::Sampler> sampler;
  MaybeInt num_shards, shard_id;
};

template <class Options> Options with(Options o, const Common& c) {
  o.num_samples = c.num_samples;
  o.num_parallel_workers = c.workers;
  o.shuffle = c.shuffle;
  o.sampler = c.sampler;
  o.num_shards = c.num_shards;
  o.shard_id = c.shard_id;
  return o;
}

template <class Source> Dataset::Ptr folder_source(const std::string& dir, const std::string& usage, const Common& c) {
  typename Source::Options o;
  o.dataset_dir = dir;
  o.usage = usage;
  return Source::make(with(std::move(o), c));
}

Dataset::Ptr generator(const py::object& row, const py::object& rows, MaybeInt size, std::vector<std::string> names, std::vector<DType> column_types,
                       const Common& c) {
  data::GeneratorDataset::Options o;
  if (!row.is_none()) {
    const Held f = hold(row);
    o.row_of_pass = [f](int64_t i, int64_t pass) { return call_python([&] { return row_to_tensors((*f)(i, pass), "GeneratorDataset"); }); };
  }
  if (!rows.is_none()) {
    const Held f = hold(rows);
    o.rows = [f]() -> std::function<bool(std::vector<Tensor>*)> {
      const Held it = call_python([&] {
        const py::object iterable = (*f)();
        PyObject* iterator = PyObject_GetIter(iterable.ptr());
        if (iterator == nullptr) throw py::error_already_set();
        return hold(py::reinterpret_steal<py::object>(iterator));
      });
      return [it](std::vector<Tensor>* out) {
        return call_python([&] {
          const auto value = py::reinterpret_steal<py::object>(PyIter_Next(it->ptr()));
          if (!value) {
            if (PyErr_Occurred() != nullptr) throw py::error_already_set();
            return false;
          }
          *out = row_to_tensors(value, "GeneratorDataset");
          return true;
        });
      };
    };
  }
  o.size = size;
  o.column_names = std::move(names);
  o.column_types = std::move(column_types);
  return data::GeneratorDataset::make(with(std::move(o), c));
}

void bind_sources(py::module_& m) {
  py::class_<data::Sampler>(m, "Sampler", "The choice and order of the rows that are read from a source.").def("__str__", &data::Sampler::str);
  m.def("sequential_sampler", &data::SequentialSampler);
  m.def("random_sampler", &data::RandomSampler);
  m.def("distributed_sampler", &data::DistributedSampler);
  m.def("subset_sampler", &data::SubsetSampler);
  m.def("subset_random_sampler", &data::SubsetRandomSampler);

  py::class_<Common>(m, "SourceOptions", "Options of every source.")
      .def(py::init([](MaybeInt num_samples, int workers, std::optional<bool> shuffle, std::optional<data::Sampler> sampler, MaybeInt shards, MaybeInt id) {
             return Common{num_samples, workers, shuffle, std::move(sampler), shards, id};
           }),
           py::arg("num_samples") = py::none(), py::arg("num_parallel_workers") = 0, py::arg("shuffle") = py::none(), py::arg("sampler") = py::none(),
           py::arg("num_shards") = py::none(), py::arg("shard_id") = py::none());
  m.def("image_folder",
        [](const std::string& dir, const std::vector<std::string>& extensions, const std::map<std::string, int32_t>& class_indexing, bool decode,
           const Common& c) {
          data::ImageFolderDataset::Options o;
          o.dataset_dir = dir;
          o.extensions = extensions;
          o.any_extension = extensions.empty();
          o.class_indexing = class_indexing;
          o.decode = decode;
          return data::ImageFolderDataset::make(with(std::move(o), c));
        });
  m.def("cifar10", &folder_source<data::Cifar10Dataset>);
  m.def("cifar100", &folder_source<data::Cifar100Dataset>);
  m.def("mnist", &folder_source<data::MnistDataset>);
  m.def("fashion_mnist", &folder_source<data::FashionMnistDataset>);
  m.def("digits", [](const std::string& file, const std::string& usage, const Common& c) {
    data::DigitsDataset::Options o;
    o.dataset_file = file;
    o.usage = usage;
    return data::DigitsDataset::make(with(std::move(o), c));
  });
  m.def("numpy_slices", [](const std::vector<std::pair<std::string, py::array>>& columns, const Common& c) {
    data::NumpySlicesDataset::Options o;
    const DeviceScope host(Device{});
    for (const auto& [name, a] : columns) {
      // Memory is shared if the element type exists; other types are widened, which copies.
      const py::dtype d = a.dtype();
      const bool same = d.kind() == 'b' || d.kind() == 'f' || (d.kind() == 'u' && d.itemsize() == 1) || (d.kind() == 'i' && d.itemsize() >= 4);
      o.columns.emplace_back(name, from_numpy(a, same && memory_can_be_shared(a)));
    }
    return data::NumpySlicesDataset::make(with(std::move(o), c));
  });
  m.def("generator", &generator);
}

// Datasets and iterators.

py::list column_infos(const Dataset& d) {
  std::vector<data::ColumnInfo> columns;
  {
    const py::gil_scoped_release release;
    columns = d.columns();
  }
  py::list out;
  for (const auto& c : columns) {
    const py::object dtype = c.dtype_known ? py::object(py::str(dtype_name(c.dtype))) : py::none();
    const py::object shape = c.rank_known ? py::object(py::cast(c.shape.vec())) : py::none();
    out.append(py::make_tuple(c.name, dtype, shape));
  }
  return out;
}

/// Ends iterators on separate threads.
class Reapers {
 public:
  const pid_t process = ::getpid();
  void take(std::shared_ptr<data::Iterator> it) {
    const std::lock_guard lock(mutex_);
    std::erase_if(threads_, [](Reaper& r) {
      if (r.done->load()) r.thread.join();
      return !r.thread.joinable();
    });
    auto done = std::make_shared<std::atomic<bool>>(false);
    threads_.push_back({std::thread([it = std::move(it), done]() mutable {
                          it.reset();
                          done->store(true);
                        }),
                        done});
  }
  void join() {
    std::vector<Reaper> mine;
    {
      const std::lock_guard lock(mutex_);
      mine.swap(threads_);
    }
    for (auto& r : mine) r.thread.join();
  }

 private:
  struct Reaper {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };
  std::mutex mutex_;
  std::vector<Reaper> threads_;
};
// Never destroyed: threads that still run when the process ends must not be waited for. A forked process does not have its parent's threads, so it gets a new,
// empty object.
Reapers& reapers() {
  static std::atomic<Reapers*> current{new Reapers};
  Reapers* seen = current.load();
  if (seen->process == ::getpid()) return *seen;
  auto mine = std::make_unique<Reapers>();
  return current.compare_exchange_strong(seen, mine.get()) ? *mine.release() : *seen;
}

/// Ends an iterator. Inside a callback of the pipeline another thread does it, because a worker cannot join itself.
struct EndIterator {
  std::thread::id creator = std::this_thread::get_id();
  bool in_callback() const { return t_callback_depth > 0 && creator != std::this_thread::get_id(); }
  void operator()(data::Iterator* it) const {
    std::shared_ptr<data::Iterator> mine(it);
    if (in_callback()) reapers().take(std::move(mine));
  }
};

class PyIterator {
 public:
  PyIterator(const Dataset& d, const data::IteratorOptions& o) {
    const py::gil_scoped_release release;
    it_ = std::shared_ptr<data::Iterator>(d.create_iterator(o).release(), end_);
  }
  ~PyIterator() { close(true); }
  PyIterator(const PyIterator&) = delete;
  PyIterator& operator=(const PyIterator&) = delete;

  /// Runs f, for one thread at a time. Keeps the iterator alive meanwhile, because a callback may close it.
  template <class F> auto use(F&& f) {
    if (elsewhere()) data::throw_read_elsewhere(reader_);  // before locking: after a fork the mutexes have the state of that moment
    const py::gil_scoped_release release;
    open();  // throws if closed: a callback must not wait for the thread that ends the iterator, since that thread waits for the callback
    const std::lock_guard one(using_);
    const std::shared_ptr<data::Iterator> it = open();
    return f(*it);
  }

  py::object next(bool numpy) {
    if (reader_ == 0) reader_ = ::getpid();
    std::vector<Tensor> columns;
    bool more = true;
    if (pending_.empty()) {
      wait();
      more = use([&](data::Iterator& it) { return read(it, &columns); });
    } else {
      columns.swap(pending_);
    }
    if (PyErr_CheckSignals() != 0) {
      if (more) pending_ = std::move(columns);  // the next call returns it
      throw py::error_already_set();
    }
    if (!more) return py::none();
    if (!numpy) columns = copy_ahead(columns, current_device());
    py::list out(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) out[i] = numpy ? py::object(to_numpy(columns[i])) : to_python(std::move(columns[i]));
    return out;
  }

  bool next_epoch() {
    pending_.clear();
    return use([](data::Iterator& it) { return it.next_epoch(); });
  }

  bool failed() const { return failed_; }

  /// Without `wait` the workers end in the background.
  void close(bool wait) {
    if (elsewhere()) {
      static auto* kept = new std::vector<std::shared_ptr<data::Iterator>>;  // kept forever: its threads do not exist in this process
      kept->push_back(std::move(it_));
      return;
    }
    std::shared_ptr<data::Iterator> mine;
    {
      const std::lock_guard lock(mutex_);
      mine.swap(it_);
    }
    if (!mine || end_.in_callback()) return;  // the last owner ends it
    if (!wait) {
      reapers().take(std::move(mine));
      return;
    }
    const py::gil_scoped_release release;
    { const std::lock_guard until_unused(using_); }
    mine.reset();
  }

 private:
  bool elsewhere() const { return reader_ != 0 && reader_ != ::getpid(); }

  std::shared_ptr<data::Iterator> open() const {
    const std::lock_guard lock(mutex_);
    if (!it_) throw ValueError("the iterator has been closed", "", "make a new one with create_dict_iterator() or create_tuple_iterator()");
    return it_;
  }

  bool read(data::Iterator& it, std::vector<Tensor>* columns) {
    try {
      return it.next(columns);
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  // Signals are handled every tenth of a second while the next batch is being produced.
  void wait() {
    while (!use([](data::Iterator& it) { return it.wait(0.1); })) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
  }

  const EndIterator end_;
  std::mutex using_;  // guards the object of it_; locked before mutex_
  mutable std::mutex mutex_;  // guards it_
  std::shared_ptr<data::Iterator> it_;
  std::vector<Tensor> pending_;
  std::atomic<bool> failed_{false};
  std::atomic<pid_t> reader_{0};  // the process that started reading
};

py::dict stats_dict(const data::Stats& s) {
  using namespace py::literals;
  py::list bad;
  for (const auto& b : s.bad_samples) bad.append(py::make_tuple(b.row_id, b.name, b.reason));
  return py::dict("rows"_a = s.rows, "batches"_a = s.batches, "rows_padded"_a = s.rows_padded, "decoded_full"_a = s.decoded_full,
                  "decoded_window"_a = s.decoded_window, "decode_warnings"_a = s.decode_warnings, "bytes_read"_a = s.bytes_read, "replaced"_a = s.replaced,
                  "pool_overflow"_a = s.pool_overflow, "blocks"_a = s.blocks, "block_bytes"_a = s.block_bytes, "workers"_a = s.workers,
                  "busy_seconds"_a = s.busy_seconds, "consumer_wait_seconds"_a = s.consumer_wait_seconds, "bad_samples"_a = bad);
}

data::OnCorrupt to_policy(const std::string& name) {
  if (name == "replace") return data::OnCorrupt::kReplace;
  if (name == "skip") return data::OnCorrupt::kSkip;
  return data::OnCorrupt::kFail;
}

using DatasetClass = py::class_<Dataset, Dataset::Ptr>;

void bind_pipeline(py::module_& m, DatasetClass& pipeline) {
  using Release = py::call_guard<py::gil_scoped_release>;
  using Names = std::vector<std::string>;
  pipeline
      .def("map",
           [](Dataset& d, const std::vector<Transform>& ops, const Names& in, const Names& out, int workers) {
             return d.map(ops, {in, out, workers});
           })
      .def("batch",
           [](Dataset& d, int64_t n, bool drop, int workers) {
             return d.batch(n, {drop, workers});
           })
      .def("shuffle", &Dataset::shuffle)
      .def("repeat", &Dataset::repeat)
      .def("skip", &Dataset::skip)
      .def("take", &Dataset::take)
      .def("rename", &Dataset::rename)
      .def("project", &Dataset::project)
      .def_static("zip", &Dataset::zip)
      .def("concat", &Dataset::concat)
      .def("get_dataset_size", &Dataset::get_dataset_size, Release())
      .def("get_batch_size", &Dataset::get_batch_size, Release())
      .def("get_repeat_count", &Dataset::get_repeat_count, Release())
      .def("get_col_names", &Dataset::get_col_names, Release())
      .def("columns", &column_infos, "Returns (name, element type or None, shape or None) of each column.")
      .def("get_class_indexing", &Dataset::get_class_indexing, Release())
      .def("num_classes", &Dataset::num_classes, Release());

  py::class_<PyIterator>(m, "Iterator", "Reads a pipeline.")
      .def(py::init([](const Dataset& d, int64_t num_epochs, int64_t start_epoch, MaybeInt seed, const std::string& on_corrupt, int64_t max_corrupt,
                       int prefetch, int num_workers) {
             data::IteratorOptions o;
             o.num_epochs = num_epochs;
             o.start_epoch = start_epoch;
             o.seed = seed;
             o.on_corrupt = to_policy(on_corrupt);
             o.max_corrupt = max_corrupt;
             o.prefetch = prefetch;
             o.num_workers = num_workers;
             return std::make_unique<PyIterator>(d, o);
           }),
           py::arg("dataset"), py::arg("num_epochs") = -1, py::arg("start_epoch") = 0, py::arg("seed") = py::none(), py::arg("on_corrupt") = "fail",
           py::arg("max_corrupt") = -1, py::arg("prefetch") = 2, py::arg("num_workers") = 0)
      .def("next", &PyIterator::next, py::arg("numpy") = false, "Returns the next row's columns, or None at the end of the epoch.")
      .def("next_epoch", &PyIterator::next_epoch, "Moves to the next epoch; returns False if there is none.")
      .def("close", &PyIterator::close, py::arg("wait") = true, "Stops the workers; wait: returns after they have ended.")
      .def_property_readonly("failed", &PyIterator::failed, "Whether next() has raised an error of the pipeline, which ends it.")
      .def_property_readonly("epoch", [](PyIterator& i) { return i.use([](auto& it) { return it.epoch(); }); })
      .def_property_readonly("batch", [](PyIterator& i) { return i.use([](auto& it) { return it.batch(); }); })
      .def_property_readonly("seed", [](PyIterator& i) { return i.use([](auto& it) { return it.seed(); }); })
      .def("state_dict", [](PyIterator& i) { return i.use([](auto& it) { return it.state_dict(); }); })
      .def("load_state",
           [](PyIterator& i, const std::string& state) {
             i.use([&](auto& it) {
               it.load_state(state);
               return 0;
             });
           })
      .def("stats", [](PyIterator& i) { return stats_dict(i.use([](auto& it) { return it.stats(); })); });

  m.def(
      "close_pending", [] { reapers().join(); }, Release(), "Waits for iterators that are ending in the background.");
}

py::object error_class(py::module_& m, const char* name, const char* doc, const py::tuple& bases) {
  py::object cls = py::module_::import("builtins").attr("type")(name, bases, py::dict());
  cls.attr("__module__") = "sindri.dataset";
  cls.attr("__doc__") = doc;
  m.attr(name) = cls;
  return cls;
}

}  // namespace

void bind_dataset(py::module_& m) {
  py::module_ d = m.def_submodule("dataset", "The data pipeline; see sindri.dataset.");
  const py::object data_error = m.attr("DataError");
  row_errors().bad_sample = error_class(
      d, "BadSample", "A row cannot be read, decoded or transformed. Raise it in a map function or source to mark a row as bad.", py::make_tuple(data_error));
  row_errors().empty =
      error_class(d, "EmptyDatasetError", "A pipeline has no rows.", py::make_tuple(data_error, py::reinterpret_borrow<py::object>(PyExc_ValueError)));
  py::register_exception_translator(&translate);
  DatasetClass pipeline(d, "Dataset", "A pipeline up to an operation.");  // first, so that signatures can name it
  bind_sources(d);
  bind_transforms(d);
  bind_dataset_vision(d);
  bind_pipeline(d, pipeline);
}

}  // namespace sindri::python
