// TIFF by libtiff, whose RGBA reader knows its many colour forms, compressions and layouts.
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

struct Input {
  const uint8_t* data;
  uint64_t bytes, at;
  char message[200];
};

tmsize_t read(thandle_t handle, void* out, tmsize_t wanted) {
  Input* in = static_cast<Input*>(handle);
  if (in->at >= in->bytes || wanted <= 0) return 0;
  const uint64_t n = std::min<uint64_t>(static_cast<uint64_t>(wanted), in->bytes - in->at);
  std::memcpy(out, in->data + in->at, n);
  in->at += n;
  return static_cast<tmsize_t>(n);
}
tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  Input* in = static_cast<Input*>(handle);
  in->at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? in->at + offset : in->bytes + offset;
  return in->at;
}
int close(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return static_cast<Input*>(handle)->bytes; }

int on_error(TIFF*, void* user, const char*, const char* form, va_list arguments) {
  Input* in = static_cast<Input*>(user);
  if (in->message[0] == 0) std::vsnprintf(in->message, sizeof in->message, form, arguments);  // the first tells the cause
  return 1;
}
int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }  // odd tags that leave the picture whole

struct Close {
  void operator()(TIFF* t) const { TIFFClose(t); }
  void operator()(TIFFOpenOptions* o) const { TIFFOpenOptionsFree(o); }
};

}  // namespace

void decode_tiff(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb) {
  Input in{data, static_cast<uint64_t>(bytes), 0, ""};
  const std::unique_ptr<TIFFOpenOptions, Close> options(TIFFOpenOptionsAlloc());
  // What a tag of a few bytes may make the library allocate: a strip of the largest picture that is read.
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxPixels * 8);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &in);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, &in);
  const auto why = [&](const char* otherwise) { return std::string(in.message[0] != 0 ? in.message : otherwise); };
  const std::unique_ptr<TIFF, Close> tiff(TIFFClientOpenExt("image", "rm", &in, read, write, seek, close, size_of, nullptr, nullptr, options.get()));
  if (tiff == nullptr) throw_damaged("TIFF", why("its directory cannot be read"));
  uint32_t width = 0, height = 0;
  if (TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 0 || TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) == 0 || width != size.width ||
      height != size.height)
    throw_damaged("TIFF", "two sizes in one file");
  char unsupported[1024] = "";
  if (TIFFRGBAImageOK(tiff.get(), unsupported) == 0) throw_unsupported("TIFF", unsupported);
  std::vector<uint32_t> raster(static_cast<size_t>(width) * height);
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT, 1) == 0) throw_damaged("TIFF", why("its data are damaged"));
  for (size_t i = 0; i < raster.size(); ++i) {
    rgb[3 * i] = static_cast<uint8_t>(TIFFGetR(raster[i]));
    rgb[3 * i + 1] = static_cast<uint8_t>(TIFFGetG(raster[i]));
    rgb[3 * i + 2] = static_cast<uint8_t>(TIFFGetB(raster[i]));
  }
}

}  // namespace sindri::dataset
