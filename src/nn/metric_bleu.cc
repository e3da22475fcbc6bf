// BLEU, the agreement of translations with reference translations (Papineni et al. 2002; MindSpore: train.BleuScore).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sindri/core/error.h"
#include "sindri/nn/metric.h"
#include "src/nn/metric_checks.h"

namespace sindri::nn {

namespace {

using Words = BleuScore::Words;
using Counts = std::map<Words, int64_t>;  // by n-gram

Counts ngrams(const Words& words, size_t longest) {
  Counts out;
  for (size_t n = 1; n <= std::min(longest, words.size()); ++n)
    for (auto first = words.begin(); first + static_cast<ptrdiff_t>(n) <= words.end(); ++first) ++out[Words(first, first + static_cast<ptrdiff_t>(n))];
  return out;
}

// Returns the length of the reference that is nearest in length, the first of equally near ones.
int64_t nearest_length(const Words& words, const std::vector<Words>& references) {
  const auto size = static_cast<int64_t>(words.size());
  const auto gap = [&](const Words& r) { return std::abs(static_cast<int64_t>(r.size()) - size); };
  return static_cast<int64_t>(std::min_element(references.begin(), references.end(), [&](const Words& a, const Words& b) { return gap(a) < gap(b); })->size());
}

}  // namespace

BleuScore::BleuScore(int64_t n_gram, bool smooth) : smooth_(smooth), hits_(static_cast<size_t>(std::clamp<int64_t>(n_gram, 1, 4))), counts_(hits_.size()) {
  if (n_gram < 1 || n_gram > 4) throw ValueError(fmt::format("BleuScore: n_gram must be from 1 to 4, got {}", n_gram));
}

void BleuScore::clear() {
  updated_ = false;
  length_ = reference_length_ = 0;
  std::fill(hits_.begin(), hits_.end(), 0);
  std::fill(counts_.begin(), counts_.end(), 0);
}

void BleuScore::update(const std::vector<Words>& candidates, const std::vector<std::vector<Words>>& references) {
  if (candidates.size() != references.size())
    throw ValueError(fmt::format("BleuScore: as many candidates as lists of references are needed, got {} and {}", candidates.size(), references.size()));
  for (size_t i = 0; i < candidates.size(); ++i)
    if (references[i].empty()) throw ValueError(fmt::format("BleuScore: candidate {} has no reference", i));
  for (size_t i = 0; i < candidates.size(); ++i) {
    length_ += static_cast<int64_t>(candidates[i].size());
    reference_length_ += nearest_length(candidates[i], references[i]);
    Counts allowed;  // the highest count of each n-gram in any one reference
    for (const Words& r : references[i])
      for (const auto& [gram, count] : ngrams(r, hits_.size())) allowed[gram] = std::max(allowed[gram], count);
    for (const auto& [gram, count] : ngrams(candidates[i], hits_.size())) {
      const auto it = allowed.find(gram);
      hits_[gram.size() - 1] += it == allowed.end() ? 0 : std::min(count, it->second);
      counts_[gram.size() - 1] += count;
    }
  }
  updated_ = true;
}

std::map<std::string, std::vector<double>> BleuScore::counts() const {
  return {{"numerator", {hits_.begin(), hits_.end()}}, {"denominator", {counts_.begin(), counts_.end()}}};
}

double BleuScore::eval() const {
  check_counted("BleuScore", updated_);
  if (std::find(hits_.begin(), hits_.end(), 0) != hits_.end()) return 0;
  double sum = 0;
  for (size_t n = 0; n < hits_.size(); ++n) sum += std::log(static_cast<double>(hits_[n] + smooth_) / static_cast<double>(counts_[n] + smooth_));
  const double mean = std::exp(sum / static_cast<double>(hits_.size()));
  const double penalty = length_ > reference_length_ ? 1 : std::exp(1 - static_cast<double>(reference_length_) / static_cast<double>(length_));
  return penalty * mean;
}

}  // namespace sindri::nn
