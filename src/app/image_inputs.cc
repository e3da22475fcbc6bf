// See image_inputs.h.
#include "src/app/image_inputs.h"

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sindri/core/error.h"

namespace sindri::app {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
constexpr const char* kSuffixes[] = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"};
constexpr const char* kSuffixFix = "images end in .jpg .jpeg .png .bmp .webp .tif or .tiff";

ImageInput standard_input() {
  if (isatty(STDIN_FILENO) != 0)
    throw DataError(ErrorCode::kDataMissing, "the standard input is a terminal, not an image", "-", "sindri predict --checkpoint FILE - < photo.jpg");
  ImageInput in{.name = "-"};
  char block[1 << 16];
  for (;;) {
    const ssize_t n = read(STDIN_FILENO, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw IoError(fmt::format("cannot read the standard input: {}", std::strerror(errno)), "-", "give the image as a file");
    if (n == 0) break;
    in.bytes.append(block, static_cast<size_t>(n));
    if (in.bytes.size() > kMostBytes) throw DataError(ErrorCode::kDataCorrupt, "the standard input holds more than 1 GiB", "-", "give one image");
  }
  if (in.bytes.empty()) throw DataError(ErrorCode::kDataEmpty, "the standard input is empty", "-", "sindri predict --checkpoint FILE - < photo.jpg");
  return in;
}

void add_folder(const std::string& path, std::vector<ImageInput>* out) {
  std::vector<std::string> inside;
  bool folders = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    std::string suffix = entry.path().extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool image = std::find(std::begin(kSuffixes), std::end(kSuffixes), suffix) != std::end(kSuffixes);
    if (image && entry.is_regular_file(error)) inside.push_back(entry.path().string());
    folders = folders || entry.is_directory(error);
  }
  if (error) throw IoError(fmt::format("cannot list the folder: {}", error.message()), path, "check its permissions");
  if (inside.empty())
    throw DataError(ErrorCode::kDataEmpty, fmt::format("no images directly in {}", path), path,
                    folders ? fmt::format("for those in the folders inside: '{}/*'", path) : kSuffixFix);
  std::sort(inside.begin(), inside.end());
  for (std::string& file : inside) out->push_back({.name = std::move(file)});
}

void add_path(const std::string& path, std::vector<ImageInput>* out) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw DataError(ErrorCode::kDataMissing, fmt::format("{} does not exist", path), path, "check the path");
  if (fs::is_regular_file(status)) out->push_back({.name = path});
  else if (fs::is_directory(status)) add_folder(path, out);
  else throw DataError(ErrorCode::kDataMissing, fmt::format("{} is neither a file nor a folder", path), path, "give image files");
}

bool add_pattern(const std::string& pattern, std::vector<ImageInput>* out) {
  glob_t found{};
  const int result = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths;
  for (size_t i = 0; result == 0 && i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  for (const std::string& path : paths) add_path(path, out);
  return !paths.empty();
}

}  // namespace

std::vector<ImageInput> image_inputs(const std::vector<std::string>& arguments) {
  std::vector<ImageInput> out;
  bool has_stdin = false;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (argument == "-") {
      if (has_stdin) throw DataError(ErrorCode::kDataMissing, "the standard input is named twice", "-", "name it once");
      has_stdin = true;
      out.push_back(standard_input());
    } else if (fs::exists(argument, error) || argument.find_first_of("*?[") == std::string::npos) {
      add_path(argument, &out);
    } else if (!add_pattern(argument, &out)) {
      throw DataError(ErrorCode::kDataMissing, fmt::format("nothing matches the pattern {}", argument), argument, "check the folder and the pattern");
    }
  }
  return out;
}

}  // namespace sindri::app
