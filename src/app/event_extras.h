// The parts of a run's event file other than curves: the settings as text, samples and the final plot as images, histograms of the weights. Values of steps and
// epochs are recorded by recorder.cc, and train/event_file.h defines the file format.
#pragma once

#include <cstdint>

namespace sindri::app {

struct Session;

/// Writes settings, net and data as text, at step 0.
void record_texts(Session* s);
/// Writes up to 16 samples of the evaluation data as one image, tag "images/evaluation", at the last completed step.
void record_samples(Session* s);
/// Writes the distribution of every parameter, tags "weights/NAME", at the last completed step.
void record_histograms(Session* s);
/// Writes the run's plot, tag "report".
void record_plot(Session* s);

}  // namespace sindri::app
