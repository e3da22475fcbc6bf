// Kinds of datasets by name, for settings files and programs: what a dataset is, and how its images are prepared for a
// network.
//
//   // next to the dataset, in Sindri or in your library
//   const auto& kCells = dataset::kinds().add({
//       .name = "cells",
//       .doc = "cells under the microscope, 48x48, grey; a folder with cells.npy and labels.npy",
//       .facts = {.channels = 1, .side = 48, .mean = {0.31}, .std = {0.2}},
//       .make = [](const dataset::DataPart& part, const SettingValues&) -> dataset::Dataset::Ptr { … },
//   });
#pragma once
#include <string>
#include <vector>

#include "sindri/core/registry.h"
#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

/// The part of a dataset that is requested, in addition to its settings.
struct DataPart {
  std::string path = {};  ///< folder or file
  bool train = true;  ///< training data; false: evaluation data
  bool shuffle = false;  ///< reads the rows in random order
};

/// Facts about a kind of data before it is read: channels, size and statistics of its images.
struct KindFacts {
  int64_t channels = 3;
  int64_t side = 0;  ///< height and width of every image; 0: they vary
  int64_t num_classes = 0;  ///< used if Dataset::num_classes is unset; 0: unknown
  double largest = 255;  ///< the largest pixel value
  /// Mean and standard deviation of pixels scaled to 0..1, one number or one per channel. Empty: those of CIFAR-10 for
  /// networks with images of at most 64 pixels, else those of ImageNet.
  std::vector<double> mean = {}, std = {};
  bool augment = true;  ///< a crop or a flip of an image keeps its class
  bool encoded = false;  ///< images are the bytes of image files
  bool needs_path = true;  ///< false: an empty path selects the kind's default location
};

/// Makes a dataset with the columns "image" (uint8 [H, W, C], or the bytes of a file) and "label" (an integer from 0).
using MakeData = Dataset::Ptr(const DataPart& part, const SettingValues& settings);

/// Registered kinds: "cifar10", "imagefolder", …. Each file of dataset/sources/ adds its own.
SINDRI_API Registry<MakeData, KindFacts>& kinds();
/// Name of the registered kind that reads what find_data found.
SINDRI_API const char* kind_of(const FoundData& found);

}  // namespace sindri::dataset
