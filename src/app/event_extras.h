// What a run's event file holds beside curves: the settings as text, samples and the finished picture as images, histograms of the weights. Not the numbers of
// steps and epochs (recorder.cc), nor the file format (train/event_file.h).
#pragma once

#include <cstdint>

namespace sindri::app {

struct Session;

/// Settings, net and data as text, at step 0.
void record_texts(Session* s);
/// Up to 16 samples of the evaluation data as one image, tag "images/evaluation", at the step done last.
void record_samples(Session* s);
/// The distribution of every parameter, tags "weights/NAME", at the step done last.
void record_histograms(Session* s);
/// The run's picture, tag "report".
void record_picture(Session* s);

}  // namespace sindri::app
