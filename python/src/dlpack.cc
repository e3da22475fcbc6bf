// Conversion of tensors to and from DLPack capsules, without copies.
#include "python/src/dlpack.h"

#include <fmt/format.h>

#include "sindri/core/external.h"

namespace sindri::python {

namespace {

// The C structures of DLPack, ABI version 0, with the standard's names.
struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
constexpr int32_t kDLCPU = 1;
enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct Context {
  DLManagedTensor managed{};
  std::shared_ptr<void> keep;
  std::vector<int64_t> shape, strides;
};

DLDataType to_dl(DType t) {
  const auto bits = static_cast<uint8_t>(8 * dtype_size(t));
  const uint8_t code = t == DType::kBool ? kBool : t == DType::kUInt8 ? kUInt : t == DType::kBFloat16 ? kBfloat : is_floating(t) ? kFloat : kInt;
  return {code, bits, 1};
}

DType from_dl(const DLDataType& d) {
  if (d.lanes == 1) {
    for (int i = 0; i < kNumDTypes; ++i) {
      const DLDataType have = to_dl(static_cast<DType>(i));
      if (have.code == d.code && have.bits == d.bits) return static_cast<DType>(i);
    }
  }
  throw DTypeError(fmt::format("no tensor type for DLPack code {}, {} bits, {} lanes", d.code, d.bits, d.lanes), "from_dlpack");
}

}  // namespace

py::capsule to_dlpack(const Tensor& t) {
  auto* c = new Context;
  c->keep = t.writable_view();
  c->shape = t.shape().vec();
  c->strides = contiguous_strides(t.shape()).vec();
  if (t.layout() == Layout::kChannelsLast) {
    const Shape& s = t.shape();
    c->strides = {s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]};
  }
  DLTensor& d = c->managed.dl_tensor;
  d = {const_cast<void*>(t.raw_data()), {kDLCPU, 0}, t.rank(), to_dl(t.dtype()), c->shape.data(), c->strides.data(), 0};
  c->managed.manager_ctx = c;
  c->managed.deleter = [](DLManagedTensor* m) { delete static_cast<Context*>(m->manager_ctx); };
  return py::capsule(&c->managed, "dltensor", [](PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;  // consumed: the new owner frees it
    auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    m->deleter(m);
  });
}

Tensor from_dlpack(const py::object& o) {
  const py::object capsule = py::hasattr(o, "__dlpack__") ? o.attr("__dlpack__")() : o;
  auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (m == nullptr) throw py::error_already_set();
  const DLTensor& d = m->dl_tensor;
  if (d.device.device_type != kDLCPU) throw DeviceError("the DLPack tensor is not in host memory", "from_dlpack", "copy it to the CPU first");
  const Shape shape(std::vector<int64_t>(d.shape, d.shape + d.ndim));
  if (d.strides != nullptr) {
    const Shape want = contiguous_strides(shape);
    for (int i = 0; i < d.ndim; ++i)
      if (shape[i] > 1 && d.strides[i] != want[i]) throw ValueError("the DLPack tensor is not contiguous", "from_dlpack", "make it contiguous first");
  }
  TensorMeta meta;
  meta.shape = shape;
  meta.dtype = from_dl(d.dtype);
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  const std::shared_ptr<void> owner(m, [](void* p) {
    auto* managed = static_cast<DLManagedTensor*>(p);
    if (managed->deleter == nullptr) return;
    const py::gil_scoped_acquire acquire;  // the owner may be a Python object
    managed->deleter(managed);
  });
  return wrap_memory(meta, static_cast<char*>(d.data) + d.byte_offset, owner);
}

}  // namespace sindri::python
