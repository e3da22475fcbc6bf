// Mixed precision: which ops run in a half type. This is decided while a network runs (MindSpore: amp levels O0 to O3).
//
//   amp::AmpScope scope({.level = amp::Level::kO2});
//   Tensor y = net(x);       // casts are inserted where ops are bound; parameters stay float32
//
// The casts are ops. A tape under the scope records them, so the gradient of a float32 parameter is float32.
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

/// How many ops run in half precision. kO0: none; nothing is cast. kO1: matrix products and convolutions run in half,
/// softmax, norms and losses in float32, other ops in the widest type of their inputs. kO2: everything runs in half
/// except softmax, layer norm and losses; batch norm reads and writes half activations with float32 parameters and
/// statistics. kO3: as kO2, with batch norm's parameters in half.
enum class Level : uint8_t { kO0, kO1, kO2, kO3 };

/// Name of a level: "O0" … "O3".
SINDRI_API const char* level_name(Level level);
/// Level of a name. Throws ValueError for any other text, and for the names of levels that mark Cells ("cells_O2"): get
/// their options from find_policy (policy.h).
SINDRI_API Level parse_level(const std::string& text);
/// Half type of "bf16", "bfloat16", "f16" or "float16". Throws ValueError for other text.
SINDRI_API DType parse_half(const std::string& text);

/// Which parts of a network run in half precision.
struct Options {
  Level level = Level::kO0;
  DType dtype = DType::kBFloat16;  ///< the half type: bfloat16 or float16
  std::optional<bool> keep_batchnorm_fp32 = {};  ///< unset: true, but false at O3. false needs O2 or O3
  /// Names of ops ("matmul") or classes of Cells ("Dense") that run in half (white) or in float32 (black) whatever the
  /// level. The entry of a Cell covers everything that runs inside it; the innermost listed Cell decides. At O0 only
  /// the white list has an effect.
  std::vector<std::string> white_list = {}, black_list = {};
  /// The level marks Cells, as MindSpore's levels do: everything that runs in a marked Cell has one type, whatever the
  /// op. O1 marks the Cells of the white list, whose outputs are float32 again. From O2 on all Cells are marked except
  /// those of the black list, which run in float32 between half activations. Both lists hold classes of Cells; of
  /// nested Cells the outermost decides. In policy.h these are "cells_O1" … "cells_O3".
  bool by_cells = false;

  /// Whether anything is cast.
  bool active() const { return level != Level::kO0 || !white_list.empty(); }
  /// Whether batch norm's parameters stay float32.
  bool keeps_batchnorm() const { return keep_batchnorm_fp32.value_or(level != Level::kO3); }
};

/// Throws DTypeError for a dtype that is not a half type. Throws ValueError for keep_batchnorm_fp32=false below O2, a
/// black list at O0, a name in both lists, and a name that is neither an op nor one of `cell_classes`.
SINDRI_API void check(const Options& options, const std::vector<std::string>& cell_classes);

/// Casts ops on this thread as the options say, during its lifetime. Inside another AmpScope it replaces that scope's
/// options.
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

/// Disables casts on this thread during its lifetime. Used for losses, and for state that must keep its precision
/// (moving averages).
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

/// Applies a Cell's type while the Cell runs: the type set with to_float, or the type that the lists in force give to
/// its class.
class SINDRI_API CellScope {
 public:
  CellScope(const std::string& cell_class, std::optional<DType> to_float);
  ~CellScope();
  CellScope(const CellScope&) = delete;
  CellScope& operator=(const CellScope&) = delete;
  /// Type to which the Cell's floating outputs are cast, if a level that marks Cells requires it.
  std::optional<DType> output() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns a function that restores the casts now in force on this thread, for the lifetime of the object that it
/// returns. Used by a forward pass that is repeated after its scopes have ended.
SINDRI_API std::function<std::shared_ptr<void>()> capture();

/// Marks `t` as the result of a cast that the user wrote. In a Cell with its own type (to_float), an op that reads `t`
/// then runs in the widest type of its inputs, not in the Cell's type. The results of such ops are marked as well,
/// until a Cell casts its inputs. Outside of Cells with their own type the mark has no effect.
SINDRI_API void hold_type(const Tensor& t);
/// Turns hold_type on (the default) or off for the whole process. Off, every op of a Cell casts, as in MindSpore 1.
SINDRI_API void set_casts_hold(bool on);
/// Whether casts are inserted on this thread.
SINDRI_API bool is_casting();
/// Casts `t` to `dtype` if it is bfloat16, float16 or float32, else returns it unchanged. The cast is recorded and
/// ignores the scopes above.
SINDRI_API Tensor cast_floating(const Tensor& t, DType dtype);

}  // namespace sindri::amp
