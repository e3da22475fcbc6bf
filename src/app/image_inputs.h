// What predict is given to look at: files, folders, patterns, and bytes from the standard input.
#pragma once

#include <string>
#include <vector>

namespace sindri::app {

struct ImageInput {
  std::string name;  // as shown: its path, "-" for the standard input
  std::string bytes = {};  // of the standard input; empty for files, which are read when it is their turn
  bool is_file() const { return name != "-"; }
};

/// One for every image, in the order given. A folder stands for the images that lie in it, by name; a pattern ("photos/*.jpg", which a shell has not
/// filled in) for the files and folders it means, sorted; "-" for the bytes of one image on the standard input. Throws DataError where one of them is not
/// there or has no images.
std::vector<ImageInput> image_inputs(const std::vector<std::string>& arguments);

}  // namespace sindri::app
