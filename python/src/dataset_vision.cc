// sindri._core.dataset: the image transforms of augment.h. Names, defaults and argument checks are in python/sindri/dataset/vision.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "python/src/casters.h"
#include "python/src/dataset_values.h"
#include "sindri/dataset/augment.h"
#include "sindri/dataset/image_files.h"
#include "sindri/dataset/seekable.h"

namespace sindri::python {

namespace {

namespace pixels = sindri::dataset::vision;
using dataset::Transform;
using Ints = std::vector<int64_t>;
using Numbers = std::vector<double>;
using Box = std::array<int64_t, 4>;

pixels::LongEdge long_edge(bool rounds) { return rounds ? pixels::LongEdge::kRound : pixels::LongEdge::kCut; }

void bind_colours(py::module_& m) {
  m.def("adjust_brightness", &pixels::AdjustBrightness);
  m.def("adjust_contrast", &pixels::AdjustContrast);
  m.def("adjust_saturation", &pixels::AdjustSaturation);
  m.def("adjust_hue", &pixels::AdjustHue);
  m.def("adjust_sharpness", &pixels::AdjustSharpness);
  m.def("adjust_gamma", &pixels::AdjustGamma);
  m.def("invert", &pixels::Invert);
  m.def("posterize", &pixels::Posterize);
  m.def("solarize", &pixels::Solarize);
  m.def("equalize", &pixels::Equalize);
  m.def("auto_contrast", &pixels::AutoContrast);
  m.def("grayscale", &pixels::Grayscale);
  m.def("convert_color", &pixels::ConvertColor);
  m.def("random_color_adjust", &pixels::RandomColorAdjust);
  m.def("random_color", &pixels::RandomColor);
  m.def("random_sharpness", &pixels::RandomSharpness);
  m.def("random_posterize", &pixels::RandomPosterize);
  m.def("random_solarize", &pixels::RandomSolarize);
  m.def("random_invert", &pixels::RandomInvert);
  m.def("random_grayscale", &pixels::RandomGrayscale);
  m.def("random_equalize", &pixels::RandomEqualize);
  m.def("random_auto_contrast", &pixels::RandomAutoContrast);
  m.def("random_adjust_sharpness", &pixels::RandomAdjustSharpness);
  m.def("random_lighting", &pixels::RandomLighting);
}

void bind_geometry(py::module_& m) {
  m.def("warp", [](const Numbers& matrix, const std::string& inter, const Numbers& fill) { return pixels::Warp(matrix, inter_of(inter), fill); });
  m.def("rotate", [](pixels::Range degrees, const std::string& inter, bool expand, const Numbers& center, const Numbers& fill) {
    return pixels::Rotate(degrees, {inter_of(inter), expand, center, fill});
  });
  m.def("affine",
        [](pixels::Range degrees, const std::array<pixels::Range, 2>& translate, pixels::Range scale, const std::array<pixels::Range, 2>& shear,
           const std::string& inter, const Numbers& fill) {
          return pixels::Affine({degrees, translate, scale, shear}, inter_of(inter), fill);
        });
  m.def("random_perspective",
        [](double distortion, double prob, const std::string& inter) { return pixels::RandomPerspective(distortion, prob, inter_of(inter)); });
  m.def("gaussian_blur", [](const Ints& kernel, double x, double y) { return pixels::GaussianBlur(size_of(kernel), x, y); });
  m.def("vertical_flip", &pixels::VerticalFlip);
  m.def("random_vertical_flip", &pixels::RandomVerticalFlip);
  m.def("pad", [](Box sides, const Ints& fill, const std::string& mode) { return pixels::Pad(sides, fill, border_of(mode)); });
  m.def("pad_to_size", [](const Ints& size, const Ints& offset, const Ints& fill, const std::string& mode) {
    return pixels::PadToSize(size_of(size), offset, fill, border_of(mode));
  });
  m.def("crop", [](int64_t top, int64_t left, const Ints& size) { return pixels::Crop(top, left, size_of(size)); });
  m.def("resized_crop", [](Box box, const Ints& size, const std::string& inter) { return pixels::ResizedCrop(box, size_of(size), inter_of(inter)); });
  m.def("pillow_resize", [](const Ints& size, bool cubic, bool rounds) { return pixels::PillowResize(size_of(size), cubic, long_edge(rounds)); });
  m.def("random_resize", [](const Ints& size, bool rounds) { return pixels::RandomResize(size_of(size), long_edge(rounds)); });
  m.def("slice_patches", &pixels::SlicePatches);
  m.def("corner_crops", [](const Ints& size, bool mirrored, bool vertical) { return pixels::CornerCrops(size_of(size), mirrored, vertical); });
  m.def("erase", &pixels::Erase);
  m.def("cut_out", &pixels::CutOut);
  m.def("random_erasing", [](double prob, pixels::Range scale, pixels::Range ratio, const Numbers& value, int attempts) {
    return pixels::RandomErasing({prob, scale, ratio, value, attempts});
  });
}

void bind_files(py::module_& m) {
  using Release = py::call_guard<py::gil_scoped_release>;
  const auto mode_of = [](int mode) { return static_cast<pixels::ImageReadMode>(mode); };
  m.def("read_file", &pixels::read_file, Release());
  m.def("write_file", &pixels::write_file, Release());
  m.def(
      "read_image", [mode_of](const std::string& path, int mode) { return pixels::read_image(path, mode_of(mode)); }, Release());
  m.def("encode_jpeg", &pixels::encode_jpeg, Release());
  m.def("encode_png", &pixels::encode_png, Release());
  m.def("write_jpeg", &pixels::write_jpeg, Release());
  m.def("write_png", &pixels::write_png, Release());
}

}  // namespace

void bind_dataset_vision(py::module_& m) {
  bind_colours(m);
  bind_geometry(m);
  m.def("to_tensor", &pixels::ToTensor);
  m.def("normalize_pad", &pixels::NormalizePad);
  m.def("rand_augment", [](int num_ops, int magnitude, int bins, const std::string& inter, const Numbers& fill) {
    return pixels::RandAugment(num_ops, magnitude, bins, inter_of(inter), fill);
  });
  m.def("trivial_augment_wide",
        [](int bins, const std::string& inter, const Numbers& fill) { return pixels::TrivialAugmentWide(bins, inter_of(inter), fill); });
  m.def("auto_augment",
        [](const std::string& policy, const std::string& inter, const Numbers& fill) { return pixels::AutoAugment(policy, inter_of(inter), fill); });
  m.def("random_apply", &pixels::RandomApply);
  m.def("random_choice", &pixels::RandomChoice);
  m.def("random_order", &pixels::RandomOrder);
  m.def("uniform_augment", &pixels::UniformAugment);
  m.def("random_select_subpolicy", &pixels::RandomSelectSubpolicy);
  m.def("flip_with_boxes", &pixels::FlipWithBoxes);
  m.def("resize_with_boxes", &pixels::ResizeWithBoxes);
  m.def("crop_with_boxes", &pixels::CropWithBoxes);
  m.def("bounding_box_augment", &pixels::BoundingBoxAugment);
  m.def("prepare_seekable", [](const std::string& source, const std::string& destination, int workers) {
    using namespace py::literals;
    dataset::SeekableReport r;
    {
      const py::gil_scoped_release release;
      r = dataset::prepare_seekable(source, destination, workers);
    }
    return py::dict("files"_a = r.files, "rewritten"_a = r.rewritten, "unsuited"_a = r.unsuited, "kept"_a = r.kept, "orphaned"_a = r.orphaned,
                    "bytes_in"_a = r.bytes_in, "bytes_out"_a = r.bytes_out);
  });
  bind_files(m);
  m.def("mix_up_batch", &pixels::MixUpBatch);
  m.def("cut_mix_batch", &pixels::CutMixBatch);
}

}  // namespace sindri::python
