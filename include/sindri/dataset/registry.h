// The kinds of data sets by name, for settings files and programs: what a data set is, and how its images are made ready for a network.
//
//   // beside the data set, here or in a user's library
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

/// What of a data set is asked for, besides its own settings.
struct DataPart {
  std::string path = {};  ///< folder or file
  bool train = true;  ///< what is trained on, or what is evaluated with
  bool shuffle = false;
};

/// What is known of a kind of data before it is read: channels, size and statistics of its images.
struct KindFacts {
  int64_t channels = 3;
  int64_t side = 0;  ///< height and width of every image; 0: they differ
  int64_t num_classes = 0;  ///< where Dataset::num_classes does not tell; 0: not known
  double largest = 255;  ///< the largest pixel value
  std::vector<double> mean = {}, std = {};  ///< of pixels scaled to 0..1, one number or one per channel; empty: as photographs of the net's size have
  bool augment = true;  ///< a crop or a flip of an image is an image of its class
  bool encoded = false;  ///< images are the bytes of image files
  bool needs_path = true;  ///< false: an empty path stands for a place of its own
};

/// Columns "image" (uint8 [H, W, C], or the bytes of a file) and "label" (a whole number from 0).
using MakeData = Dataset::Ptr(const DataPart& part, const SettingValues& settings);

/// "cifar10", "imagefolder", …: each file of dataset/sources/ adds its own.
SINDRI_API Registry<MakeData, KindFacts>& kinds();
/// The name that what find_data found has among them.
SINDRI_API const char* kind_of(const FoundData& found);

}  // namespace sindri::dataset
