// Samples of the layout family and of host_call.
#include "tests/ops/samples.h"

namespace sindri::test::layout_samples {
namespace {

const std::string kLast = "channels_last", kPlain = "contiguous";

const bool kSamples = add_samples({
    {"to_layout", "plain", {{"layout", kLast}}, {{{2, 3, 4, 5}}}},
    {"to_layout", "keep", {{"layout", kPlain}}, {{{2, 3, 4, 5}}}},
    {"to_layout", "one_channel", {{"layout", kLast}}, {{{2, 1, 4, 5}}}},
    {"to_layout", "one_pixel", {{"layout", kLast}}, {{{3, 17, 1, 1}}}},
    {"to_layout", "empty", {{"layout", kLast}}, {{{0, 3, 4, 5}}}},
    {"to_layout", "odd_16", {{"layout", kLast}}, {{{1, 16, 3, 5}}}},
    {"to_layout", "odd_17", {{"layout", kLast}}, {{{1, 17, 5, 7}}}},
    {"to_layout", "odd_33", {{"layout", kLast}}, {{{2, 33, 3, 11}}}},
    {"to_layout", "vector", {{"layout", kPlain}}, {{{7}}}},
    {.op = "host_call", .name = "one", .args = {{{2, 3}}}, .gradient = false},
    {.op = "host_call", .name = "types", .args = {{{2, 3}}, {{4}, 0, 9, DType::kInt64}}, .gradient = false},
    {"to_layout", "bytes", {{"layout", kLast}}, {{{2, 3, 4, 4}, 0, 255, DType::kUInt8}}},
});

}  // namespace
}  // namespace sindri::test::layout_samples
