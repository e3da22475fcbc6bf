// The inputs of predict: files, folders, patterns, and bytes from standard input.
#pragma once

#include <string>
#include <vector>

namespace sindri::app {

struct ImageInput {
  std::string name;  // as printed: its path, "-" for standard input
  std::string bytes = {};  // from standard input; empty for files, which are read when they are due
  bool is_file() const { return name != "-"; }
};

/// Returns one entry per image, in the order given. A folder stands for the images directly in it, by name. A pattern ("photos/*.jpg", not expanded by a shell)
/// stands for the files and folders that it matches, sorted. "-" stands for the bytes of one image on standard input. Throws DataError if one of them does not
/// exist or has no images.
std::vector<ImageInput> image_inputs(const std::vector<std::string>& arguments);

}  // namespace sindri::app
