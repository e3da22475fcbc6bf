// Transforms against OpenCV and plain loops; decoding of good, unusual and hostile files; fused chains against separate steps.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <opencv2/imgproc.hpp>

#include <jpeglib.h>  // needs <cstdio>
#include <zlib.h>

#include "dataset/codec/jpeg.h"
#include "dataset/codec/jpeg_segments.h"
#include "sindri/dataset/augment.h"
#include "sindri/dataset/seekable.h"
#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace {

Tensor bytes_tensor(const std::vector<uint8_t>& b) { return Tensor::from_vector({static_cast<int64_t>(b.size())}, b); }
Tensor image(int h, int w, int seed, int channels = 3) {
  const cv::Mat m = picture(h, w, seed, channels);
  return Tensor::from_data({h, w, channels}, DType::kUInt8, m.data);
}
cv::Mat as_mat(const Tensor& t) {
  const int type = CV_MAKETYPE(t.dtype() == DType::kUInt8 ? CV_8U : CV_32F, static_cast<int>(t.rank() == 3 ? t.dim(2) : 1));
  return cv::Mat(static_cast<int>(t.dim(0)), static_cast<int>(t.dim(1)), type, const_cast<void*>(t.raw_data()));
}
void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.meta().str(), b.meta().str());
  EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), static_cast<size_t>(a.nbytes())), 0);
}
Tensor rgb(const cv::Mat& bgr) {
  cv::Mat m;
  cv::cvtColor(bgr, m, cv::COLOR_BGR2RGB);
  return Tensor::from_data({m.rows, m.cols, 3}, DType::kUInt8, m.data);
}

// CRC-32 of the pixels that OpenCV 4.6's imdecode produced for the same files: heights by widths, baseline and progressive.
constexpr uint32_t kOpenCvPixels[4][4][2] = {{{0xb2c487c9u, 0xb2c487c9u}, {0xecd2026bu, 0xecd2026bu}, {0xba25a057u, 0xba25a057u}, {0x47b49ef0u, 0x47b49ef0u}},
                                             {{0x3ae4e1b3u, 0x3ae4e1b3u}, {0xdf3fcd1eu, 0xdf3fcd1eu}, {0x5d806efcu, 0x5d806efcu}, {0x991f313au, 0x991f313au}},
                                             {{0x7dffb969u, 0x7dffb969u}, {0x745ab6f4u, 0x745ab6f4u}, {0x8c7b8b89u, 0x8c7b8b89u}, {0x927040acu, 0x927040acu}},
                                             {{0x8a809a53u, 0x8a809a53u}, {0xfe470cd4u, 0xfe470cd4u}, {0xfe4f67cau, 0xfe4f67cau}, {0x4957faa6u, 0x4957faa6u}}};

TEST(Decode, GivesOpenCvsPixelsForOddSizes) {
  const int heights[] = {1, 7, 17, 40}, widths[] = {1, 9, 16, 33};
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      for (const bool progressive : {false, true}) {
        const int h = heights[i], w = widths[j];
        const Tensor t = vision::Decode()(bytes_tensor(encode_jpeg(picture(h, w, h * 100 + w), 90, progressive)));
        ASSERT_EQ(t.shape(), (Shape{h, w, 3}));
        EXPECT_EQ(::crc32(0, static_cast<const uint8_t*>(t.raw_data()), static_cast<uInt>(t.nbytes())), kOpenCvPixels[i][j][progressive]) << h << " x " << w;
      }
    }
  }
}

TEST(Decode, GreyIsExpandedAndOtherFormatsAreKnownByTheirBytes) {
  const cv::Mat grey = picture(12, 10, 3, 1);
  const Tensor g = vision::Decode()(bytes_tensor(encoded(grey)));
  EXPECT_EQ(g.shape(), (Shape{12, 10, 3}));
  for (int64_t i = 0; i < 120; ++i) {
    EXPECT_EQ(g.data<uint8_t>()[3 * i], g.data<uint8_t>()[3 * i + 1]);
    EXPECT_EQ(g.data<uint8_t>()[3 * i], g.data<uint8_t>()[3 * i + 2]);
  }
  for (const char* suffix : {".png", ".bmp", ".tiff", ".webp"}) {
    const cv::Mat m = picture(9, 11, 5);
    expect_same(vision::Decode()(bytes_tensor(encoded(m, suffix))), rgb(m));
  }
}

TEST(Decode, EveryTruncationIsABadSampleAndNoFlippedByteCrashes) {
  const auto file = encoded(picture(24, 24, 1));
  for (size_t n = 0; n + 2 < file.size(); ++n) {  // the last two bytes are the end marker: without them the image is complete but the file is cut
    std::vector<uint8_t> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_THROW(vision::Decode()(bytes_tensor(cut)), BadSample) << n << " of " << file.size() << " bytes";
  }
  int refused = 0;
  for (size_t i = 0; i < file.size(); ++i) {
    auto flipped = file;
    flipped[i] ^= 0xff;
    try {
      vision::Decode()(bytes_tensor(flipped));
    } catch (const BadSample&) { ++refused; }
  }
  EXPECT_GT(refused, 0);
}

TEST(Decode, HugeSizesAreRefusedFromTheHeader) {
  auto jpg = encoded(picture(16, 16, 1));
  for (size_t i = 0; i + 8 < jpg.size(); ++i) {
    if (jpg[i] == 0xff && jpg[i + 1] == 0xc0) jpg[i + 5] = jpg[i + 6] = jpg[i + 7] = jpg[i + 8] = 0xf0;  // height and width of the frame
  }
  EXPECT_NE(caught<BadSample>([&] { vision::Decode()(bytes_tensor(jpg)); }).message().find("64 million"), std::string::npos);
  auto png = encoded(picture(16, 16, 1), ".png");
  png[16] = png[20] = 0x7f;
  EXPECT_NE(caught<BadSample>([&] { vision::Decode()(bytes_tensor(png)); }).message().find("64 million"), std::string::npos);
}

// A baseline JPEG with the given luma sampling factors; 1 component is grey, 4 is CMYK.
std::vector<uint8_t> jpeg(const cv::Mat& m, int h_factor, int v_factor) {
  jpeg_compress_struct info{};
  jpeg_error_mgr error{};
  info.err = jpeg_std_error(&error);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(m.cols);
  info.image_height = static_cast<JDIMENSION>(m.rows);
  info.input_components = m.channels();
  info.in_color_space = m.channels() == 1 ? JCS_GRAYSCALE : m.channels() == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 92, TRUE);
  if (m.channels() == 3) {
    info.comp_info[0].h_samp_factor = h_factor;
    info.comp_info[0].v_samp_factor = v_factor;
  }
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(m.ptr(static_cast<int>(info.next_scanline)));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  const std::vector<uint8_t> bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

TEST(Decode, WindowEqualsFullDecodeForAllSamplings) {
  JpegDecoder decoder;
  PhiloxSequence draws(17, 0, 0, 0);
  int64_t windows = 0, smaller = 0;
  for (auto [hf, vf, channels] : {std::tuple{1, 1, 3}, {2, 1, 3}, {1, 2, 3}, {2, 2, 3}, {4, 1, 3}, {1, 1, 1}}) {
    for (int i = 0; i < 60; ++i) {
      const int h = i < 40 ? i + 1 : static_cast<int>(40 + draws.next_below(160)),
                w = i < 40 ? static_cast<int>(1 + draws.next_below(40)) : static_cast<int>(40 + draws.next_below(160));
      const auto file = jpeg(picture(h, w, i, channels), hf, vf);
      int64_t warnings = 0;
      decoder.open(file.data(), static_cast<int64_t>(file.size()));
      std::vector<uint8_t> full(static_cast<size_t>(h * w * 3));
      decoder.decode(full.data(), &warnings);
      for (int k = 0; k < 30; ++k) {
        const int64_t ch = 1 + static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(h))),
                      cw = 1 + static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(w)));
        const int64_t top = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(h - ch + 1))),
                      left = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(w - cw + 1)));
        decoder.open(file.data(), static_cast<int64_t>(file.size()));
        const JpegDecoder::Box box = decoder.window_box(top, left, ch, cw);
        ASSERT_GT(box.width, 0);
        std::vector<uint8_t> part(static_cast<size_t>(box.height * box.width * 3));
        decoder.decode_window(box, part.data(), &warnings);
        ++windows;
        smaller += box.height * box.width < h * w ? 1 : 0;
        for (int64_t y = 0; y < ch; ++y) {
          ASSERT_EQ(std::memcmp(&full[static_cast<size_t>(((top + y) * w + left) * 3)],
                                &part[static_cast<size_t>(((top - box.top + y) * box.width + left - box.left) * 3)], static_cast<size_t>(cw * 3)),
                    0)
              << hf << "x" << vf << " " << h << "x" << w << ", window " << top << " " << left << " " << ch << " " << cw << ", row " << y;
        }
      }
    }
  }
  EXPECT_EQ(windows, 6 * 60 * 30);
  EXPECT_GT(smaller, windows / 4) << "some windows must have saved work";
}

// Files with restart markers inside their rows: the same pixels, decoded only from the segments around the window.
TEST(Decode, WindowOfSeekableFileEqualsFullDecode) {
  JpegDecoder decoder, plain;
  PhiloxSequence draws(23, 0, 0, 0);
  int64_t segmented = 0, smaller = 0;
  for (auto [hf, vf, channels] : {std::tuple{1, 1, 3}, {2, 1, 3}, {1, 2, 3}, {2, 2, 3}, {1, 1, 1}}) {
    for (int i = 0; i < 60; ++i) {
      const int h = i < 40 ? i + 1 : static_cast<int>(40 + draws.next_below(160)), w = i < 40 ? 40 - i : static_cast<int>(40 + draws.next_below(160));
      const auto original = jpeg(picture(h, w, i, channels), hf, vf);
      const auto file = make_seekable(original.data(), original.size());
      ASSERT_FALSE(file.empty());
      int64_t warnings = 0;
      std::vector<uint8_t> full(static_cast<size_t>(h * w * 3)), again = full;
      plain.open(original.data(), static_cast<int64_t>(original.size()));
      plain.decode(full.data(), &warnings);
      decoder.open(file.data(), static_cast<int64_t>(file.size()));
      decoder.decode(again.data(), &warnings);
      ASSERT_EQ(full, again) << "rewriting loses nothing";
      JpegSegments segments;
      segmented += segments.find(file.data(), file.size()) ? 1 : 0;
      for (int k = 0; k < 20; ++k) {
        const int64_t ch = 1 + static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(h))),
                      cw = 1 + static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(w)));
        const int64_t top = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(h - ch + 1))),
                      left = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(w - cw + 1)));
        decoder.open(file.data(), static_cast<int64_t>(file.size()));
        const JpegDecoder::Box box = decoder.window_box(top, left, ch, cw);
        std::vector<uint8_t> part(static_cast<size_t>(box.height * box.width * 3));
        decoder.decode_window(box, part.data(), &warnings);
        smaller += box.height * box.width < h * w ? 1 : 0;
        for (int64_t y = 0; y < ch; ++y) {
          ASSERT_EQ(std::memcmp(&full[static_cast<size_t>(((top + y) * w + left) * 3)],
                                &part[static_cast<size_t>(((top - box.top + y) * box.width + left - box.left) * 3)], static_cast<size_t>(cw * 3)),
                    0)
              << hf << "x" << vf << " " << h << "x" << w << ", window " << top << " " << left << " " << ch << " " << cw << ", row " << y;
        }
      }
    }
  }
  EXPECT_GT(segmented, 80);
  EXPECT_GT(smaller, 1000);
}

// Every prefix and every changed byte: an error, or the pixels of some image; never an access out of bounds (the sanitizers check).
TEST(Decode, DamagedSeekableFilesAreErrors) {
  const auto original = jpeg(picture(70, 90, 3, 3), 2, 2);
  const auto file = make_seekable(original.data(), original.size());
  JpegDecoder decoder;
  const auto window = [&](const std::vector<uint8_t>& bytes) {
    int64_t warnings = 0;
    const ImageSize size = decoder.open(bytes.data(), static_cast<int64_t>(bytes.size()));
    if (size.height != 70 || size.width != 90) return;
    const JpegDecoder::Box box = decoder.window_box(30, 40, 20, 20);
    if (box.width == 0) return;
    std::vector<uint8_t> part(static_cast<size_t>(box.height * box.width * 3));
    decoder.decode_window(box, part.data(), &warnings);
  };
  int64_t errors = 0;
  for (size_t n = 0; n < file.size(); n += 3) {
    std::vector<uint8_t> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n));
    std::vector<uint8_t> changed = file;
    changed[n] ^= static_cast<uint8_t>(1 + n * 37 % 255);
    for (const auto& bytes : {cut, changed}) {
      try {
        window(bytes);
      } catch (const BadSample&) { ++errors; }
    }
  }
  EXPECT_GT(errors, static_cast<int64_t>(file.size() / 6)) << "an image that ends early is not valid";
  EXPECT_THROW(make_seekable(file.data(), file.size() / 2), BadSample);
}

// A segment without its last bytes is damaged for the window's decoder as for the other one, although padding follows it there.
TEST(Decode, ShortSegmentsAreErrors) {
  JpegDecoder decoder;
  int64_t errors = 0, cases = 0;
  for (auto [hf, vf, channels] : {std::tuple{1, 1, 3}, {2, 2, 3}, {1, 1, 1}}) {
    const auto original = jpeg(picture(70, 150, 4, channels), hf, vf);
    const auto file = make_seekable(original.data(), original.size());
    const auto decodes = [&](const std::vector<uint8_t>& bytes, bool windowed) {
      int64_t warnings = 0;
      std::vector<uint8_t> pixels(70 * 150 * 3);
      decoder.open(bytes.data(), static_cast<int64_t>(bytes.size()));
      try {
        if (windowed) decoder.decode_window(decoder.window_box(0, 0, 70, 150), pixels.data(), &warnings);
        else decoder.decode(pixels.data(), &warnings);
      } catch (const BadSample&) { return false; }
      return true;
    };
    for (size_t p = 0; p + 1 < file.size(); ++p) {
      if (file[p] != 0xff || file[p + 1] < 0xd0 || file[p + 1] > 0xd7) continue;
      for (size_t cut : {1, 2, 5}) {
        std::vector<uint8_t> bytes = file;
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(p - cut), bytes.begin() + static_cast<std::ptrdiff_t>(p));
        const bool whole = decodes(bytes, false);
        EXPECT_EQ(decodes(bytes, true), whole) << hf << "x" << vf << ", marker at byte " << p << ", " << cut << " bytes missing";
        errors += whole ? 0 : 1;
        ++cases;
      }
    }
  }
  EXPECT_GT(errors, cases * 9 / 10);
}

TEST(Seekable, FoldersAreRewrittenOnce) {
  TempDir from, to;
  const std::vector<uint8_t> whole = jpeg(picture(100, 140, 5), 2, 2);
  write_bytes(from / "a/1.jpg", whole);
  write_bytes(from / "b/2.jpeg", whole);
  write_bytes(from / "b/notes.txt", {1, 2, 3});
  write_bytes(from / "b/cut.jpg", {whole.begin(), whole.begin() + 400});
  const SeekableReport first = prepare_seekable(from.str(), to / "store", 2);
  EXPECT_EQ(first.files, 4);
  EXPECT_EQ(first.rewritten, 2);
  EXPECT_EQ(first.unsuited, 2);
  EXPECT_EQ(read_bytes(to / "store/b/notes.txt"), std::vector<uint8_t>({1, 2, 3}));
  const auto made = read_bytes(to / "store/a/1.jpg");
  EXPECT_NE(made, whole);
  const Tensor before = vision::Decode()(bytes_tensor(whole)), after = vision::Decode()(bytes_tensor(made));
  EXPECT_EQ(std::memcmp(before.raw_data(), after.raw_data(), static_cast<size_t>(before.nbytes())), 0);
  const SeekableReport second = prepare_seekable(from.str(), to / "store", 1);
  EXPECT_EQ(second.kept, 4);
  EXPECT_EQ(second.rewritten, 0);
  EXPECT_EQ(second.orphaned, 0);
  EXPECT_THROW(prepare_seekable(from.str(), from / "inside"), ValueError);
  EXPECT_THROW(prepare_seekable(from / "nothing", to / "x"), IoError);
}

// A source is identified by its content, whatever its time. Files that a kill or a power loss left incomplete are made again, and those without a source are
// reported.
TEST(Seekable, ChangesKillsAndRemovedSourcesAreNoticed) {
  TempDir from, to;
  const auto photo = [](uint64_t seed) { return jpeg(picture(60, 80, seed), 2, 2); };
  for (const char* name : {"k/a.jpg", "k/b.jpg", "k/c.jpg", "k/d.jpg", "k/e.jpg"}) write_bytes(from / name, photo(1));
  const std::string store = to / "store";
  EXPECT_EQ(prepare_seekable(from.str(), store, 2).rewritten, 5);
  const auto made = read_bytes(store + "/k/a.jpg");
  namespace fs = std::filesystem;
  const auto old = fs::last_write_time(from / "k/a.jpg") - std::chrono::hours(24 * 365);
  write_bytes(from / "k/a.jpg", photo(2));  // another image with an older time
  fs::last_write_time(from / "k/a.jpg", old);
  fs::last_write_time(from / "k/b.jpg", old);  // the same image, copied
  write_bytes(store + "/k/c.jpg", {});  // its bytes were lost
  fs::remove(store + "/k/d.jpg");
  fs::remove(from / "k/e.jpg");
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  const std::string left = store + "/k/a.jpg.tmp." + std::to_string(gone) + ".3", in_use = store + "/k/a.jpg.tmp." + std::to_string(getpid()) + ".999";
  write_bytes(left, {1, 2, 3});
  write_bytes(in_use, {1, 2, 3});
  testing::internal::CaptureStderr();
  const SeekableReport r = prepare_seekable(from.str(), store, 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("k/e.jpg"), std::string::npos);
  EXPECT_EQ(r.files, 4);
  EXPECT_EQ(r.rewritten, 3);
  EXPECT_EQ(r.kept, 1);
  EXPECT_EQ(r.orphaned, 1);
  EXPECT_NE(read_bytes(store + "/k/a.jpg"), made);
  EXPECT_EQ(read_bytes(store + "/k/c.jpg"), made);
  EXPECT_EQ(read_bytes(store + "/k/d.jpg"), made);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(in_use)) << "its process is alive";
  EXPECT_EQ(ImageFolderDataset::make({.dataset_dir = store})->get_dataset_size(), 5) << "the store's list is not a class";
}

// Eight missing segments leave the markers' numbers in order: only their count reveals it.
TEST(Decode, MissingSegmentsAreErrorsInAWindow) {
  const auto original = jpeg(picture(96, 640, 3), 2, 2);
  const auto file = make_seekable(original.data(), original.size());
  std::vector<size_t> markers;  // of the scan
  for (size_t i = 0; i + 1 < file.size(); ++i)
    if (file[i] == 0xff && file[i + 1] >= 0xd0 && file[i + 1] <= 0xd7) markers.push_back(i);
  ASSERT_GT(markers.size(), 40u);
  std::vector<uint8_t> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(markers[10]));
  cut.insert(cut.end(), file.begin() + static_cast<std::ptrdiff_t>(markers[18]), file.end());
  EXPECT_THROW(vision::Decode()(bytes_tensor(cut)), BadSample);
  JpegDecoder decoder;
  for (const auto& bytes : {file, cut}) {
    const ImageSize size = decoder.open(bytes.data(), static_cast<int64_t>(bytes.size()));
    ASSERT_EQ(size.width, 640);
    const JpegDecoder::Box box = decoder.window_box(32, 200, 16, 40);
    std::vector<uint8_t> part(static_cast<size_t>(box.height * box.width * 3));
    int64_t warnings = 0;
    if (bytes == file) {
      EXPECT_NO_THROW(decoder.decode_window(box, part.data(), &warnings));
    } else {
      EXPECT_THROW(decoder.decode_window(box, part.data(), &warnings), BadSample);
    }
  }
}

TEST(Decode, CmykIsConverted) {
  cv::Mat m(16, 16, CV_8UC4, cv::Scalar(200, 100, 50, 180));
  const Tensor t = vision::Decode()(bytes_tensor(jpeg(m, 1, 1)));  // libjpeg writes the Adobe marker: values are inverted
  EXPECT_NEAR(t.data<uint8_t>()[0], 200 * 180 / 255, 3);
  EXPECT_NEAR(t.data<uint8_t>()[1], 100 * 180 / 255, 3);
  EXPECT_NEAR(t.data<uint8_t>()[2], 50 * 180 / 255, 3);
}

TEST(Resize, SizesAndPixelsAsOpenCv) {
  const std::pair<vision::Inter, int> modes[] = {{vision::Inter::kLinear, cv::INTER_LINEAR},
                                                 {vision::Inter::kNearest, cv::INTER_NEAREST},
                                                 {vision::Inter::kCubic, cv::INTER_CUBIC},
                                                 {vision::Inter::kArea, cv::INTER_AREA}};
  for (const auto& [inter, cv_mode] : modes) {
    for (int channels : {1, 3}) {
      for (auto [h, w] : {std::pair{10, 14}, {31, 7}, {1, 1}, {20, 20}}) {
        const Tensor in = image(20, 17, 4, channels);
        cv::Mat expected;
        cv::resize(as_mat(in), expected, {w, h}, 0, 0, cv_mode);
        expect_same(vision::Resize({h, w}, inter)(in), Tensor::from_data({h, w, channels}, DType::kUInt8, expected.data));
      }
    }
  }
  EXPECT_EQ(vision::Resize(10)(image(20, 33, 1)).shape(), (Shape{10, 16, 3})) << "33 / 20 * 10 = 16.5";
  EXPECT_EQ(vision::Resize(10)(image(33, 20, 1)).shape(), (Shape{16, 10, 3}));
  const vision::Resize rounding(10, vision::Inter::kLinear, vision::LongEdge::kRound);
  EXPECT_EQ(rounding(image(20, 33, 1)).shape(), (Shape{10, 17, 3}));
  EXPECT_NE(rounding.str(), vision::Resize(10).str()) << "a pipeline that rounds has another fingerprint";
  EXPECT_THROW(vision::Resize(60000)(image(1, 2000, 1)), Error) << "120,000,000 pixels wide";
  EXPECT_THROW(vision::Resize(0), ValueError);
  EXPECT_THROW(vision::Resize({4, 4})(Tensor::zeros({4, 4, 3}, DType::kInt64)), DTypeError);
  EXPECT_EQ(vision::Resize({2, 2}, vision::Inter::kNearest)(Tensor::full({4, 4, 3}, 1e15, DType::kInt64)).data<int64_t>()[11], 1000000000000000);
  EXPECT_THROW(vision::Resize({4, 4}, vision::Inter::kArea)(Tensor::zeros({4, 4, 5}, DType::kUInt8)), ShapeError);
  EXPECT_THROW(vision::Resize({4, 4})(Tensor::zeros({4}, DType::kUInt8)), ShapeError);
}

// Any number of channels and other element types, like cv::resize for those that it supports.
TEST(Resize, ChannelsAndElementTypes) {
  for (int channels : {2, 4, 5}) {
    const Tensor in = image(20, 17, 4, channels);
    cv::Mat expected;
    cv::resize(cv::Mat(20, 17, CV_8UC(channels), const_cast<void*>(in.raw_data())), expected, {7, 9}, 0, 0, cv::INTER_LINEAR);
    expect_same(vision::Resize({9, 7})(in), Tensor::from_data({9, 7, channels}, DType::kUInt8, expected.data));
  }
  const Tensor in = image(12, 11, 2);
  for (const auto& [dtype, depth] : {std::pair{DType::kFloat64, CV_64F}, {DType::kInt32, CV_16U}, {DType::kFloat32, CV_32F}}) {
    cv::Mat wide, expected;
    as_mat(in).convertTo(wide, depth);
    cv::resize(wide, expected, {7, 9}, 0, 0, cv::INTER_CUBIC);
    expected.convertTo(expected, depth == CV_16U ? CV_32S : depth);
    expect_same(vision::Resize({9, 7}, vision::Inter::kCubic)(transforms::TypeCast(dtype)(in)), Tensor::from_data({9, 7, 3}, dtype, expected.data));
  }
}

// Operations that accept batches treat each image as if it were alone.
TEST(Batches, EachImageAsAlone) {
  const Tensor a = image(9, 13, 1), b = image(9, 13, 2);
  std::vector<uint8_t> both(static_cast<const uint8_t*>(a.raw_data()), static_cast<const uint8_t*>(a.raw_data()) + a.nbytes());
  both.insert(both.end(), static_cast<const uint8_t*>(b.raw_data()), static_cast<const uint8_t*>(b.raw_data()) + b.nbytes());
  const Tensor batch = Tensor::from_data({2, 1, 9, 13, 3}, DType::kUInt8, both.data());
  const std::vector<Transform> all = {vision::Resize({5, 6}),
                                      vision::Resize(5),
                                      vision::CenterCrop({12, 5}),
                                      vision::HorizontalFlip(),
                                      vision::VerticalFlip(),
                                      vision::Rotate({20, 20}, {}),
                                      vision::Normalize({10, 20, 30}, {2, 4, 5}),
                                      vision::Rescale(0.5, -1),
                                      vision::PillowResize({5, 6}, true, vision::LongEdge::kCut)};
  for (const Transform& t : all) {
    const Tensor out = t(batch), one = t(a), other = t(b);
    ASSERT_EQ(out.dim(0) * out.dim(1), 2) << t.str();
    ASSERT_EQ(out.nbytes(), one.nbytes() + other.nbytes()) << t.str();
    EXPECT_EQ(std::memcmp(out.raw_data(), one.raw_data(), static_cast<size_t>(one.nbytes())), 0) << t.str();
    EXPECT_EQ(std::memcmp(static_cast<const uint8_t*>(out.raw_data()) + one.nbytes(), other.raw_data(), static_cast<size_t>(one.nbytes())), 0) << t.str();
  }
  EXPECT_THROW(vision::HWC2CHW()(batch), ShapeError);
  EXPECT_THROW(vision::Resize(5)(Tensor::zeros({0, 9, 13, 3}, DType::kUInt8)), Error);
}

TEST(Crops, CenterCropCutsAndPads) {
  const Tensor in = image(9, 8, 2);
  const Tensor out = vision::CenterCrop({4, 3})(in);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 3; ++x) EXPECT_EQ(out.data<uint8_t>()[(y * 3 + x) * 3], in.data<uint8_t>()[((y + 2) * 8 + x + 2) * 3]);
  }
  const Tensor padded = vision::CenterCrop({12, 8})(in);  // 3 rows of padding: 2 above, 1 below
  EXPECT_EQ(padded.data<uint8_t>()[1 * 8 * 3], 0);
  EXPECT_EQ(padded.data<uint8_t>()[2 * 8 * 3], in.data<uint8_t>()[0]);
  EXPECT_THROW(vision::CenterCrop(100)(in), BadSample);
}

TEST(Crops, RandomCropReachesAllPlacesWithPaddingOfEveryKind) {
  const Tensor in = image(6, 5, 3);
  const std::pair<vision::Border, int> borders[] = {{vision::Border::kConstant, cv::BORDER_CONSTANT},
                                                    {vision::Border::kEdge, cv::BORDER_REPLICATE},
                                                    {vision::Border::kReflect, cv::BORDER_REFLECT_101},
                                                    {vision::Border::kSymmetric, cv::BORDER_REFLECT}};
  for (const auto& [border, cv_border] : borders) {
    cv::Mat padded;
    cv::copyMakeBorder(as_mat(in), padded, 2, 4, 1, 3, cv_border, cv::Scalar(7, 8, 9));
    const vision::RandomCrop crop({5, 4}, {.padding = {1, 2, 3, 4}, .fill_value = {7, 8, 9}, .padding_mode = border});
    std::map<std::pair<int, int>, int> places;
    for (int i = 0; i < 600; ++i) {
      const Tensor out = crop(in);
      bool found = false;
      for (int y = 0; y + 5 <= padded.rows && !found; ++y) {
        for (int x = 0; x + 4 <= padded.cols && !found; ++x) {
          const cv::Mat diff = padded(cv::Rect(x, y, 4, 5)) != as_mat(out);
          found = cv::countNonZero(diff.reshape(1)) == 0;
          if (found) ++places[{y, x}];
        }
      }
      ASSERT_TRUE(found) << "not a window of the padded image";
    }
    EXPECT_GE(places.size(), 40u) << "of 8 x 6 places (equal windows count once)";
  }
  EXPECT_THROW(vision::RandomCrop(7)(in), BadSample);
  EXPECT_EQ(vision::RandomCrop(7, {.pad_if_needed = true})(in).shape(), (Shape{7, 7, 3}));
  EXPECT_THROW(vision::RandomCrop(7, {.padding = {1, 2, 3}}), ValueError);
  EXPECT_THROW(vision::RandomCrop(7, {.padding = {-1}}), ValueError);
}

TEST(Crops, RandomResizedCropStatisticsAndDecodingForm) {
  // A ramp image reveals the position and width of a crop: the values at the edges of the result.
  const int side = 200;
  cv::Mat ramp(side, side, CV_32FC3);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) ramp.at<cv::Vec3f>(y, x) = {static_cast<float>(x), static_cast<float>(y), 0};
  }
  const Tensor in = Tensor::from_data({side, side, 3}, DType::kFloat32, ramp.data);
  const vision::RandomResizedCrop crop(64);
  double area = 0, centre = 0;
  const int n = 1500;
  for (int i = 0; i < n; ++i) {
    const Tensor out = crop(in);
    const float* p = out.data<float>();
    const float* last = p + (63 * 64 + 63) * 3;
    const double w = (last[0] - p[0]) * 64 / 63, h = (last[1] - p[1]) * 64 / 63;
    EXPECT_GT(w / h, 0.72);
    EXPECT_LT(w / h, 1.38);
    area += w * h / (side * side) / n;
    centre += (last[0] + p[0]) / 2 / n;
  }
  EXPECT_NEAR(area, 0.5, 0.05) << "uniform in (0.08, 1), less crops that do not fit";
  EXPECT_NEAR(centre, (side - 1) / 2.0, 4);
  const auto file = encoded(picture(50, 70, 9));
  auto read = [&](std::vector<Transform> chain) {
    auto d = GeneratorDataset::make({.row = [&](int64_t) { return GeneratorDataset::Row{bytes_tensor(file)}; }, .size = 20, .column_names = {"image"}});
    return all_hashes(*d->map(std::move(chain))->create_iterator({.num_epochs = 1, .seed = 3}), 1);
  };
  EXPECT_EQ(read({transforms::TypeCast(DType::kUInt8), vision::RandomCropDecodeResize(24)}), read({vision::Decode(), vision::RandomResizedCrop(24)}));
  EXPECT_THROW(vision::RandomResizedCrop(8, {.scale = {0.5, 0.1}}), ValueError);
}

TEST(Arithmetic, RescaleNormalizeFlipLayout) {
  const Tensor in = image(4, 5, 6);
  const Tensor n = vision::Normalize({10, 20, 30}, {2, 4, 5})(in);
  const Tensor r = vision::Rescale(0.5, -1)(in);
  const Tensor f = vision::HorizontalFlip()(in);
  const Tensor t = vision::HWC2CHW()(in);
  EXPECT_EQ(t.shape(), (Shape{3, 4, 5}));
  const Tensor plane = Tensor::from_data({4, 5}, DType::kUInt8, in.raw_data());
  expect_same(vision::HWC2CHW()(plane), plane);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 3; ++c) {
        const int i = (y * 5 + x) * 3 + c;
        const float v = in.data<uint8_t>()[i];
        const float mean[] = {10, 20, 30}, std[] = {2, 4, 5};
        EXPECT_EQ(n.data<float>()[i], v * (1 / std[c]) + -(mean[c] / std[c]));
        EXPECT_EQ(r.data<float>()[i], v * 0.5f - 1);
        EXPECT_EQ(f.data<uint8_t>()[(y * 5 + 4 - x) * 3 + c], in.data<uint8_t>()[i]);
        EXPECT_EQ(t.data<uint8_t>()[(c * 4 + y) * 5 + x], in.data<uint8_t>()[i]);
      }
    }
  }
  const Tensor chw = vision::Normalize({10, 20, 30}, {2, 4, 5}, false)(t);
  expect_same(chw, vision::HWC2CHW()(n));
  EXPECT_THROW(vision::Normalize({1}, {0}), ValueError);
  EXPECT_THROW(vision::Normalize({1, 2}, {1}), ValueError);
  EXPECT_THROW(vision::Normalize({}, {}), ValueError);
  EXPECT_EQ(vision::Normalize({1, 2}, {1, 2})(Tensor::full({1, 1, 2}, 5, DType::kInt64)).to_vector<float>(), (std::vector<float>{4, 1.5f}));
  EXPECT_EQ(vision::Rescale(2, 1)(Tensor::full({2}, 3, DType::kFloat64)).to_vector<float>(), (std::vector<float>{7, 7}));
  EXPECT_THROW(vision::Normalize({1, 2, 3}, {1, 2, 3})(image(4, 4, 1, 1)), ShapeError);
  EXPECT_THROW(vision::RandomHorizontalFlip(1.5), ValueError);
}

TEST(Arithmetic, FlipRateIsTheProbability) {
  const Tensor in = image(2, 3, 1);
  const Tensor flipped = vision::HorizontalFlip()(in);
  const vision::RandomHorizontalFlip flip(0.3);
  int n = 0;
  for (int i = 0; i < 4000; ++i) n += std::memcmp(flip(in).raw_data(), flipped.raw_data(), 18) == 0 ? 1 : 0;
  EXPECT_NEAR(n / 4000.0, 0.3, 0.03);
}

TEST(Casts, ADeferredTransformHasItsTextAlone) {
  const Transform normalize = vision::Normalize({1.0}, {2.0}), later = transforms::Deferred(normalize);
  EXPECT_EQ(later.str(), normalize.str());
  const Tensor image = Tensor::from_values({2, 1, 1}, std::vector<double>{3, 7}, DType::kUInt8);
  EXPECT_EQ(later(image).dtype(), DType::kUInt8);
  EXPECT_EQ(later(image).to_vector<uint8_t>(), (std::vector<uint8_t>{3, 7}));
  EXPECT_THROW(transforms::Deferred(vision::RandomHorizontalFlip(0.5)), ValueError);
}

TEST(Casts, TypeCastAndOneHot) {
  const Tensor x = Tensor::from_vector({5}, std::vector<float>{-1.7f, 0.f, 300.f, std::nanf(""), 1e20f});
  EXPECT_EQ(transforms::TypeCast(DType::kUInt8)(x).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 255, 0, 255}));
  EXPECT_EQ(transforms::TypeCast(DType::kInt32)(x).to_vector<int64_t>(), (std::vector<int64_t>{-1, 0, 300, 0, 2147483647}));
  EXPECT_EQ(transforms::TypeCast(DType::kBool)(x).to_vector<int64_t>(), (std::vector<int64_t>{1, 0, 1, 1, 1}));
  EXPECT_EQ(transforms::TypeCast(DType::kFloat16)(x).to_vector<double>()[2], 300);
  const Tensor label = Tensor::scalar(2, DType::kInt32);
  EXPECT_EQ(transforms::OneHot(4)(label).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 1, 0}));
  const auto smooth = transforms::OneHot(4, 0.2)(label);
  EXPECT_EQ(smooth.dtype(), DType::kFloat32);
  EXPECT_FLOAT_EQ(smooth.data<float>()[2], 0.85f);
  EXPECT_FLOAT_EQ(smooth.data<float>()[0], 0.05f);
  EXPECT_EQ(caught<BadSample>([&] { transforms::OneHot(2)(label); }).code(), ErrorCode::kLabelRange);
  EXPECT_THROW(transforms::OneHot(2)(Tensor::zeros({1})), DTypeError);
  EXPECT_THROW(transforms::OneHot(0), ValueError);
}

TEST(CalledByHand, TransformsDrawIndependently) {
  const Tensor in = image(2, 3, 4);
  const Tensor mirrored = vision::HorizontalFlip()(in);
  auto flips = [&](const Transform& t) { return std::memcmp(t(in).raw_data(), mirrored.raw_data(), static_cast<size_t>(in.nbytes())) == 0; };
  const vision::RandomHorizontalFlip a, b;
  int fresh = 0, one = 0, equal = 0;
  for (int i = 0; i < 400; ++i) {
    fresh += flips(vision::RandomHorizontalFlip());  // a new object for each image, as a user's function may create it
    const bool first = flips(a);
    one += first;
    equal += first == flips(b);
  }
  for (int n : {fresh, one, equal}) EXPECT_NEAR(n, 200, 45) << "4.5 standard deviations";
}

// Every chain that the planner may fuse is bitwise identical to its parts, for odd widths around the vector length, and every type.
TEST(Fusion, SameBitsAsSeparateSteps) {
  const std::vector<std::vector<Transform>> chains = {
      {vision::RandomCrop({13, 15}, {.padding = {4}, .fill_value = {1, 2, 3}}), vision::RandomHorizontalFlip(), vision::Rescale(1.0 / 255, -0.1),
       vision::Normalize({0.5, 0.4, 0.3}, {0.2, 0.3, 0.4}), vision::HWC2CHW()},
      {vision::RandomHorizontalFlip(), vision::HorizontalFlip(), vision::Normalize({120}, {60})},
      {vision::CenterCrop({40, 40}), vision::Rescale(-1, 0), vision::HWC2CHW(), transforms::TypeCast(DType::kBFloat16)},
      {vision::Normalize({1, 2, 3}, {4, 5, 6}), transforms::TypeCast(DType::kFloat16)},
      {vision::HWC2CHW(), transforms::TypeCast(DType::kFloat32)},
      {vision::Rescale(1.0 / 255, -0.1)},
      {vision::RandomCrop({13, 15}, {.padding = {4}, .fill_value = {1, 2, 3}}), vision::RandomHorizontalFlip(), vision::Normalize({1, 2, 3}, {4, 5, 6})},
      {vision::CenterCrop({40, 9}), vision::RandomHorizontalFlip(), vision::Rescale(2, 1), transforms::TypeCast(DType::kFloat16)},
      {vision::Rescale(2, 1), vision::HWC2CHW(), vision::HorizontalFlip()},  // the last part does not belong to the tail: an error either way
  };
  for (size_t k = 0; k < chains.size(); ++k) {
    for (int w : {1, 7, 15, 16, 17, 31, 33, 65}) {
      for (int channels : {1, 3}) {
        std::vector<uint8_t> pixels(static_cast<size_t>(6 * 19 * w * channels));
        for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 37 + i / 7);
        const Tensor images = Tensor::from_vector({6, 19, w, channels}, pixels);
        auto read = [&]() -> std::vector<uint64_t> {
          auto d = NumpySlicesDataset::make({.columns = {{"image", images}}})->map(chains[k])->batch(2);
          try {
            return all_hashes(*d->create_iterator({.num_epochs = 1, .seed = 3}), 1);
          } catch (const Error& e) { return {static_cast<uint64_t>(e.code())}; }
        };
        const auto fused = read();
        ::setenv("SINDRI_DATA_PLAN", "none", 1);
        const auto separate = read();
        ::unsetenv("SINDRI_DATA_PLAN");
        EXPECT_EQ(fused, separate) << "chain " << k << ", width " << w << ", channels " << channels;
      }
    }
  }
}

TEST(Fusion, DecodeAndCropDecodeOnlyTheWindow) {
  TempDir dir;
  for (int i = 0; i < 4; ++i) write_bytes(dir / ("a/" + std::to_string(i) + ".jpg"), encoded(picture(150, 170, i)));
  auto read = [&](int64_t* windows) {
    auto d = ImageFolderDataset::make({.dataset_dir = dir.str()});
    d = d->map({vision::Decode(), vision::RandomResizedCrop(16, {.scale = {0.08, 0.2}}), vision::RandomHorizontalFlip(),
                vision::Normalize({1, 2, 3}, {4, 5, 6}), vision::HWC2CHW()})
            ->batch(2);
    auto it = d->create_iterator({.num_epochs = 3, .seed = 3});
    const auto h = all_hashes(*it, 3);
    *windows = it->stats().decoded_window;
    return h;
  };
  int64_t windows = 0;
  const auto fused = read(&windows);
  EXPECT_EQ(windows, 12);
  ::setenv("SINDRI_DATA_PLAN", "none", 1);
  const auto separate = read(&windows);
  ::unsetenv("SINDRI_DATA_PLAN");
  EXPECT_EQ(windows, 0);
  EXPECT_EQ(fused, separate);
}

TEST(Fusion, FloatAndRankTwoImagesTakeThePlainWay) {
  const Tensor f = Tensor::full({3, 6, 7, 3}, 2.5);
  auto d =
      NumpySlicesDataset::make({.columns = {{"image", f}}})->map({vision::RandomHorizontalFlip(), vision::Normalize({1}, {2}), vision::HWC2CHW()})->batch(3);
  auto it = d->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  ASSERT_TRUE(it->next(&c));
  EXPECT_EQ(c[0].meta().str(), "f32[3, 3, 6, 7]");
  EXPECT_EQ(c[0].data<float>()[5], 0.75f);
  const auto planes = NumpySlicesDataset::make({.columns = {{"image", Tensor::zeros({3, 6, 7})}}})->map({vision::HWC2CHW()})->columns();
  EXPECT_EQ(planes[0].shape, (Shape{6, 7})) << "[H, W] is already in planar order";
  EXPECT_THROW(NumpySlicesDataset::make({.columns = {{"image", Tensor::zeros({3, 6})}}})->map({vision::HWC2CHW()})->columns(), ShapeError);
}

TEST(Shapes, VaryingImagesNeedAResizeBeforeBatch) {
  TempDir dir;
  write_bytes(dir / "a/1.jpg", encoded(picture(8, 8, 1)));
  write_bytes(dir / "a/2.jpg", encoded(picture(8, 9, 1)));
  auto make = [&](std::vector<Transform> t) {
    return ImageFolderDataset::make({.dataset_dir = dir.str(), .shuffle = false})->map(std::move(t), {.input_columns = {"image"}});
  };
  std::vector<Tensor> c;
  auto it = make({vision::Decode()})->batch(2)->create_iterator({.num_epochs = 1});
  const DataError e = caught<DataError>([&] { it->next(&c); });
  EXPECT_NE(e.fix().find("Resize"), std::string::npos) << e.what();
  auto rows = make({vision::Decode()})->create_iterator({.num_epochs = 1});
  ASSERT_TRUE(rows->next(&c));
  EXPECT_EQ(c[0].shape(), (Shape{8, 8, 3}));
  ASSERT_TRUE(rows->next(&c));
  EXPECT_EQ(c[0].shape(), (Shape{8, 9, 3}));
  const ShapeError twice = caught<ShapeError>([&] { make({vision::Decode(), vision::Decode()})->columns(); });
  EXPECT_NE(twice.what(), nullptr);
  EXPECT_NE(std::string(twice.what()).find("map operation 2"), std::string::npos) << twice.what();
}

}  // namespace
}  // namespace sindri::dataset
