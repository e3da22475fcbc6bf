// What the verbs summary and doctor find, for programs: the same as their --json.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sindri/app/settings.h"
#include "sindri/core/shape.h"
#include "sindri/export.h"

namespace sindri::app {

/// A Cell of a net.
struct CellSummary {
  std::string name;  ///< with those it lies in, as in checkpoints ("layer1.0.conv1"); empty: the net
  std::string kind;  ///< its class
  std::string output;  ///< shape of what it gives for one sample; empty where it is not called
  int64_t parameters = 0;  ///< elements, of Cells within included
  int64_t multiply_adds = 0;  ///< of convolutions and matrix products for one sample, of Cells within included
};
/// A network's layers, parameters and multiply-adds, as `sindri summary` shows them.
struct NetSummary {
  std::string net, input;  ///< name, and shape of a sample
  std::vector<CellSummary> cells;  ///< outermost first, in the order of the net
  int64_t parameters = 0, buffers = 0, multiply_adds = 0;
};
/// Nothing is computed: the net is called with shapes alone. Throws ValueError for an unknown net, SettingsError.
SINDRI_API NetSummary summarize(const std::string& net, const Settings& settings);
/// As JSON, with a newline.
SINDRI_API std::string summary_json(const NetSummary& s);

/// Names and shapes of the weights that a training with these settings trains, in the network's order. Throws SettingsError where the number of classes is left
/// to the data.
SINDRI_API std::vector<std::pair<std::string, Shape>> trained_weights(const Settings& settings);

/// One thing that doctor looked at.
struct Finding {
  enum Verdict { kFact, kOk, kWarn, kFail };
  Verdict verdict = kFact;
  std::string name, text;
  std::string fix = {};  ///< what to do; of warnings and failures always there
};
/// What `sindri doctor` found on this machine.
struct SINDRI_API DoctorReport {
  std::vector<Finding> findings;
  Finding::Verdict verdict() const;  ///< the worst of them; kOk when there is nothing to complain about
};
/// Looks at processor, memory, disk, limits, devices and data as a training on this machine would find them. Changes nothing: what can be written is found
/// by asking, not by writing.
SINDRI_API DoctorReport examine();
/// A line for each finding with its verdict in front, the fix below it, and a line that counts them.
SINDRI_API std::string doctor_text(const DoctorReport& r);
SINDRI_API std::string doctor_json(const DoctorReport& r);

}  // namespace sindri::app
