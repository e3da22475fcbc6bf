// Mixed precision: which ops run in a half type, decided while a network runs (MindSpore: amp levels O0 to O3).
//
//   amp::AmpScope scope({.level = amp::Level::kO2});
//   Tensor y = net(x);       // casts are inserted where ops are bound; parameters stay float32
//
// The casts are ops: a tape under the scope records them, so the gradient of a float32 parameter is float32.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri::amp {

/// kO0: nothing is cast. kO1: matrix products and convolutions in half, softmax, norms and losses in float32, other ops at the widest
/// of their inputs. kO2: everything in half except softmax, layer norm and losses; batch norm reads and writes half activations
/// beside float32 parameters and statistics. kO3: batch norm's parameters too.
enum class Level : uint8_t { kO0, kO1, kO2, kO3 };

/// "O0" … "O3". parse_level throws ValueError for other text, and for levels that mark Cells: find_policy (policy.h) has their options.
SINDRI_API const char* level_name(Level level);
SINDRI_API Level parse_level(const std::string& text);
/// "bf16", "bfloat16", "f16" or "float16". Throws ValueError for other text.
SINDRI_API DType parse_half(const std::string& text);

/// How much of a network runs in half precision, and what stays out of it.
struct Options {
  Level level = Level::kO0;
  DType dtype = DType::kBFloat16;  ///< the half type: bfloat16 or float16
  std::optional<bool> keep_batchnorm_fp32 = {};  ///< unset: true, at O3 false. False needs O2 or O3.
  /// Names of ops ("matmul") or classes of Cells ("Dense") that run in half (white) or in float32 (black) whatever the level says. A
  /// Cell's entry covers all that runs inside it; the innermost Cell named holds. At O0 only the white list has a meaning.
  std::vector<std::string> white_list = {}, black_list = {};
  /// The level marks Cells, as MindSpore's do: what runs in a marked Cell has one type, whatever the op. At O1 those are the Cells of the white
  /// list, whose outputs are float32 again; from O2 on all but those of the black list, which run in float32 between half activations. Both lists
  /// hold classes of Cells, and of Cells that lie in each other the outermost one counts. policy.h has them as "cells_O1" … "cells_O3".
  bool by_cells = false;

  bool active() const { return level != Level::kO0 || !white_list.empty(); }
  bool keeps_batchnorm() const { return keep_batchnorm_fp32.value_or(level != Level::kO3); }
};

/// Throws DTypeError for a dtype that is no half type; ValueError for keep_batchnorm_fp32=false below O2, a black list at O0, a name in
/// both lists, and a name that is neither an op nor one of `cell_classes`.
SINDRI_API void check(const Options& options, const std::vector<std::string>& cell_classes);

/// While it lives, ops on this thread are cast as the options say. Inside another AmpScope it replaces that one's options.
class SINDRI_API AmpScope {
 public:
  explicit AmpScope(const Options& options);
  ~AmpScope();
  AmpScope(const AmpScope&) = delete;
  AmpScope& operator=(const AmpScope&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// While it lives, nothing is cast on this thread: for losses, and for state that must keep its precision (moving averages).
class SINDRI_API FullPrecisionScope {
 public:
  FullPrecisionScope();
  ~FullPrecisionScope();
  FullPrecisionScope(const FullPrecisionScope&) = delete;
  FullPrecisionScope& operator=(const FullPrecisionScope&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a Cell adds while it is constructed: its type set with to_float, or the entry of its class in the lists in force.
class SINDRI_API CellScope {
 public:
  CellScope(const std::string& cell_class, std::optional<DType> to_float);
  ~CellScope();
  CellScope(const CellScope&) = delete;
  CellScope& operator=(const CellScope&) = delete;
  /// The type that the Cell's floating outputs are to be given, where a level that marks Cells says so.
  std::optional<DType> output() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A function that puts what is cast on this thread now in force again, as long as the object it returns lives: for a forward pass that
/// is repeated after its scopes have ended.
SINDRI_API std::function<std::shared_ptr<void>()> capture();

/// Says that `t` is the result of a cast the user wrote: ops of the Cell in force (to_float) then read it in its type instead of casting it
/// to the Cell's, and so what they give, until a Cell casts its inputs. Without a Cell's type in force it does nothing.
SINDRI_API void hold_type(const Tensor& t);
/// Whether hold_type does anything (the default); off, every op of a Cell casts, as MindSpore 1 has it. For the whole process.
SINDRI_API void set_casts_hold(bool on);
/// True while casts are inserted on this thread.
SINDRI_API bool is_casting();
/// `t` in `dtype` if it is bfloat16, float16 or float32, else `t`. Recorded, and not subject to the scopes above.
SINDRI_API Tensor cast_floating(const Tensor& t, DType dtype);

}  // namespace sindri::amp
