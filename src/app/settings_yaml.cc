// See settings_yaml.h. Uses yaml-cpp's events rather than its tree. The tree silently keeps the first of two equal keys, resolves aliases and drops tags.
// Events show all of them, and the stack here limits the depth.
#include "src/app/settings_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <sstream>

#include "sindri/core/error.h"
#include "src/core/utf8.h"

namespace sindri::app {

namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kMaxDepth = 64;
constexpr const char* kShape = "write section: and, indented below it, key: value";

class Reader : public YAML::EventHandler {
 public:
  explicit Reader(std::string origin) : origin_(std::move(origin)) {}
  std::vector<YamlItem> items;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    if (!name.empty()) refuse(mark, fmt::format("anchor &{}", name), "write the value at each use");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "alias (*name)", "write the value itself"); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    no_anchor(mark, anchor);
    if (stack_.empty()) return;  // an empty file sets nothing
    if (is_key()) fail(mark, "a key is empty", kShape);
    const Level& top = stack_.back();
    const std::string name = top.in_list ? items.back().name : path(top.key);
    // yaml-cpp's mark of an empty value is at the next token, but the error should point to the key.
    YAML::Mark key = mark;
    if (!top.in_list) key.line = top.line - 1, key.column = top.column - 1;
    fail(key, fmt::format("{} has no value", name), stack_.size() == 1 ? "remove the section or give it keys" : "write a value or remove the line");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    no_anchor(mark, anchor);
    no_tag(mark, tag);
    if (stack_.empty()) fail(mark, fmt::format("the file holds '{}', not a mapping", value), kShape);
    Level& top = stack_.back();
    if (top.in_list) {
      items.back().values.push_back(value);  // lists hold scalars only, so the last item is this list
    } else if (is_key()) {
      take_key(mark, value);
    } else {
      items.push_back({path(top.key), YamlItem::kScalar, {value}, tag == "!", top.line, top.column});
      top.has_key = false;
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, "a list");
    if (stack_.empty()) fail(mark, "the file holds a list, not a mapping", kShape);
    const Level& top = stack_.back();
    if (top.in_list) fail(mark, fmt::format("{} holds a list inside a list", items.back().name), "write one list of values");
    items.push_back({path(top.key), YamlItem::kList, {}, false, top.line, top.column});
    stack_.emplace_back().in_list = true;
  }
  void OnSequenceEnd() override {
    stack_.pop_back();
    stack_.back().has_key = false;
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, "a mapping");
    if (!stack_.empty()) {
      const Level& top = stack_.back();
      if (top.in_list) fail(mark, fmt::format("{} holds a mapping inside a list", items.back().name), "write one list of values");
      items.push_back({path(top.key), YamlItem::kSection, {}, false, top.line, top.column});
    }
    stack_.push_back({});
  }
  void OnMapEnd() override {
    stack_.pop_back();
    if (!stack_.empty()) stack_.back().has_key = false;
  }

 private:
  struct Level {
    bool in_list = false;
    bool has_key = false;  // a key was read, its value comes next
    std::string key;
    int line = 0, column = 0;  // of that key
    std::map<std::string, std::pair<int, int>> seen;
  };

  bool is_key() const { return !stack_.back().in_list && !stack_.back().has_key; }
  // "a.b" of the levels above plus this level's key.
  std::string path(const std::string& key) const {
    std::string s;
    for (size_t i = 0; i + 1 < stack_.size(); ++i) s += stack_[i].key + ".";
    return s + key;
  }
  void take_key(const YAML::Mark& mark, const std::string& key) {
    Level& top = stack_.back();
    if (key.find('.') != std::string::npos)
      fail(mark, fmt::format("the key '{}' holds a dot", key),
           fmt::format("write {}: and, indented below it, {}: value", key.substr(0, key.find('.')), key.substr(key.find('.') + 1)));
    const auto [it, fresh] = top.seen.try_emplace(key, mark.line + 1, mark.column + 1);
    if (!fresh) {
      throw SettingsError(ErrorCode::kDuplicateSetting, fmt::format("{} is given twice, first in line {}", path(key), it->second.first), at(mark),
                          "remove one of them");
    }
    top.key = key;
    top.has_key = true;
    top.line = mark.line + 1;
    top.column = mark.column + 1;
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const char* what) {
    no_anchor(mark, anchor);
    no_tag(mark, tag);
    if (stack_.size() >= kMaxDepth) fail(mark, fmt::format("settings are nested deeper than {} levels", kMaxDepth), "");
    if (!stack_.empty() && is_key()) fail(mark, fmt::format("{} cannot be a key", what), kShape);
  }
  void no_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "anchor (&name)", "write the value at each use");
  }
  void no_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, fmt::format("tag {}", tag), "remove the tag");
  }
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what, const std::string& fix) {
    fail(mark, "settings files may not use YAML's " + what, fix);
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message, const std::string& fix) { throw SettingsError(message, at(mark), fix); }
  std::string at(const YAML::Mark& mark) const { return fmt::format("{}:{}:{}", origin_, mark.line + 1, mark.column + 1); }

  std::string origin_;
  std::vector<Level> stack_;
};

// yaml-cpp ignores unknown directives. They come before the document, at the start of a line.
void refuse_directives(const std::string& text, const std::string& origin) {
  int line = 1;
  for (size_t start = text.starts_with("\xef\xbb\xbf") ? 3 : 0; start < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string row = text.substr(start, end - start);
    const std::string word = row.substr(0, row.find_first_of(" \t\r"));
    if (row[0] == '%' && word != "%YAML")
      throw SettingsError(fmt::format("settings files may not use YAML's directive {}", word), fmt::format("{}:{}:1", origin, line), "remove the line");
    const size_t first = row.find_first_not_of(" \t\r");
    if (first != std::string::npos && row[first] != '#' && row[0] != '%') return;  // the document has started
    start = end + 1;
  }
}

}  // namespace

std::vector<YamlItem> parse_settings_yaml(const std::string& text, const std::string& origin) {
  if (text.size() > kMaxBytes) {
    throw SettingsError(fmt::format("the settings file has {} bytes, more than the {} allowed", text.size(), kMaxBytes), origin, "is this the right file?");
  }
  if (const int64_t bad = first_invalid_utf8(text); bad >= 0) {
    throw SettingsError("the settings file is not UTF-8 text", fmt::format("{}, byte {}", origin, bad), "save it as UTF-8");
  }
  if (const size_t nul = text.find('\0'); nul != std::string::npos)
    throw SettingsError("the settings file holds a zero byte", fmt::format("{}, byte {}", origin, nul));
  refuse_directives(text, origin);
  std::istringstream in(text);
  Reader reader(origin);
  try {
    YAML::Parser parser(in);
    parser.HandleNextDocument(reader);
    if (parser) {
      Reader rest(origin);
      if (parser.HandleNextDocument(rest)) throw SettingsError("the file holds more than one YAML document", origin, "remove the '---' lines");
    }
  } catch (const YAML::Exception& e) {
    throw SettingsError(fmt::format("invalid YAML: {}", e.msg), fmt::format("{}:{}:{}", origin, e.mark.line + 1, e.mark.column + 1),
                        "check the indentation, quotes and brackets near there");
  }
  return std::move(reader.items);
}

}  // namespace sindri::app
