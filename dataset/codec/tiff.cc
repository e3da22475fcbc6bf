// TIFF by libtiff, whose RGBA reader supports its many colour forms, compressions and layouts.
#include <fmt/format.h>
#include <tiffio.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "dataset/codec/decode.h"

namespace sindri::dataset {

namespace {

struct TiffInput {
  const uint8_t* data;
  uint64_t bytes, at;
  char message[200];
};

tmsize_t read(thandle_t handle, void* out, tmsize_t wanted) {
  TiffInput* in = static_cast<TiffInput*>(handle);
  if (in->at >= in->bytes || wanted <= 0) return 0;
  const uint64_t n = std::min<uint64_t>(static_cast<uint64_t>(wanted), in->bytes - in->at);
  std::memcpy(out, in->data + in->at, n);
  in->at += n;
  return static_cast<tmsize_t>(n);
}
tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  TiffInput* in = static_cast<TiffInput*>(handle);
  in->at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? in->at + offset : in->bytes + offset;
  return in->at;
}
int close(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return static_cast<TiffInput*>(handle)->bytes; }

int on_error(TIFF*, void* user, const char*, const char* form, va_list arguments) {
  TiffInput* in = static_cast<TiffInput*>(user);
  if (in->message[0] == 0) std::vsnprintf(in->message, sizeof in->message, form, arguments);  // the first message names the cause
  return 1;
}
int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }  // odd tags that do not affect the image

struct Close {
  void operator()(TIFF* t) const { TIFFClose(t); }
  void operator()(TIFFOpenOptions* o) const { TIFFOpenOptionsFree(o); }
};

// The first image of a file in memory.
class File {
 public:
  File(const uint8_t* data, int64_t bytes) : in_{data, static_cast<uint64_t>(bytes), 0, ""}, options_(TIFFOpenOptionsAlloc()) {
    // Limits what a tag of a few bytes can make the library allocate: a strip of the largest image accepted.
    TIFFOpenOptionsSetMaxSingleMemAlloc(options_.get(), kMaxPixels * 8);
    TIFFOpenOptionsSetErrorHandlerExtR(options_.get(), on_error, &in_);
    TIFFOpenOptionsSetWarningHandlerExtR(options_.get(), on_warning, &in_);
    tiff_.reset(TIFFClientOpenExt("image", "rm", &in_, read, write, seek, close, size_of, nullptr, nullptr, options_.get()));
    if (tiff_ == nullptr) throw_damaged("TIFF", why("its directory cannot be read"));
  }
  TIFF* get() const { return tiff_.get(); }
  // The library's first message.
  std::string why(const char* otherwise) const { return in_.message[0] != 0 ? in_.message : otherwise; }
  void check(ImageSize size) const {
    uint32_t width = 0, height = 0;
    if (TIFFGetField(get(), TIFFTAG_IMAGEWIDTH, &width) == 0 || TIFFGetField(get(), TIFFTAG_IMAGELENGTH, &height) == 0 || width != size.width ||
        height != size.height)
      throw_damaged("TIFF", "two sizes in one file");
  }
  uint16_t field(uint32_t tag) const {
    uint16_t v = 0;
    return TIFFGetFieldDefaulted(get(), tag, &v) != 0 ? v : uint16_t{0};
  }

 private:
  TiffInput in_;
  std::unique_ptr<TIFFOpenOptions, Close> options_;
  std::unique_ptr<TIFF, Close> tiff_;
};

}  // namespace

PixelForm tiff_form(const uint8_t* data, int64_t bytes) {
  const File file(data, bytes);
  const uint16_t photometric = file.field(TIFFTAG_PHOTOMETRIC), bits = file.field(TIFFTAG_BITSPERSAMPLE), kind = file.field(TIFFTAG_SAMPLEFORMAT);
  const bool grey = photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
  const bool whole = kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_VOID;
  // Samples of these files are read row by row: no tiles, no planes, nothing to convert.
  const bool plain = TIFFIsTiled(file.get()) == 0 && (file.field(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG || file.field(TIFFTAG_SAMPLESPERPIXEL) == 1) &&
      (photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_RGB);
  if (plain && bits == 16 && whole) return {grey ? 1 : 3, 2};
  if (plain && bits == 32 && kind == SAMPLEFORMAT_IEEEFP) return {grey ? 1 : 3, 4};
  return {grey ? 1 : 3, 1};
}

void decode_tiff_samples(const uint8_t* data, int64_t bytes, ImageSize size, PixelForm form, uint8_t* out) {
  const File file(data, bytes);
  file.check(size);
  const size_t stored = file.field(TIFFTAG_SAMPLESPERPIXEL), wanted = static_cast<size_t>(form.channels), sample = static_cast<size_t>(form.bytes);
  const size_t width = static_cast<size_t>(size.width);
  const tmsize_t line = TIFFScanlineSize(file.get());
  if (stored < wanted || line < 0 || static_cast<size_t>(line) < width * stored * sample) throw_damaged("TIFF", "its rows are too short");
  std::vector<uint8_t> row(static_cast<size_t>(line));
  for (int64_t y = 0; y < size.height; ++y) {
    if (TIFFReadScanline(file.get(), row.data(), static_cast<uint32_t>(y), 0) < 0) throw_damaged("TIFF", file.why("its data are damaged"));
    for (size_t x = 0; x < width; ++x, out += wanted * sample) std::memcpy(out, row.data() + x * stored * sample, wanted * sample);
  }
}

void decode_tiff(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb) {
  const File file(data, bytes);
  file.check(size);
  const uint32_t width = static_cast<uint32_t>(size.width), height = static_cast<uint32_t>(size.height);
  char unsupported[1024] = "";
  if (TIFFRGBAImageOK(file.get(), unsupported) == 0) throw_unsupported("TIFF", unsupported);
  std::vector<uint32_t> raster(static_cast<size_t>(width) * height);
  if (TIFFReadRGBAImageOriented(file.get(), width, height, raster.data(), ORIENTATION_TOPLEFT, 1) == 0) throw_damaged("TIFF", file.why("its data are damaged"));
  for (size_t i = 0; i < raster.size(); ++i) {
    rgb[3 * i] = static_cast<uint8_t>(TIFFGetR(raster[i]));
    rgb[3 * i + 1] = static_cast<uint8_t>(TIFFGetG(raster[i]));
    rgb[3 * i + 2] = static_cast<uint8_t>(TIFFGetB(raster[i]));
  }
}

}  // namespace sindri::dataset
