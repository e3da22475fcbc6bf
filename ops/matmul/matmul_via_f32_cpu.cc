// matmul and batch_matmul for half types that oneDNN does not compute on this processor.
#include "src/op/via_float32.h"

namespace sindri {
namespace {

const bool kMatmul = register_via_float32("matmul"), kBatchMatmul = register_via_float32("batch_matmul");

}  // namespace
}  // namespace sindri
