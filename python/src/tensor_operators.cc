// Operators and comparisons of Tensor, as slots of its type: Python calls them without looking up `__add__` and without a dispatcher.
#include "python/src/op_function.h"
#include "python/src/tensor_object.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"

namespace sindri::python {

namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

// Converts an operand. Returns false if it cannot become a tensor: Python then tries the other operand.
bool operand(py::handle h, const Tensor& other, Tensor* out, bool compared) {
  if (PyTensor* t = tensor_of(h)) {
    *out = t->value();
    return true;
  }
  if (const NumberKind kind = number_kind(h); kind != NumberKind::kNone) {
    *out = compared ? number_compared(other, h, kind) : number_next_to(other, h, kind);
    return true;
  }
  if (PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()) || py::isinstance<py::array>(h)) {
    *out = to_tensor(h);
    return true;
  }
  return false;
}

int type_kind(DType t) { return is_floating(t) ? 2 : t == DType::kBool ? 0 : 1; }

// Returns f(a, b), with a 0-d operand cast to the other's type unless the other's kind is lower.
template <class F> Tensor with_kept_type(const Tensor& a, const Tensor& b, F&& f) {
  if (a.dtype() == b.dtype() || (a.rank() == 0) == (b.rank() == 0)) return f(a, b);
  if (a.rank() == 0) return type_kind(a.dtype()) > type_kind(b.dtype()) ? f(a, b) : f(ops::cast(a, b.dtype()), b);
  return type_kind(b.dtype()) > type_kind(a.dtype()) ? f(a, b) : f(a, ops::cast(b, a.dtype()));
}

PyObject* not_implemented() {
  Py_INCREF(Py_NotImplemented);
  return Py_NotImplemented;
}

template <Binary F> PyObject* run(const Tensor& a, const Tensor& b) {
  return to_python(without_lock(a.numel() + b.numel(), [&] { return F(a, b); })).release().ptr();
}

// left F right; at least one of them is a Tensor.
template <Binary F, bool compared = false> PyObject* binary(PyObject* left, PyObject* right) {
  return guarded([&] {
    if (PyTensor* self = tensor_of(left)) {
      const Tensor a = self->value();
      Tensor b;
      return operand(right, a, &b, compared) ? run<F>(a, b) : not_implemented();
    }
    const Tensor b = tensor_of(right)->value();
    Tensor a;
    return operand(left, b, &a, compared) ? run<F>(a, b) : not_implemented();
  });
}

template <Unary F> PyObject* unary(PyObject* self) {
  return guarded([&] {
    const Tensor a = reinterpret_cast<PyTensor*>(self)->value();
    return to_python(without_lock(a.numel(), [&] { return F(a); })).release().ptr();
  });
}

// bool - bool is true if they differ, as in MindSpore; the op supports numbers only.
Tensor difference(const Tensor& a, const Tensor& b) { return a.dtype() == DType::kBool && b.dtype() == DType::kBool ? ops::not_equal(a, b) : ops::sub(a, b); }

// ~x: negates bools, and the bits of integers.
Tensor invert(const Tensor& x) {
  if (x.dtype() == DType::kBool) return ops::logical_not(x);
  return ops::bitwise_xor(x, is_floating(x.dtype()) ? x : ops::full({}, x.dtype() == DType::kUInt8 ? 255 : -1, x.dtype()));
}

PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) { return modulus == Py_None ? binary<ops::pow>(base, exponent) : not_implemented(); }

PyObject* positive(PyObject* self) {
  Py_INCREF(self);
  return self;
}

Tensor matrix_product(const Tensor& a, const Tensor& b) {
  if (a.rank() == 2 && b.rank() == 2) return ops::matmul(a, b);
  const Tensor left = a.rank() == 1 ? ops::expand_dims(a, 0) : a, right = b.rank() == 1 ? ops::expand_dims(b, 1) : b;
  Tensor out = ops::batch_matmul(left, right);
  if (b.rank() == 1) out = ops::squeeze(out, -1);
  if (a.rank() == 1) out = ops::squeeze(out, b.rank() == 1 ? -1 : -2);
  return out;
}

// A number is not a matrix: Python's TypeError names both types.
PyObject* matrix_multiply(PyObject* left, PyObject* right) {
  if (number_kind(left) != NumberKind::kNone || number_kind(right) != NumberKind::kNone) return not_implemented();
  return binary<matrix_product>(left, right);
}

PyObject* compare(PyObject* self, PyObject* other, int op) {
  switch (op) {
    case Py_EQ: return binary<ops::equal, true>(self, other);
    case Py_NE: return binary<ops::not_equal, true>(self, other);
    case Py_LT: return binary<ops::less, true>(self, other);
    case Py_LE: return binary<ops::less_equal, true>(self, other);
    case Py_GT: return binary<ops::greater, true>(self, other);
    default: return binary<ops::greater_equal, true>(self, other);
  }
}

// Comparisons return tensors, so a Tensor used as a key is hashed by identity (contract 3.1).
Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(self) >> 4); }

template <class F> void* slot(F f) { return reinterpret_cast<void*>(f); }

}  // namespace

Tensor product_of(const Tensor& a, const Tensor& b) {
  return with_kept_type(a, b, [](const Tensor& x, const Tensor& y) { return ops::mul(x, y); });
}
Tensor quotient_of(const Tensor& a, const Tensor& b) {
  // Integers divide to float32 in any case. A number divided with them is not cast to their type, which may be unable to hold it.
  if (!is_floating(a.dtype()) && !is_floating(b.dtype())) return ops::div(a, b);
  return with_kept_type(a, b, [](const Tensor& x, const Tensor& y) { return ops::div(x, y); });
}

std::vector<PyType_Slot> operator_slots() {
  constexpr Binary add = ops::add;
  return {
      {Py_nb_add, slot(binary<add>)},
      {Py_nb_subtract, slot(binary<difference>)},
      {Py_nb_multiply, slot(binary<product_of>)},
      {Py_nb_true_divide, slot(binary<quotient_of, true>)},
      {Py_nb_floor_divide, slot(binary<ops::floor_div>)},
      {Py_nb_remainder, slot(binary<ops::mod>)},
      {Py_nb_power, slot(power)},
      {Py_nb_matrix_multiply, slot(matrix_multiply)},
      {Py_nb_and, slot(binary<ops::bitwise_and>)},
      {Py_nb_or, slot(binary<ops::bitwise_or>)},
      {Py_nb_xor, slot(binary<ops::bitwise_xor>)},
      {Py_nb_invert, slot(unary<invert>)},
      {Py_nb_negative, slot(unary<ops::neg>)},
      {Py_nb_absolute, slot(unary<ops::abs>)},
      {Py_nb_positive, slot(positive)},
      {Py_tp_richcompare, slot(compare)},
      {Py_tp_hash, slot(hash)},
  };
}

}  // namespace sindri::python
