#include "casters.h"
namespace sindri::python { void bind_dataset(py::module_&) {} }
