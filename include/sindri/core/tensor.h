// Tensor: a handle to a value. Ops never change the value; copies of the handle share it.
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

/// Everything known about a tensor before it is computed.
struct SINDRI_API TensorMeta {
  Shape shape;
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kContiguous;
  Device device;
  int64_t numel() const { return shape.numel(); }  ///< number of elements
  int64_t nbytes() const { return shape.numel() * static_cast<int64_t>(dtype_size(dtype)); }  ///< bytes of the elements
  /// "f32[256, 64, 56, 56]", followed by ":channels_last" if that is the layout.
  std::string str() const;
  bool operator==(const TensorMeta& o) const = default;
};

struct TensorImpl;  // src/core/tensor_impl.h

/// An array of one element type on one device. Copies of a Tensor share the array; ops return new ones (MindSpore:
/// mindspore.Tensor).
class SINDRI_API Tensor {
 public:
  Tensor() = default;  ///< undefined; defined() is false

  /// Uninitialised host memory, for the caller to fill. Throws ShapeError for a negative dimension or channels_last of a rank
  /// other than 4, and DeviceError (kMemory) if memory runs out.
  static Tensor empty(const Shape& shape, DType dtype = DType::kFloat32, Layout layout = Layout::kContiguous);
  /// Uninitialised memory of the device in `meta`. Throws the same errors.
  static Tensor empty(const TensorMeta& meta);
  // The following functions make tensors from values, on current_device().
  /// A tensor of zeros.
  static Tensor zeros(const Shape& shape, DType dtype = DType::kFloat32);
  /// A tensor with every element `value`, converted to `dtype`.
  static Tensor full(const Shape& shape, double value, DType dtype = DType::kFloat32);
  /// A tensor of rank 0 with this value.
  static Tensor scalar(double value, DType dtype = DType::kFloat32) { return full({}, value, dtype); }
  /// Copies `values` (row-major) and converts them to `dtype`. Throws ShapeError if the counts differ.
  static Tensor from_values(const Shape& shape, const std::vector<double>& values, DType dtype = DType::kFloat32);
  /// Copies raw memory with elements of type `dtype`, row-major.
  static Tensor from_data(const Shape& shape, DType dtype, const void* data);
  /// Copies the elements (row-major) without conversion. Throws ShapeError if the counts differ.
  template <class T> static Tensor from_vector(const Shape& shape, const std::vector<T>& v) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no contiguous memory; use from_values");
    check_count(shape, v.size());
    return from_data(shape, dtype_of<T>, v.data());
  }

  bool defined() const { return impl_ != nullptr; }  ///< false if default-constructed
  explicit operator bool() const = delete;
  const TensorMeta& meta() const;  ///< throws ValueError if undefined
  const Shape& shape() const { return meta().shape; }
  DType dtype() const { return meta().dtype; }
  Layout layout() const { return meta().layout; }
  int rank() const { return meta().shape.rank(); }  ///< number of dimensions
  /// Dimension `axis`; negative counts from the end. Throws ValueError if out of range.
  int64_t dim(int64_t axis) const { return meta().shape.dim(axis); }
  int64_t numel() const { return meta().shape.numel(); }  ///< number of elements
  int64_t nbytes() const { return meta().nbytes(); }  ///< bytes of the elements
  Device device() const { return meta().device; }

  /// True for a value of a graph being traced: it has a meta but no data.
  bool is_symbolic() const;
  /// Whether there is data. False for a symbolic tensor, and for a tensor whose meta alone was kept by a tape.
  bool has_data() const;
  /// Host memory in physical order. Throws DTypeError if T is not the dtype, ValueError if symbolic, and DeviceError for a tensor
  /// on another device. Read such a tensor with item(), to_vector() or to(Device{}), which wait for the work that computes it.
  template <class T> const T* data() const {
    check_type(dtype_of<T>);
    return static_cast<const T*>(raw_data());
  }
  /// For filling a tensor just made with empty(). Never write to a tensor that others can see.
  template <class T> T* mutable_data() {
    check_type(dtype_of<T>);
    return static_cast<T*>(mutable_raw_data());
  }
  /// As data() and mutable_data(), without a type.
  const void* raw_data() const;
  void* mutable_raw_data();
  /// Keeps the memory alive for a holder that may write to it outside the library (NumPy, DLPack). Until the handle is released,
  /// compiled functions do not rely on values in this memory staying unchanged. Throws ValueError for a symbolic tensor.
  std::shared_ptr<void> writable_view() const;

  /// The only element. Throws ValueError unless numel() == 1.
  double item() const;
  /// All elements in logical (row-major) order, converted to T.
  template <class T> std::vector<T> to_vector() const {
    std::vector<T> out(static_cast<size_t>(numel()));
    copy_converted(out.data(), dtype_of<T>);
    return out;
  }
  /// The same value on another device; the tensor itself if it is already there. A copy to the host waits for the work that
  /// computes the value. A copy from the host has finished reading the host memory when the function returns. Not recorded for
  /// gradients. Throws DeviceError if the device does not exist, ValueError if symbolic.
  Tensor to(Device device) const;
  /// A copy with separate memory, on the same device and in the same layout.
  Tensor clone() const;
  /// The same logical values stored row-major; the tensor itself if it already is. On other devices the data travels through the
  /// host. Not recorded for gradients.
  Tensor contiguous() const;
  /// The same memory with another shape of equal numel. Throws ShapeError if the counts differ, ValueError unless the layout is
  /// contiguous. Not recorded for gradients.
  Tensor view(const Shape& shape) const;

  /// Identity of the value: unique in the process, never reused. 0 if undefined.
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

/// Returns the tensors on the host. Tensors on other devices are copied together with a single synchronisation, which the
/// timeline shows as `what`. Undefined tensors stay undefined.
SINDRI_API std::vector<Tensor> to_host(std::span<const Tensor> tensors, const char* what = "read");
/// All elements of all tensors, concatenated and copied with a single synchronisation.
SINDRI_API std::vector<double> read_values(std::span<const Tensor> tensors, const char* what = "read");

}  // namespace sindri
