// Tensor: a handle to a value. The value is immutable to ops; copies of the handle share it.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sindri/core/device.h"
#include "sindri/core/dtype.h"
#include "sindri/core/layout.h"
#include "sindri/core/shape.h"
#include "sindri/export.h"

namespace sindri {

/// What is known of a tensor before it is computed.
struct SINDRI_API TensorMeta {
  Shape shape;
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kContiguous;
  Device device;
  int64_t numel() const { return shape.numel(); }
  int64_t nbytes() const { return shape.numel() * static_cast<int64_t>(dtype_size(dtype)); }
  /// "f32[256, 64, 56, 56]", with ":channels_last" behind it where that applies.
  std::string str() const;
  bool operator==(const TensorMeta& o) const = default;
};

struct TensorImpl;  // src/core/tensor_impl.h

/// An array of one type on one device. Copies of a Tensor are the same array; ops give new ones.
class SINDRI_API Tensor {
 public:
  Tensor() = default;  ///< undefined; defined() is false

  /// Uninitialised memory of the host, for the caller to fill.
  static Tensor empty(const Shape& shape, DType dtype = DType::kFloat32, Layout layout = Layout::kContiguous);
  /// Uninitialised memory of the device that the meta names.
  static Tensor empty(const TensorMeta& meta);
  // Those that make tensors from values put them on current_device().
  static Tensor zeros(const Shape& shape, DType dtype = DType::kFloat32);
  /// Every element `value`, converted to dtype.
  static Tensor full(const Shape& shape, double value, DType dtype = DType::kFloat32);
  static Tensor scalar(double value, DType dtype = DType::kFloat32) { return full({}, value, dtype); }
  /// Copies `values` (row-major) and converts them to `dtype`. Throws ShapeError when the counts differ.
  static Tensor from_values(const Shape& shape, const std::vector<double>& values, DType dtype = DType::kFloat32);
  /// Copies raw memory of exactly this dtype, row-major.
  static Tensor from_data(const Shape& shape, DType dtype, const void* data);
  template <class T> static Tensor from_vector(const Shape& shape, const std::vector<T>& v) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no contiguous memory; use from_values");
    check_count(shape, v.size());
    return from_data(shape, dtype_of<T>, v.data());
  }

  bool defined() const { return impl_ != nullptr; }
  explicit operator bool() const = delete;
  const TensorMeta& meta() const;  ///< throws ValueError when undefined
  const Shape& shape() const { return meta().shape; }
  DType dtype() const { return meta().dtype; }
  Layout layout() const { return meta().layout; }
  int rank() const { return meta().shape.rank(); }
  int64_t dim(int64_t axis) const { return meta().shape.dim(axis); }
  int64_t numel() const { return meta().shape.numel(); }
  int64_t nbytes() const { return meta().nbytes(); }
  Device device() const { return meta().device; }

  /// True for a value inside a graph that is being traced: it has a meta but no data.
  bool is_symbolic() const;
  /// False also for records that kept only the meta of an unsaved tensor.
  bool has_data() const;
  /// Host memory in physical order. Throws DTypeError when T is not the dtype, ValueError when symbolic, DeviceError for a tensor on another device:
  /// read that by item(), to_vector() or to(Device{}), which wait for the work that makes it.
  template <class T> const T* data() const {
    check_type(dtype_of<T>);
    return static_cast<const T*>(raw_data());
  }
  /// For filling a tensor just made with empty(); never write to a tensor others can see.
  template <class T> T* mutable_data() {
    check_type(dtype_of<T>);
    return static_cast<T*>(mutable_raw_data());
  }
  const void* raw_data() const;
  void* mutable_raw_data();
  /// Keeps the memory alive for a holder who may write to it past the library (NumPy, DLPack): until the handle is gone, compiled functions
  /// take no value of this memory for unchanged. ValueError for a symbolic tensor.
  std::shared_ptr<void> writable_view() const;

  /// The only element. Throws ValueError unless numel() == 1.
  double item() const;
  /// All elements in logical (row-major) order, converted to T.
  template <class T> std::vector<T> to_vector() const {
    std::vector<T> out(static_cast<size_t>(numel()));
    copy_converted(out.data(), dtype_of<T>);
    return out;
  }
  /// The same value on another device, itself where it is there already. To the host it waits for what makes the value; from the host the
  /// value has been read when it returns. Not recorded for gradients. Throws DeviceError when there is no such device, ValueError when symbolic.
  Tensor to(Device device) const;
  /// A copy with memory of its own, same device and layout.
  Tensor clone() const;
  /// The same logical values stored row-major (itself when it already is), by way of the host. Not recorded for gradients.
  Tensor contiguous() const;
  /// The same memory under another shape of equal numel. Throws ShapeError; the layout must be contiguous. Not recorded.
  Tensor view(const Shape& shape) const;

  /// Identity of the value: unique in the process, never reused.
  uint64_t id() const;
  /// NumPy-like text of the values, summarised beyond 1000 elements.
  std::string str() const;

  // For interpreters and kernels, not for users.
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<TensorImpl>& impl() const { return impl_; }

 private:
  static void check_count(const Shape& shape, size_t count);
  void check_type(DType t) const;
  void copy_converted(void* out, DType t) const;
  std::shared_ptr<TensorImpl> impl_;
};

/// The tensors on the host; those on other devices are read together, in one wait, which the timeline shows as `what`. Undefined ones stay so.
SINDRI_API std::vector<Tensor> to_host(std::span<const Tensor> tensors, const char* what = "read");
/// All elements of all of them, one after the other, in one wait.
SINDRI_API std::vector<double> read_values(std::span<const Tensor> tensors, const char* what = "read");

}  // namespace sindri
