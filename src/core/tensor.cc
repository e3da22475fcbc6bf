// Tensor handles, and construction and reading on the host. Nothing here is recorded for gradients or traced.
#include "sindri/core/tensor.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sindri/core/error.h"
#include "src/core/tensor_impl.h"

namespace sindri {

namespace {

class PlainAllocator : public HostAllocator {
 public:
  void* allocate(int64_t bytes) override {
    void* p = std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64));
    if (p == nullptr) {
      throw DeviceError(ErrorCode::kMemory, fmt::format("cannot allocate {} bytes of host memory", bytes), "", "reduce the batch size or close other programs");
    }
    return p;
  }
  void release(void* p, int64_t) noexcept override { std::free(p); }
};

HostAllocator*& allocator_slot() {
  static PlainAllocator plain;
  static HostAllocator* current = &plain;
  return current;
}

}  // namespace

void set_host_allocator(HostAllocator* allocator) { allocator_slot() = allocator; }
HostAllocator& host_allocator() { return *allocator_slot(); }

Storage::Storage(int64_t bytes, Device device) : bytes_(bytes), device_(device), owned_(true) {
  if (bytes > 0) data_ = device.is_cpu() ? host_allocator().allocate(bytes) : device_memory().allocate(device, bytes);
}
Storage::~Storage() {
  if (!owned_ || data_ == nullptr) return;
  if (device_.is_cpu()) host_allocator().release(data_, bytes_);
  else device_memory().release(device_, data_, bytes_);
}

uint64_t TensorImpl::next_id() {
  static std::atomic<uint64_t> counter{1};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

std::string TensorMeta::str() const {
  std::string s = std::string(dtype_short_name(dtype)) + shape.str();
  if (layout != Layout::kContiguous) s += std::string(":") + layout_name(layout);
  if (!device.is_cpu()) s += "@" + device.str();
  return s;
}

Tensor make_tensor(const TensorMeta& meta, std::shared_ptr<Storage> storage) {
  auto impl = std::make_shared<TensorImpl>();
  impl->meta = meta;
  impl->storage = std::move(storage);
  return Tensor(std::move(impl));
}

namespace {
thread_local SymbolKeeper* t_keeper = nullptr;
}

SymbolKeeper::SymbolKeeper() : previous_(t_keeper) { t_keeper = this; }
SymbolKeeper::~SymbolKeeper() { t_keeper = previous_; }

Tensor make_symbolic(const TensorMeta& meta, const void* graph, int32_t value) {
  auto impl = std::make_shared<TensorImpl>();
  impl->meta = meta;
  impl->graph = graph;
  impl->value = value;
  if (t_keeper != nullptr) t_keeper->add(impl);
  return Tensor(std::move(impl));
}

Tensor make_alias(const Tensor& t) {
  auto impl = std::make_shared<TensorImpl>(*t.impl());
  impl->id = TensorImpl::next_id();
  if (impl->graph != nullptr && t_keeper != nullptr) t_keeper->add(impl);
  return Tensor(std::move(impl));
}

Tensor make_meta_only(const Tensor& t) {
  if (!t.defined() || !t.impl()->storage) return t;
  auto impl = std::make_shared<TensorImpl>();
  impl->meta = t.meta();
  impl->id = t.id();
  return Tensor(std::move(impl));
}

Tensor Tensor::empty(const TensorMeta& meta) {
  if (meta.layout == Layout::kChannelsLast && meta.shape.rank() != 4)
    throw ShapeError(fmt::format("channels_last needs 4 dimensions, got {}", meta.shape.str()));
  for (const int64_t d : meta.shape) {
    if (d < 0) throw ShapeError(fmt::format("a tensor cannot have the shape {}: dimension {} is negative", meta.shape.str(), d));
  }
  constexpr int64_t kMostBytes = int64_t{1} << 56;  // beyond any machine; sizes computed from it fit into 64 bits
  const int64_t count = meta.numel(), size = static_cast<int64_t>(dtype_size(meta.dtype));
  if (count > kMostBytes || count * size > kMostBytes)
    throw DeviceError(ErrorCode::kMemory, fmt::format("a tensor {} is larger than any memory", meta.str()), "", "check the shape");
  return make_tensor(meta, std::make_shared<Storage>(count * size, meta.device));
}
Tensor Tensor::empty(const Shape& shape, DType dtype, Layout layout) { return empty(TensorMeta{shape, dtype, layout, {}}); }

// Moves a tensor made on the host to the device where tensors are now made.
static Tensor placed(Tensor host) {
  const Device device = creation_device();
  return device.is_cpu() ? host : host.to(device);
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor t = empty(shape, dtype);
  if (t.nbytes() > 0) std::memset(t.mutable_raw_data(), 0, static_cast<size_t>(t.nbytes()));
  return placed(std::move(t));
}

namespace {
template <class T> T convert_to(double v) {
  if constexpr (std::is_same_v<T, bool>) return v != 0;
  else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) return T(static_cast<float>(v));
  else return static_cast<T>(v);
}
}  // namespace

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  Tensor t = empty(shape, dtype);
  dispatch_dtype(dtype, [&]<class T>() {
    T* p = t.mutable_data<T>();
    const T v = convert_to<T>(value);
    for (int64_t i = 0, n = t.numel(); i < n; ++i) p[i] = v;
  });
  return placed(std::move(t));
}

Tensor Tensor::from_values(const Shape& shape, const std::vector<double>& values, DType dtype) {
  check_count(shape, values.size());
  Tensor t = empty(shape, dtype);
  dispatch_dtype(dtype, [&]<class T>() {
    T* p = t.mutable_data<T>();
    for (size_t i = 0; i < values.size(); ++i) p[i] = convert_to<T>(values[i]);
  });
  return placed(std::move(t));
}

Tensor Tensor::from_data(const Shape& shape, DType dtype, const void* data) {
  Tensor t = empty(shape, dtype);
  if (t.nbytes() > 0) std::memcpy(t.mutable_raw_data(), data, static_cast<size_t>(t.nbytes()));
  return placed(std::move(t));
}

void Tensor::check_count(const Shape& shape, size_t count) {
  if (shape.numel() != static_cast<int64_t>(count))
    throw ShapeError(fmt::format("tensor of shape {} needs {} values, got {}", shape.str(), shape.numel(), count));
}

const TensorMeta& Tensor::meta() const {
  if (!impl_) throw ValueError("the tensor is undefined", "", "assign a value before using it");
  return impl_->meta;
}

bool Tensor::is_symbolic() const { return impl_ && impl_->graph != nullptr; }
bool Tensor::has_data() const { return impl_ && impl_->storage != nullptr; }

void Tensor::check_type(DType t) const {
  if (meta().dtype != t)
    throw DTypeError(fmt::format("the tensor holds {}, read as {}", dtype_name(dtype()), dtype_name(t)), "", "use to_vector<T>() to convert, or ops::cast");
}

const void* Tensor::raw_data() const {
  meta();
  if (!impl_->storage) {
    if (impl_->graph)
      throw ValueError("the value of a tensor inside a traced graph is not known while tracing", "",
                       "use ops (ops::where for conditions), or run in PYNATIVE_MODE");
    throw InternalError("the gradient rule reads a tensor its op does not save", "", "declare it in saves_in / saves_out");
  }
  if (!impl_->meta.device.is_cpu())
    throw DeviceError(fmt::format("the memory of {} cannot be read by the host", impl_->meta.str()), "", "copy it: to_vector(), item(), or to(Device{})");
  return impl_->storage->data();
}
std::shared_ptr<void> Tensor::writable_view() const {
  raw_data();
  const std::shared_ptr<Storage> storage = impl_->storage;
  storage->begin_view();
  return {impl_.get(), [keep = impl_, storage](void*) { storage->end_view(); }};
}
void* Tensor::mutable_raw_data() { return const_cast<void*>(raw_data()); }

uint64_t Tensor::id() const { return impl_ ? impl_->id : 0; }

double Tensor::item() const {
  if (numel() != 1) throw ValueError(fmt::format("item() needs one element, the tensor has shape {}", shape().str()));
  if (defined() && !meta().device.is_cpu() && has_data()) return read_values({this, 1}, "item")[0];
  double v = 0;
  copy_converted(&v, DType::kFloat64);
  return v;
}

namespace {

// Describes the host's read of a tensor on another device.
DeviceMemory::Read read_of(const Tensor& t, Tensor* host) {
  TensorMeta meta = t.meta();
  meta.device = {};
  *host = Tensor::empty(meta);
  return {host->mutable_raw_data(), t.impl()->storage->data(), t.meta().device, t.nbytes()};
}

void check_stored(const Tensor& t) {
  if (!t.has_data()) (void)t.raw_data();  // throws with the reason
}

template <class To> void convert_elements(const Tensor& t, To* q) {
  dispatch_dtype(t.dtype(), [&]<class From>() {
    const From* p = t.data<From>();
    for_each_element(t.meta(), [&](int64_t i, int64_t j) {
      if constexpr (std::is_same_v<To, From>) q[i] = p[j];
      else if constexpr (std::is_integral_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) q[i] = static_cast<To>(p[j]);
      else q[i] = convert_to<To>(static_cast<double>(p[j]));
    });
  });
}

}  // namespace

Tensor Tensor::to(Device device) const {
  if (meta().device == device) return *this;
  check_stored(*this);
  if (device.is_cpu()) {
    Tensor host;
    const DeviceMemory::Read read = read_of(*this, &host);
    if (read.bytes > 0) device_memory().read({&read, 1}, "to(cpu)");
    return host;
  }
  TensorMeta m = meta();
  m.device = device;
  device_memory().check(device);
  const Tensor t = empty(m);
  if (nbytes() == 0) return t;
  if (meta().device.is_cpu()) device_memory().write(device, t.impl_->storage->data(), raw_data(), nbytes());
  else device_memory().copy(device, t.impl_->storage->data(), meta().device, impl_->storage->data(), nbytes());
  return t;
}

std::vector<Tensor> to_host(std::span<const Tensor> tensors, const char* what) {
  std::vector<Tensor> out(tensors.begin(), tensors.end());
  std::vector<DeviceMemory::Read> reads;
  for (Tensor& t : out) {
    if (!t.defined() || t.meta().device.is_cpu()) continue;
    check_stored(t);
    Tensor host;
    const DeviceMemory::Read read = read_of(t, &host);
    if (read.bytes > 0) reads.push_back(read);
    t = std::move(host);  // the caller's handle keeps the memory being read alive
  }
  if (!reads.empty()) device_memory().read(reads, what);
  return out;
}

std::vector<double> read_values(std::span<const Tensor> tensors, const char* what) {
  std::vector<double> out;
  for (const Tensor& t : to_host(tensors, what)) {
    const size_t first = out.size();
    out.resize(first + static_cast<size_t>(t.numel()));
    convert_elements(t, out.data() + first);
  }
  return out;
}

void Tensor::copy_converted(void* out, DType t) const {
  check_stored(*this);
  const auto convert = [&](const Tensor& host) { dispatch_dtype(t, [&]<class To>() { convert_elements(host, static_cast<To*>(out)); }); };
  if (meta().device.is_cpu()) convert(*this);
  else convert(to_host({this, 1})[0]);
}

Tensor Tensor::clone() const {
  check_stored(*this);
  Tensor t = empty(meta());
  if (nbytes() == 0) return t;
  if (meta().device.is_cpu()) std::memcpy(t.mutable_raw_data(), raw_data(), static_cast<size_t>(nbytes()));
  else device_memory().copy(meta().device, t.impl_->storage->data(), meta().device, impl_->storage->data(), nbytes());
  return t;
}

Tensor Tensor::contiguous() const {
  if (layout() == Layout::kContiguous) return *this;
  if (!meta().device.is_cpu()) return to({}).contiguous().to(meta().device);
  Tensor t = empty(shape(), dtype());
  const char* src = static_cast<const char*>(raw_data());
  char* dst = static_cast<char*>(t.mutable_raw_data());
  const size_t size = dtype_size(dtype());
  for_each_element(meta(), [&](int64_t i, int64_t j) { std::memcpy(dst + static_cast<size_t>(i) * size, src + static_cast<size_t>(j) * size, size); });
  return t;
}

Tensor Tensor::view(const Shape& s) const {
  if (s.numel() != numel()) throw ShapeError(fmt::format("cannot view {} as {}: element counts differ", meta().str(), s.str()));
  if (layout() != Layout::kContiguous) throw ValueError(fmt::format("cannot view {}: layout is not contiguous", meta().str()));
  check_stored(*this);
  TensorMeta m = meta();
  m.shape = s;
  return make_tensor(m, impl_->storage);
}

namespace {
void print_dim(const Tensor& t, const std::vector<double>& v, int d, int64_t offset, std::string* out) {
  if (d == t.rank()) {
    const double x = v[static_cast<size_t>(offset)];
    if (t.dtype() == DType::kBool) *out += x != 0 ? "True" : "False";
    else if (is_integral(t.dtype())) *out += fmt::format("{}", static_cast<int64_t>(x));
    else if (t.dtype() == DType::kFloat64) *out += fmt::format("{}", x);
    else *out += fmt::format("{}", static_cast<float>(x));
    return;
  }
  const int64_t n = t.shape()[d];
  const int64_t stride = contiguous_strides(t.shape())[d];
  const bool cut = t.numel() > 1000 && n > 6;
  *out += "[";
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) *out += d + 1 == t.rank() ? " " : "\n" + std::string(static_cast<size_t>(d + 1), ' ');
    if (cut && i == 3) {
      *out += "...";
      i = n - 4;
      continue;
    }
    print_dim(t, v, d + 1, offset + i * stride, out);
  }
  *out += "]";
}
}  // namespace

std::string Tensor::str() const {
  if (!defined()) return "Tensor(undefined)";
  if (!has_data()) return "Tensor(" + meta().str() + (is_symbolic() ? ", symbolic)" : ", no data)");
  std::string out;
  print_dim(*this, to_vector<double>(), 0, 0, &out);
  return out;
}

}  // namespace sindri
