// Sets the toolkit's stub as the driver before cuDNN is opened, also if the program is started by hand. A variable that is already set is kept.
#include <cstdlib>

namespace {
const bool kSet = setenv("SINDRI_CUDA_LIBRARY_PATH", SINDRI_DRIVER_STUB, 0) == 0;
}
