// What a training ends by saying of its optimizer: how long its kinds of steps took, and what the optimizer says of itself. Not for other verbs.
#pragma once

#include <string>
#include <vector>

#include "src/app/session.h"

namespace sindri::app {

/// Times steps by the form that the optimizer gives them (Optimizer::variant): null where it has one form.
std::shared_ptr<train::Callback> make_step_forms(Session* s);
/// Records what the optimizer and the algorithms measure (Optimizer::measures, BoostAlgorithm::measures).
std::shared_ptr<train::Callback> make_measures(Session* s);
/// Draws those of the whole run, earlier processes included, to RUN/measures.png. The file, or "" where there are none. Throws IoError.
std::string write_measures_picture(const Session& s);
/// "220 steps: 10 that refresh of 11.2 ms, 210 that reuse of 3.1 ms", then Optimizer::report(). Empty where there is nothing to say.
std::vector<std::string> optimizer_lines(const Session& s);

}  // namespace sindri::app
