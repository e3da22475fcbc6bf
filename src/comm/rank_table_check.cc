// Finds all problems in the text of a rank table, not only the first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sindri/comm/rank_table.h"
#include "src/comm/host_address.h"

namespace sindri::comm {

namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr int64_t kMaxBytes = int64_t{64} << 20;

// Counts the characters that it reads, so that a key's position is known when the parser reports it.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  const char* at;
  size_t* read;
  const char& operator*() const { return *at; }
  CountingIterator& operator++() {
    ++at;
    ++*read;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

// Returns "LINE:COLUMN" of a byte, both from 1.
std::string place(const std::string& text, size_t byte) {
  byte = std::min(byte, text.size());
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(byte);
  const auto line = 1 + std::count(text.begin(), end, '\n');
  const size_t start = byte == 0 ? std::string::npos : text.rfind('\n', byte - 1);
  return fmt::format("{}:{}", line, byte - (start == std::string::npos ? 0 : start + 1) + 1);
}

// Returns the parser's reason, corrected: after a member the parser says that only the end was expected.
std::string reason(const std::string& what) {
  const size_t dash = what.find(" - ");
  std::string text = dash == std::string::npos ? what.substr(what.find("] ") + 2) : what.substr(dash + 3);
  std::string unexpected = text, expected;
  if (const size_t semicolon = text.find(';'); semicolon != std::string::npos) {
    unexpected = text.substr(0, semicolon);
    if (const size_t at = text.rfind("expected "); at != std::string::npos && at > semicolon) expected = text.substr(at + 9);
  }
  if (expected == "']'") expected = "',' or ']'";
  if (expected == "'}'") expected = "',' or '}'";
  for (size_t at; (at = unexpected.find("<U+")) != std::string::npos;) unexpected.erase(at, 1);  // of control characters
  return expected.empty() ? unexpected
                          : fmt::format("expected {}, got {}", expected, unexpected.starts_with("unexpected ") ? unexpected.substr(11) : unexpected);
}

// Finds what the JSON library would accept or crash on: duplicate keys, and excessive depth.
class Watcher : public nlohmann::json_sax<json> {
 public:
  Watcher(const std::string& text, const std::string& file, const size_t* read, std::vector<RankTableProblem>* problems)
      : text_(text), file_(file), read_(read), problems_(problems) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return deeper();
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    keys_.emplace_back();
    return deeper();
  }
  bool end_array() override { return end_object(); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      const size_t open = text_.rfind('"' + name + '"', *read_ > 0 ? *read_ - 1 : 0);
      add(open == std::string::npos ? *read_ : open, fmt::format("not valid: key \"{}\" is given twice", name));
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const json::exception& e) override {
    // The parser gives the last character of the unexpected token; its first character is more useful.
    const bool whole = position >= token.size() && !token.empty() && text_.compare(position - token.size(), token.size(), token) == 0;
    add(whole ? position - token.size() : position > 0 ? position - 1 : 0, "not valid JSON: " + reason(e.what()));
    return false;
  }

 private:
  bool deeper() {
    if (keys_.size() <= kMaxDepth) return true;
    add(*read_ > 0 ? *read_ - 1 : 0, fmt::format("not valid: nested deeper than {} levels", kMaxDepth));
    return false;
  }
  void add(size_t byte, const std::string& text) { problems_->push_back({ErrorCode::kTableJson, fmt::format("{}:{}: {}", file_, place(text_, byte), text)}); }
  const std::string& text_;
  const std::string& file_;
  const size_t* read_;
  std::vector<RankTableProblem>* problems_;
  std::vector<std::set<std::string>> keys_;
};

// "0..6,8".
std::string ranges(const std::set<int64_t>& ids) {
  std::string out;
  for (auto it = ids.begin(); it != ids.end();) {
    const int64_t first = *it;
    int64_t last = first;
    for (++it; it != ids.end() && *it == last + 1; ++it) ++last;
    out += (out.empty() ? "" : ",") + (first == last ? std::to_string(first) : fmt::format("{}..{}", first, last));
  }
  return out;
}

std::string kind_of(const json& j) {
  return j.is_object() ? "an object" : j.is_array() ? "a list" : j.is_string() ? "a text" : j.is_null() ? "null" : "a number or truth value";
}

// "10.*.*.*", as in example tables.
bool is_placeholder(const std::string& address) { return address.find('*') != std::string::npos; }

class Checker {
 public:
  explicit Checker(RankTableCheck* out) : out_(*out) {}

  void table(const json& j) {
    if (!j.is_object()) return add(ErrorCode::kTableField, fmt::format("the file holds {}, not an object", kind_of(j)));
    note_unknown(j, {"version", "server_count", "server_list", "status"}, "");
    if (const auto version = text_of(j, "version", ""); version && *version != "1.0")
      add(ErrorCode::kTableVersion, fmt::format("version \"{}\" not supported, expected \"1.0\"", *version));
    if (const auto status = text_of(j, "status", ""); status && *status != "completed")
      add(ErrorCode::kTableStatus, fmt::format("status is \"{}\", expected \"completed\"", *status));
    const std::optional<std::string> count = text_of(j, "server_count", "");
    const json* servers = list_of(j, "server_list", "");
    if (servers != nullptr && count) {
      const auto n = number(*count, "server_count", "");
      if (n && *n != static_cast<int64_t>(servers->size()))
        add(ErrorCode::kTableCounts,
            fmt::format("server_count is \"{}\" but server_list has {} entr{}", *count, servers->size(), servers->size() == 1 ? "y" : "ies"));
    }
    if (servers == nullptr) return;
    int64_t devices = 0;
    for (size_t i = 0; i < servers->size(); ++i) devices += server((*servers)[i], static_cast<int>(i));
    if (devices > kMaxTableRanks) add(ErrorCode::kTableCounts, fmt::format("the table has {} devices, at most {} are supported", devices, kMaxTableRanks));
    ranks();
    servers_once();
  }

 private:
  void add(ErrorCode code, const std::string& text, bool warning = false) { out_.problems.push_back({code, text, warning}); }

  // `of`: " of server 1 device 2", or empty.
  std::optional<std::string> text_of(const json& j, const char* key, const std::string& of) {
    const auto it = j.find(key);
    if (it == j.end()) {
      add(ErrorCode::kTableField, fmt::format("missing field \"{}\"{}", key, of));
    } else if (it->is_string()) {
      return it->get<std::string>();
    } else if (it->is_number_integer()) {
      return it->dump();
    } else {
      add(ErrorCode::kTableField, fmt::format("field \"{}\"{} is {}, not a string", key, of, kind_of(*it)));
    }
    return std::nullopt;
  }

  const json* list_of(const json& j, const char* key, const std::string& of) {
    const auto it = j.find(key);
    if (it == j.end()) {
      add(ErrorCode::kTableField, fmt::format("missing field \"{}\"{}", key, of));
    } else if (!it->is_array()) {
      add(ErrorCode::kTableField, fmt::format("field \"{}\"{} is not a list", key, of));
    } else if (it->empty()) {
      add(ErrorCode::kTableField, fmt::format("field \"{}\"{} is empty", key, of));
    } else {
      return &*it;
    }
    return nullptr;
  }

  std::optional<int64_t> number(const std::string& text, const char* key, const std::string& of) {
    int32_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error == std::errc() && end == text.data() + text.size() && n >= 0) return n;
    add(ErrorCode::kTableNumber,
        fmt::format("{} \"{}\"{} is not a number{}", key, text, of, error == std::errc::result_out_of_range || n < 0 ? " from 0 to 2147483647" : ""));
    return std::nullopt;
  }

  std::optional<int64_t> number_of(const json& j, const char* key, const std::string& of) {
    const auto text = text_of(j, key, of);
    return text ? number(*text, key, of) : std::nullopt;
  }

  void note_unknown(const json& j, const std::set<std::string>& known, const std::string& of) {
    for (const auto& [key, value] : j.items()) {
      if (!known.contains(key)) out_.notes.push_back(fmt::format("key \"{}\"{} is ignored", key, of));
    }
  }

  // Returns the number of devices listed.
  int64_t server(const json& j, int index) {
    RankServer s;
    const std::string of = fmt::format(" of server {}", index);
    if (!j.is_object()) {
      add(ErrorCode::kTableField, fmt::format("server {} is not an object", index));
      out_.table.servers.push_back(s);
      return 0;
    }
    note_unknown(j, {"server_id", "device", "host_nic_ip"}, of);
    if (const auto id = text_of(j, "server_id", of)) {
      s.server_id = *id;
      if (is_placeholder(*id))
        add(ErrorCode::kTableAddress,
            fmt::format("server_id \"{}\"{} is a placeholder: write the address at which other hosts reach this server (hostname -I prints it there)", *id,
                        of));
      else if (!is_numeric_address(*id) && !is_host_name(*id))
        add(ErrorCode::kTableAddress, fmt::format("server_id \"{}\" is neither an IPv4/IPv6 address nor a resolvable name", *id));
    }
    if (j.contains("host_nic_ip")) s.host_nic_ip = text_of(j, "host_nic_ip", of).value_or("reserve");
    const json* devices = list_of(j, "device", of);
    std::map<int64_t, int> seen;
    for (size_t d = 0; devices != nullptr && d < devices->size() && d <= kMaxTableRanks; ++d) {
      s.devices.push_back(device((*devices)[d], index, static_cast<int>(d)));
      if (s.devices.back().device_id >= 0) ++seen[s.devices.back().device_id];
    }
    for (const auto& [id, times] : seen) {
      if (times > 1)
        add(ErrorCode::kTableDeviceTwice,
            fmt::format("device_id {} appears {} on server {}", id, times == 2 ? "twice" : fmt::format("{} times", times),
                        s.server_id.empty() ? std::to_string(index) : s.server_id));
    }
    out_.table.servers.push_back(std::move(s));
    return devices == nullptr ? 0 : static_cast<int64_t>(devices->size());
  }

  RankDevice device(const json& j, int server, int index) {
    RankDevice d{.rank = -1, .device_id = -1, .device_ip = {}};
    const std::string of = fmt::format(" of server {} device {}", server, index);
    if (!j.is_object()) {
      add(ErrorCode::kTableField, fmt::format("device {} of server {} is not an object", index, server));
      return d;
    }
    note_unknown(j, {"device_id", "device_ip", "rank_id"}, of);
    d.device_id = static_cast<int>(number_of(j, "device_id", of).value_or(-1));
    d.rank = static_cast<int>(number_of(j, "rank_id", of).value_or(-1));
    d.device_ip = text_of(j, "device_ip", of).value_or("");
    if (!d.device_ip.empty() && !is_numeric_address(d.device_ip) && !is_host_name(d.device_ip))
      add(ErrorCode::kTableAddress, fmt::format("device_ip \"{}\"{} is neither an IPv4/IPv6 address nor a resolvable name", d.device_ip, of));
    return d;
  }

  // Each rank occurs once, none is missing, and they are in order on each server.
  void ranks() {
    std::map<int64_t, std::vector<std::string>> where;
    int64_t n = 0;
    for (size_t s = 0; s < out_.table.servers.size(); ++s) {
      const std::vector<RankDevice>& devices = out_.table.servers[s].devices;
      bool consecutive = true;
      for (size_t d = 0; d < devices.size(); ++d) {
        if (d > 0 && devices[d].rank != devices[d - 1].rank + 1) consecutive = false;
        if (devices[d].rank < 0) continue;
        where[devices[d].rank].push_back(fmt::format("server {} device {}", s, d));
        ++n;
      }
      const bool readable = std::all_of(devices.begin(), devices.end(), [](const RankDevice& d) { return d.rank >= 0; });
      if (!consecutive && readable)
        add(ErrorCode::kTableOrder, fmt::format("ranks of server {} are not consecutive; local-rank order follows the list", s), true);
    }
    std::set<int64_t> ids, missing;
    for (const auto& [rank, places] : where) {
      ids.insert(rank);
      if (places.size() > 1)
        add(ErrorCode::kTableRankTwice,
            fmt::format("rank_id {} appears {} ({})", rank, places.size() == 2 ? "twice" : fmt::format("{} times", places.size()), fmt::join(places, ", ")));
    }
    for (int64_t r = 0; r < n; ++r) {
      if (!ids.contains(r)) missing.insert(r);
    }
    if (!missing.empty())
      add(ErrorCode::kTableRankMissing, fmt::format("rank ids are {}: {} {} missing", ranges(ids), ranges(missing), missing.size() == 1 ? "is" : "are"));
  }

  void servers_once() {
    std::map<std::string, int> times;
    for (const RankServer& s : out_.table.servers) {
      if (!s.server_id.empty() && !is_placeholder(s.server_id) && ++times[canonical_address(s.server_id)] == 2)
        add(ErrorCode::kTableServerTwice, fmt::format("server_id {} appears twice; merge the device lists", s.server_id));
    }
  }

  RankTableCheck& out_;
};

}  // namespace

std::string RankTableProblem::label() const { return fmt::format("RT{:02}", static_cast<int>(code) - 2200); }

bool RankTableCheck::ok() const {
  return std::all_of(problems.begin(), problems.end(), [](const RankTableProblem& p) { return p.warning; });
}

RankTableCheck check_rank_table(const std::string& text, const std::string& file) {
  RankTableCheck out;
  out.table.file = file;
  size_t read = 0;
  Watcher watcher(text, file, &read, &out.problems);
  const CountingIterator begin{text.data(), &read}, end{text.data() + text.size(), &read};
  if (json::sax_parse(begin, end, &watcher) && out.ok()) Checker(&out).table(json::parse(text));
  std::stable_sort(out.problems.begin(), out.problems.end(), [](const RankTableProblem& a, const RankTableProblem& b) { return a.code < b.code; });
  return out;
}

RankTableCheck check_rank_table_file(const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    return SettingsError(fmt::format("the rank table cannot be read: {}", why), file, "name a rank table; sindri ranktable generate writes one");
  };
  struct stat s {};
  if (stat(file.c_str(), &s) != 0) throw refuse(std::strerror(errno));
  if (!S_ISREG(s.st_mode)) throw refuse("it is not a regular file");
  if (s.st_size > kMaxBytes) throw refuse("it has more than 64 MB");
  std::ifstream in(file, std::ios::binary);
  std::string text(static_cast<size_t>(s.st_size), '\0');
  if (!in || (s.st_size > 0 && !in.read(text.data(), s.st_size))) throw refuse(std::strerror(errno));
  return check_rank_table(text, file);
}

std::vector<RankTableProblem> check_rank_table_here(const RankTable& table) {
  std::vector<RankTableProblem> out;
  std::vector<std::string> ids;
  for (const RankServer& s : table.servers) {
    ids.push_back(s.server_id);
    if (!is_numeric_address(s.server_id) && !resolves(s.server_id))
      out.push_back({ErrorCode::kTableAddress, fmt::format("server_id \"{}\" is a name that this host cannot resolve", s.server_id), true});
  }
  if (servers_here(table).empty())
    out.push_back({ErrorCode::kTableRank,
                   ids.size() == 1 ? fmt::format("this host does not have the address {}", ids[0])
                                   : fmt::format("this host has none of the addresses {}", fmt::join(ids, ", ")),
                   true});
  return out;
}

SettingsError rank_table_error(const std::string& file, const std::vector<RankTableProblem>& problems) {
  std::vector<std::string> lines;
  ErrorCode first = ErrorCode::kTableField;
  for (const RankTableProblem& p : problems) {
    if (p.warning) continue;
    if (lines.empty()) first = p.code;
    lines.push_back(p.label() + " " + p.text);
  }
  const std::string fix = "correct the file, or write a new one with sindri ranktable generate; docs/guide/distributed.md shows the format";
  if (lines.size() == 1) return {first, lines[0], "rank table " + file, fix};
  return {first, fmt::format("{} problems:\n{}", lines.size(), fmt::join(lines, "\n")), "rank table " + file, fix};
}

}  // namespace sindri::comm
