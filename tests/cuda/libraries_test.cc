// Where NVIDIA's libraries are searched, which versions are accepted, and the messages about the others. Each case is a separate process (library_report) with
// an environment that decides what it finds.
#include "src/device/cuda/libraries.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sindri/core/error.h"
#include "src/device/cuda/library_search.h"

namespace sindri::cuda {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kReport = SINDRI_LIBRARY_REPORT, kStandIns = SINDRI_STAND_INS;
// A linker that knows only the standard folders: no ld.so.cache, hence no toolkit, as on a machine without NVIDIA's software.
const std::string kBareLinker = "/lib64/ld-linux-x86-64.so.2 --inhibit-cache ";

struct TemporaryFolder {
  TemporaryFolder() {
    char name[] = "/tmp/sindri_cuda_XXXXXX";
    path = mkdtemp(name);
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  fs::path path;
};

// With only `environment`: "A=b C=d".
std::vector<json> run(const std::string& environment, const std::string& command) {
  FILE* const pipe = popen(("env -i " + environment + " " + command + " 2>&1").c_str(), "r");
  std::string text;
  char part[4096];
  while (const size_t n = fread(part, 1, sizeof part, pipe)) text.append(part, n);
  const int status = pclose(pipe);
  EXPECT_EQ(status, 0) << text;
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(json::parse(line, nullptr, false));
    EXPECT_FALSE(lines.back().is_discarded()) << line;
  }
  return lines;
}
json ask(Library library, const std::string& environment, const std::string& before = "") {
  return run(environment, before + kReport + " " + std::to_string(static_cast<int>(library))).at(0);
}
std::string text(const json& line, const char* key) { return line.at(key).get<std::string>(); }
bool holds(const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; }

// The libraries of this machine that the linker finds.
json installed(Library library) {
  const json found = ask(library, "");
  EXPECT_EQ(text(found, "error"), "") << "the tests need the toolkit's libraries where the linker finds them";
  return found;
}

TEST(Libraries, TheToolkitsAreFoundWithTheirVersions) {
  const std::vector<json> all = run("", kReport);
  ASSERT_EQ(all.size(), static_cast<size_t>(kLibraries));
  const std::vector<std::pair<const char*, const char*>> expected = {{"CUDA driver", "libcuda.so.1"},   {"cuDNN", "libcudnn.so.9"},
                                                                     {"cuBLASLt", "libcublasLt.so.13"}, {"cuSOLVER", "libcusolver.so.12"},
                                                                     {"NVRTC", "libnvrtc.so.13"},       {"NCCL", "libnccl.so.2"}};
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(text(all[i], "name"), expected[i].first);
    EXPECT_EQ(text(all[i], "file"), expected[i].second);
    EXPECT_FALSE(text(all[i], "lost").empty());
    EXPECT_FALSE(text(all[i], "fix").empty());
    if (i == static_cast<size_t>(Library::kDriver)) continue;  // only a machine with a GPU has a driver
    EXPECT_EQ(text(all[i], "error"), "");
    EXPECT_TRUE(fs::exists(text(all[i], "path"))) << all[i];
    EXPECT_FALSE(text(all[i], "version").empty());
  }
  EXPECT_TRUE(text(all[static_cast<size_t>(Library::kCudnn)], "version").starts_with("9."));
  EXPECT_TRUE(text(all[static_cast<size_t>(Library::kCublasLt)], "version").starts_with("13."));
  EXPECT_TRUE(text(all[static_cast<size_t>(Library::kCusolver)], "version").starts_with("12."));
  EXPECT_TRUE(text(all[static_cast<size_t>(Library::kNvrtc)], "version").starts_with("13."));
  EXPECT_TRUE(text(all[static_cast<size_t>(Library::kNccl)], "version").starts_with("2."));
}

TEST(Libraries, TheVariableComesBeforeTheLinker) {
  const json found = ask(Library::kNvrtc, "SINDRI_CUDA_LIBRARY_PATH=/nowhere:" + kStandIns + "/nvrtc_13070");
  EXPECT_EQ(text(found, "path"), kStandIns + "/nvrtc_13070/libnvrtc.so.13");
  EXPECT_EQ(text(found, "version"), "13.7");
  EXPECT_EQ(text(found, "error"), "");
}

TEST(Libraries, WhatTheProcessHasComesBeforeTheVariable) {
  const std::string loaded = kStandIns + "/nvrtc_13080/libnvrtc.so.13";
  const json found = ask(Library::kNvrtc, "LD_PRELOAD=" + loaded + " SINDRI_CUDA_LIBRARY_PATH=" + kStandIns + "/nvrtc_13070");
  EXPECT_EQ(text(found, "path"), loaded);
  EXPECT_EQ(text(found, "version"), "13.8");
}

TEST(Libraries, PythonPackagesBesideTheModuleComeLast) {
  const TemporaryFolder environment;
  const fs::path site = environment.path / "lib/python3.11/site-packages";
  fs::create_directories(site / "sindri");
  fs::create_directories(site / "nvidia/cu13/lib");
  fs::copy(kReport, site / "sindri/report");
  fs::copy(kStandIns + "/nvrtc_13080/libnvrtc.so.13", site / "nvidia/cu13/lib/libnvrtc.so.13");
  const std::string report = (site / "sindri/report").string() + " " + std::to_string(static_cast<int>(Library::kNvrtc));
  const json bare = run("", kBareLinker + report).at(0);
  EXPECT_EQ(text(bare, "path"), (site / "nvidia/cu13/lib/libnvrtc.so.13").string());
  EXPECT_EQ(text(bare, "version"), "13.8");
  // If the linker finds a library, that one is used.
  EXPECT_EQ(text(run("", report).at(0), "path"), text(installed(Library::kNvrtc), "path"));
}

TEST(Libraries, FoldersOfPythonPackages) {
  const TemporaryFolder environment;
  const fs::path site = environment.path / "lib/python3.12/site-packages", other = environment.path / "elsewhere/dist-packages";
  for (const fs::path& folder :
       {site / "nvidia/cudnn/lib", site / "nvidia/cu13/lib", site / "nvidia/none", other / "nvidia/nccl/lib", environment.path / "bin"})
    fs::create_directories(folder);
  const std::vector<std::string> both = {(site / "nvidia/cu13/lib").string(), (site / "nvidia/cudnn/lib").string()};
  EXPECT_EQ(python_library_folders((site / "sindri/libsindri_cuda.so").string()), both);  // a wheel's module
  EXPECT_EQ(python_library_folders((environment.path / "bin/python3").string()), both);  // an environment's program
  EXPECT_EQ(python_library_folders((environment.path / "lib/libsindri_cuda.so").string()), both);  // a library installed into it
  EXPECT_EQ(python_library_folders((other / "sindri/_core.so").string()), std::vector<std::string>{(other / "nvidia/nccl/lib").string()});
  EXPECT_TRUE(python_library_folders((environment.path / "share/x.so").string()).empty());
}

TEST(Libraries, AMissingOneSaysWhereItWasLookedForAndWhatIsLost) {
  const std::vector<json> lines =
      run("SINDRI_CUDA_LIBRARY_PATH=/nowhere:/neither", kBareLinker + kReport + " " + std::to_string(static_cast<int>(Library::kNvrtc)));
  const std::string error = text(lines.at(0), "error");
  EXPECT_TRUE(holds(
      error, "NVRTC: libnvrtc.so.13 was not found in SINDRI_CUDA_LIBRARY_PATH (/nowhere:/neither), in the linker's folders, or in NVIDIA's Python packages ("))
      << error;
  EXPECT_EQ(text(lines[0], "path"), "");
  // A caller that needs the library gets the three parts of an error.
  const std::string thrown = text(lines.at(1), "thrown");
  EXPECT_TRUE(holds(thrown, error)) << thrown;
  EXPECT_TRUE(holds(thrown, "without it no kernels are generated at run time")) << thrown;
  EXPECT_TRUE(holds(thrown, "pip install nvidia-cuda-nvrtc")) << thrown;
  EXPECT_EQ(lines[1].at("code").get<int>(), static_cast<int>(ErrorCode::kDevice));
  const json unset = run("", kBareLinker + kReport + " " + std::to_string(static_cast<int>(Library::kNvrtc))).at(0);
  EXPECT_TRUE(holds(text(unset, "error"), "SINDRI_CUDA_LIBRARY_PATH (not set)")) << unset;
}

TEST(Libraries, AFileThatDoesNotOpenIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "libnvrtc.so.13") << "text";
  const std::string path = (folder.path / "libnvrtc.so.13").string();
  const json found =
      run("SINDRI_CUDA_LIBRARY_PATH=" + folder.path.string(), kBareLinker + kReport + " " + std::to_string(static_cast<int>(Library::kNvrtc))).at(0);
  EXPECT_TRUE(holds(text(found, "error"), "the loader said: " + path)) << found;
}

struct WrongVersion {
  Library library;
  const char *folder, *file, *version, *error;
};

TEST(Libraries, WrongVersionsNameFileFoundAndWanted) {
  for (const WrongVersion& c : {
           WrongVersion{Library::kDriver, "cuda_12040", "libcuda.so.1", "12.4",
                        " is CUDA driver 12.4, required is 13.0 or later, below 14: driver 580 or later"},
           WrongVersion{Library::kDriver, "cuda_0", "libcuda.so.1", "",
                        " does not report its version, required is CUDA driver 13.0 or later, below 14: driver 580 or later (the toolkit's stub of"},
           WrongVersion{Library::kCudnn, "cudnn_90100", "libcudnn.so.9", "9.1.0",
                        " is cuDNN 9.1.0, required is 9.12 or later, below 10: the first for CUDA 13"},
           WrongVersion{Library::kCudnn, "cudnn_91900", "libcudnn.so.9", "9.19.0", " lacks cudnnGetErrorString, cudnnGetLastErrorString, cudnnCreate,"},
           WrongVersion{Library::kNvrtc, "nvrtc_12090", "libnvrtc.so.13", "12.9", " is NVRTC 12.9, required is 13.0 or later, below 14"},
           WrongVersion{Library::kNvrtc, "nvrtc_14000", "libnvrtc.so.13", "14.0", " is NVRTC 14.0, required is 13.0 or later, below 14"},
           WrongVersion{Library::kNvrtc, "nvrtc_broken", "libnvrtc.so.13", "13.0", " lacks nvrtcGetErrorString, nvrtcCreateProgram,"},
           WrongVersion{Library::kNccl, "nccl_21700", "libnccl.so.2", "2.17.0",
                        " is NCCL 2.17.0, required is 2.18 or later, below 3: communicators that do not block"},
       }) {
    const json found = ask(c.library, "SINDRI_CUDA_LIBRARY_PATH=" + kStandIns + "/" + c.folder);
    EXPECT_EQ(text(found, "path"), kStandIns + "/" + c.folder + "/" + c.file);
    EXPECT_EQ(text(found, "version"), c.version);
    EXPECT_TRUE(holds(text(found, "error"), c.file + std::string(c.error))) << c.folder << ": " << found;
  }
  // New enough, of the required major version.
  EXPECT_EQ(text(ask(Library::kDriver, "SINDRI_CUDA_LIBRARY_PATH=" + kStandIns + "/cuda_13020"), "error"), "");
  EXPECT_EQ(text(ask(Library::kNccl, "SINDRI_CUDA_LIBRARY_PATH=" + kStandIns + "/nccl_21805"), "error"), "");
}

TEST(Libraries, ThreadsThatAskTogetherGetOneAnswer) {
  const std::string path = "SINDRI_CUDA_LIBRARY_PATH=" + kStandIns + "/nvrtc_13070:" + kStandIns + "/cuda_13020";
  EXPECT_EQ(run(path, kReport + " --threads"), run(path, kReport));
}

TEST(Libraries, CudnnReachesItsOtherLibrariesFromItsOwnFolder) {
  // Nothing in the environment, no linker cache: only the named folder, as with a wheel of cuDNN.
  const std::string folder = fs::path(text(installed(Library::kCudnn), "path")).parent_path().string();
  const json found = run("SINDRI_CUDA_LIBRARY_PATH=" + folder, kBareLinker + kReport + " --convolution").at(0);
  EXPECT_TRUE(holds(text(found, "engine"), "engine ")) << found;
}

}  // namespace

}  // namespace sindri::cuda
