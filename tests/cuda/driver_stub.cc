// Before cuDNN is opened: the toolkit's stub stands for the driver, also where the program is started by hand. A variable that is set stays.
#include <cstdlib>

namespace {
const bool kSet = setenv("SINDRI_CUDA_LIBRARY_PATH", SINDRI_DRIVER_STUB, 0) == 0;
}
