// Results of the verbs summary and doctor for programs; the same as their --json output.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sindri/app/settings.h"
#include "sindri/core/shape.h"
#include "sindri/export.h"

namespace sindri::app {

/// A Cell of a network.
struct CellSummary {
  std::string name;  ///< path as in checkpoints ("layer1.0.conv1"); empty: the network
  std::string kind;  ///< its class
  std::string output;  ///< shape of its output for one sample; empty if it is not called
  int64_t parameters = 0;  ///< elements, including inner Cells
  int64_t multiply_adds = 0;  ///< of convolutions and matrix products for one sample, including inner Cells
};
/// A network's layers, parameters and multiply-adds, as `sindri summary` shows them.
struct NetSummary {
  std::string net, input;  ///< name, and shape of a sample
  std::vector<CellSummary> cells;  ///< outermost first, in the network's order
  int64_t parameters = 0, buffers = 0, multiply_adds = 0;
};
/// Summarises a network by calling it with shapes only; nothing is computed. Throws ValueError for an unknown network, and
/// SettingsError.
SINDRI_API NetSummary summarize(const std::string& net, const Settings& settings);
/// The summary as JSON, with a newline.
SINDRI_API std::string summary_json(const NetSummary& s);

/// Names and shapes of the weights that a run with these settings trains, in the network's order. Throws SettingsError if the
/// number of classes is to be read from the data.
SINDRI_API std::vector<std::pair<std::string, Shape>> trained_weights(const Settings& settings);

/// One result of `sindri doctor`.
struct Finding {
  enum Verdict { kFact, kOk, kWarn, kFail };  ///< from a plain fact to a failure
  Verdict verdict = kFact;
  std::string name, text;  ///< subject and result
  std::string fix = {};  ///< what to do; always set for warnings and failures
};
/// Results of `sindri doctor` on this machine.
struct SINDRI_API DoctorReport {
  std::vector<Finding> findings;
  Finding::Verdict verdict() const;  ///< the worst verdict; kOk if nothing is wrong
};
/// Examines processor, memory, disk, limits, devices and data as a training run on this machine would find them. Changes nothing:
/// it queries permissions instead of writing files.
SINDRI_API DoctorReport examine();
/// A line for each finding, preceded by its verdict and followed by the fix, and a line with the counts.
SINDRI_API std::string doctor_text(const DoctorReport& r);
/// The report as JSON.
SINDRI_API std::string doctor_json(const DoctorReport& r);

}  // namespace sindri::app
