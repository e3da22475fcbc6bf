// Image files outside a pipeline: round trips, pixel formats, hostile files, and that a file is either complete or unchanged.
#include "sindri/dataset/image_files.h"

#include <sys/stat.h>

#include <thread>

#include "sindri/dataset/vision.h"
#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace image_files {

using Bytes = std::vector<uint8_t>;
using vision::ImageReadMode;

Tensor tensor(const Shape& shape, const Bytes& b) { return Tensor::from_vector(shape, b); }
Tensor photo(int h, int w, int channels = 3) { return tensor({h, w, channels}, rgb_bytes(picture(h, w, 1, channels))); }
Bytes bytes_of(const Tensor& t) { return t.to_vector<uint8_t>(); }

template <class E> E error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) { return e; }
  throw std::runtime_error("no error of the kind that is expected");
}

std::vector<std::string> names(const TempDir& dir) {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator(dir.str())) out.push_back(e.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(ImageFiles, PngGivesThePixelsBack) {
  const TempDir dir;
  for (const int channels : {1, 3}) {
    for (const auto& [h, w] : {std::pair{1, 1}, {1, 300}, {300, 1}, {17, 23}}) {
      const Tensor image = photo(h, w, channels);
      for (int level = 0; level <= 9; ++level) {
        vision::write_png(dir / "a.png", image, level);
        const Tensor back = vision::read_image(dir / "a.png");
        ASSERT_EQ(back.shape(), image.shape());
        ASSERT_EQ(bytes_of(back), bytes_of(image)) << h << " x " << w << ", level " << level;
      }
    }
  }
  const Tensor plane = photo(5, 6, 1).view({5, 6});
  vision::write_png(dir / "a.png", plane);
  EXPECT_EQ(vision::read_image(dir / "a.png").shape(), (Shape{5, 6, 1}));
  EXPECT_EQ(bytes_of(vision::read_file(dir / "a.png")), bytes_of(vision::encode_png(plane)));
}

TEST(ImageFiles, JpegIsNearAndSmallerWithLessQuality) {
  const TempDir dir;
  const Tensor image = photo(40, 56);
  int64_t before = 0;
  for (const int quality : {1, 30, 75, 100}) {
    const Tensor file = vision::encode_jpeg(image, quality);
    EXPECT_GT(file.numel(), before);
    before = file.numel();
    vision::write_file(dir / "a", file);
    EXPECT_EQ(bytes_of(vision::read_image(dir / "a")), bytes_of(vision::Decode()(file))) << "as the pipeline decodes it";
  }
  const Tensor grey = photo(40, 56, 1);
  vision::write_jpeg(dir / "a", grey, 100);
  const Bytes got = bytes_of(vision::read_image(dir / "a")), want = bytes_of(grey);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 3);
}

TEST(ImageFiles, EveryFormatInEveryMode) {
  const TempDir dir;
  const cv::Mat colour = picture(12, 10, 3), plane = picture(12, 10, 4, 1);
  for (const char* suffix : {".jpg", ".png", ".webp", ".tiff", ".bmp"}) {
    SCOPED_TRACE(suffix);
    write_bytes(dir / "a", encoded(colour, suffix));  // the name has no suffix
    const Tensor rgb = vision::read_image(dir / "a", ImageReadMode::kColor), grey = vision::read_image(dir / "a", ImageReadMode::kGrayscale);
    EXPECT_EQ(bytes_of(vision::read_image(dir / "a")), bytes_of(rgb));
    ASSERT_EQ(rgb.shape(), (Shape{12, 10, 3}));
    ASSERT_EQ(grey.shape(), (Shape{12, 10, 1}));
    for (size_t i = 0; i < 120; ++i) {
      const uint8_t* p = rgb.data<uint8_t>() + 3 * i;
      ASSERT_NEAR(grey.data<uint8_t>()[i], 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2], suffix == std::string(".jpg") ? 40 : 1.01);
    }
    if (suffix == std::string(".webp") || suffix == std::string(".bmp")) continue;  // their writers here do not support grey
    write_bytes(dir / "b",
                suffix == std::string(".tiff") ? encode_tiff(12, 10, {.photometric = PHOTOMETRIC_MINISBLACK}, rgb_bytes(plane)) : encoded(plane, suffix));
    EXPECT_EQ(vision::read_image(dir / "b").shape(), (Shape{12, 10, 1}));
    EXPECT_EQ(bytes_of(vision::read_image(dir / "b")), bytes_of(vision::read_image(dir / "b", ImageReadMode::kGrayscale)));
    EXPECT_EQ(vision::read_image(dir / "b", ImageReadMode::kColor).shape(), (Shape{12, 10, 3}));
  }
}

TEST(ImageFiles, SixteenBitsAndFloatsAreKept) {
  const TempDir dir;
  Bytes rows(5 * 3 * 2);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint8_t>(11 * i + 200);
  write_bytes(dir / "a", encode_png(5, 3, {.color_type = PNG_COLOR_TYPE_GRAY, .bits = 16}, rows));
  const Tensor wide = vision::read_image(dir / "a");
  ASSERT_EQ(wide.dtype(), DType::kInt32);
  ASSERT_EQ(wide.shape(), (Shape{5, 3, 1}));
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(wide.data<int32_t>()[i], rows[2 * i] << 8 | rows[2 * i + 1]);
  EXPECT_EQ(vision::read_image(dir / "a", ImageReadMode::kGrayscale).dtype(), DType::kUInt8);

  std::vector<float> values(15);
  for (size_t i = 0; i < 15; ++i) values[i] = 0.5f * static_cast<float>(i) - 3;
  Bytes stored(60);
  std::memcpy(stored.data(), values.data(), 60);
  write_bytes(dir / "b", encode_tiff(5, 3, {.bits = 32, .photometric = PHOTOMETRIC_MINISBLACK, .sample_format = SAMPLEFORMAT_IEEEFP}, stored));
  EXPECT_EQ(vision::read_image(dir / "b").to_vector<float>(), values);
  EXPECT_THAT(error_of<BadSample>([&] { vision::read_image(dir / "b", ImageReadMode::kColor); }).message(), testing::HasSubstr("mode UNCHANGED"));
}

TEST(ImageFiles, DamagedFilesAreBadSamplesThatNameThem) {
  const TempDir dir;
  for (const char* suffix : {".jpg", ".png", ".webp", ".tiff", ".bmp"}) {
    const Bytes file = encoded(picture(9, 9, 2), suffix);
    for (const ImageReadMode mode : {ImageReadMode::kUnchanged, ImageReadMode::kGrayscale, ImageReadMode::kColor}) {
      // If a JPEG file is cut after its last code, the library supplies the end; the last byte of a WebP may be padding.
      for (size_t n = 0; n + 3 < file.size(); n += 5) {
        write_bytes(dir / "cut", {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)});
        EXPECT_THROW(vision::read_image(dir / "cut", mode), BadSample) << suffix << ": " << n << " of " << file.size() << " bytes";
      }
      for (size_t i = 0; i < file.size(); ++i) {
        Bytes flipped = file;
        flipped[i] ^= 0xff;
        write_bytes(dir / "flipped", flipped);
        try {
          vision::read_image(dir / "flipped", mode);
        } catch (const BadSample&) {  // or another image
        }
      }
    }
  }
  write_bytes(dir / "text", {'h', 'e', 'l', 'l', 'o'});
  const BadSample e = error_of<BadSample>([&] { vision::read_image(dir / "text"); });
  EXPECT_EQ(std::string(e.what()),
            "cannot read " + (dir / "text") + ": the file is not an image: it begins with 68 65 6c 6c | read_image | use JPEG, PNG, BMP, TIFF or WebP");
  const Bytes png = encoded(picture(9, 9, 2), ".png");
  write_bytes(dir / "cut.png", {png.begin(), png.begin() + 60});
  EXPECT_EQ(error_of<BadSample>([&] { vision::read_image(dir / "cut.png"); }).fix(), "replace the file");
}

TEST(ImageFiles, OrientationIsOfWellFormedExifOnly) {
  const TempDir dir;
  const Bytes jpeg = encoded(picture(8, 16, 2), ".jpg");
  Bytes exif{0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
  const auto shape_with = [&](const Bytes& segment) {
    Bytes file{jpeg[0], jpeg[1]};
    file.insert(file.end(), segment.begin(), segment.end());
    file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
    write_bytes(dir / "a", file);
    EXPECT_EQ(vision::read_image(dir / "a").shape(), (Shape{8, 16, 3}));
    return vision::read_image(dir / "a", ImageReadMode::kColor).shape();
  };
  EXPECT_EQ(shape_with(exif), (Shape{16, 8, 3}));
  for (size_t i = 10; i < exif.size(); ++i) {
    for (const uint8_t v : {0xff, 0x7f, 0x00}) {
      Bytes odd = exif;
      odd[i] = v;
      const Shape s = shape_with(odd);
      EXPECT_TRUE(s == (Shape{16, 8, 3}) || s == (Shape{8, 16, 3}));
    }
  }
}

TEST(ImageFiles, WrongArgumentsAreNamed) {
  const Tensor image = photo(4, 5);
  EXPECT_EQ(std::string(error_of<ValueError>([&] { vision::encode_jpeg(image, 0); }).what()), "quality must be from 1 to 100, got 0 | encode_jpeg");
  EXPECT_THROW(vision::encode_jpeg(image, 101), ValueError);
  EXPECT_EQ(std::string(error_of<ValueError>([&] { vision::encode_png(image, 10); }).what()), "compression_level must be from 0 to 9, got 10 | encode_png");
  EXPECT_THROW(vision::encode_png(image, -1), ValueError);
  EXPECT_THROW(vision::encode_png(Tensor{}), ValueError);
  EXPECT_EQ(std::string(error_of<DTypeError>([&] {
                          vision::encode_png(Tensor::zeros({4, 5}));
                        }).what()),
            "image must be uint8, got float32 | encode_png | round it and cast it to uint8");
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{4, 5, 2}, Shape{4, 5, 4}, Shape{1, 4, 5, 3}, Shape{0, 5}, Shape{4, 0, 3}, Shape{4, 5, 0}}) {
    EXPECT_THROW(vision::encode_jpeg(Tensor::zeros(shape, DType::kUInt8)), ShapeError) << shape.str();
    EXPECT_THROW(vision::encode_png(Tensor::zeros(shape, DType::kUInt8)), ShapeError) << shape.str();
  }
  EXPECT_THAT(error_of<ShapeError>([&] { vision::encode_jpeg(Tensor::zeros({1, 65501}, DType::kUInt8)); }).message(), testing::HasSubstr("at most 65500"));
  EXPECT_THAT(error_of<ShapeError>([&] { vision::encode_png(Tensor::zeros({1000001, 1}, DType::kUInt8)); }).message(), testing::HasSubstr("at most 1000000"));
  const TempDir dir;
  EXPECT_THROW(vision::write_file(dir / "a", Tensor::zeros({3})), DTypeError);
  EXPECT_THROW(vision::write_file(dir / "a", Tensor::zeros({1, 3}, DType::kUInt8)), ShapeError);
  EXPECT_THROW(vision::write_jpeg(dir / "a", image, 0), ValueError);
  EXPECT_TRUE(names(dir).empty());
}

TEST(ImageFiles, WhatCannotBeReadOrWrittenIsNamed) {
  const TempDir dir;
  const Tensor data = tensor({3}, {1, 2, 3});
  EXPECT_EQ(std::string(error_of<IoError>([&] { vision::read_file(dir / "none"); }).what()),
            "cannot open " + (dir / "none") + ": No such file or directory | read_file | check that the file exists and may be read");
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  for (const std::string& path : {dir.str(), dir / "fifo", std::string("/dev/null")}) {
    EXPECT_THAT(error_of<IoError>([&] { vision::read_file(path); }).message(), testing::HasSubstr("is not a regular file"));
    EXPECT_THAT(error_of<IoError>([&] { vision::write_file(path, data); }).message(), testing::HasSubstr("is not a regular file"));
  }
  EXPECT_THAT(error_of<IoError>([&] { vision::write_file("", data); }).message(), testing::HasSubstr("name of the file is empty"));
  EXPECT_THAT(std::string(error_of<IoError>([&] { vision::write_file(dir / "no" + "/x", data); }).what()), testing::HasSubstr("check that its folder exists"));
  EXPECT_THAT(error_of<IoError>([&] { vision::write_file(dir / std::string(300, 'n'), data); }).fix(), testing::HasSubstr("shorter"));
  EXPECT_EQ(vision::read_file("/proc/self/cmdline").numel() > 0, true) << "a file that claims to have no bytes";
}

// Root may write everywhere, so the test runs as another user here.
class Nobody {
 public:
  explicit Nobody(const TempDir& dir) {
    if (::geteuid() != 0) return;
    was_root_ = ::chown(dir.str().c_str(), kNobody, kNobody) == 0 && ::seteuid(kNobody) == 0;
    if (!was_root_) throw std::runtime_error("cannot become nobody");
  }
  ~Nobody() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;

 private:
  static constexpr unsigned kNobody = 65534;
  bool was_root_ = false;
};

TEST(ImageFiles, ReadOnlyFoldersAndFiles) {
  const TempDir dir;
  const Nobody nobody(dir);
  vision::write_file(dir / "kept", tensor({1}, {7}));
  ASSERT_EQ(::chmod((dir / "kept").c_str(), 0444), 0);
  EXPECT_THAT(error_of<IoError>([&] { vision::write_file(dir / "kept", tensor({1}, {8})); }).fix(), testing::HasSubstr("permissions"));
  ASSERT_EQ(::chmod(dir.str().c_str(), 0555), 0);
  EXPECT_EQ(std::string(error_of<IoError>([&] { vision::write_png(dir / "new", photo(2, 2)); }).what()),
            "cannot create " + (dir / "new") + ": Permission denied | write_png | change its permissions, or choose another folder");
  ASSERT_EQ(::chmod(dir.str().c_str(), 0755), 0);
  EXPECT_EQ(names(dir), std::vector<std::string>{"kept"});
  EXPECT_EQ(read_bytes(dir / "kept"), Bytes{7});
}

TEST(ImageFiles, FilesAreReplacedWholeLinksAndPermissionsStay) {
  const TempDir dir;
  vision::write_file(dir / "a", tensor({3}, {1, 2, 3}));
  ASSERT_EQ(::chmod((dir / "a").c_str(), 0640), 0);
  std::filesystem::create_symlink("a", dir / "link");
  std::filesystem::create_symlink("later", dir / "dangling");
  vision::write_file(dir / "link", tensor({1}, {9}));
  vision::write_file(dir / "dangling", tensor({1}, {8}));
  EXPECT_EQ(names(dir), (std::vector<std::string>{"a", "dangling", "later", "link"}));
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link") && std::filesystem::is_symlink(dir / "dangling"));
  EXPECT_EQ(read_bytes(dir / "a"), Bytes{9});
  EXPECT_EQ(read_bytes(dir / "later"), Bytes{8});
  struct stat st {};
  ASSERT_EQ(::stat((dir / "a").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0640u);
  std::filesystem::create_symlink("circle", dir / "circle");
  EXPECT_THROW(vision::write_file(dir / "circle", tensor({1}, {1})), IoError);
}

// Readers see one of the complete contents, however many writers there are.
TEST(ImageFiles, WritersOfOneFileDoNotMix) {
  const TempDir dir;
  const std::string path = dir / "a";
  const Bytes one(200000, 1), two(100000, 2);
  vision::write_file(path, tensor({200000}, one));
  std::vector<std::thread> writers;
  for (const Bytes* b : {&one, &two})
    writers.emplace_back([&path, b] {
      for (int i = 0; i < 30; ++i) vision::write_file(path, tensor({static_cast<int64_t>(b->size())}, *b));
    });
  for (int i = 0; i < 60; ++i) {
    const Bytes got = bytes_of(vision::read_file(path));
    EXPECT_TRUE(got == one || got == two) << got.size() << " bytes";
  }
  for (auto& t : writers) t.join();
  EXPECT_EQ(names(dir), std::vector<std::string>{"a"});
}

}  // namespace image_files
}  // namespace sindri::dataset
