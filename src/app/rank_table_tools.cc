// See rank_table_tools.h.
#include "sindri/app/rank_table_tools.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "src/app/launch_plan.h"
#include "src/comm/host_address.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

using comm::RankDevice;
using comm::RankServer;
using comm::RankTable;

std::optional<int> whole_number(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

std::string trimmed(const std::string& s) {
  const size_t start = s.find_first_not_of(" \t\r"), end = s.find_last_not_of(" \t\r");
  return start == std::string::npos ? "" : s.substr(start, end - start + 1);
}

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) out.push_back(trimmed(part));
  return out;
}

// "[0,8)" as 0 and 8.
std::pair<int, int> device_range(const std::string& text) {
  const std::string s = trimmed(text);
  const auto wrong = [&](const std::string& why) {
    return refuse(fmt::format("device num \"{}\": {}", text, why), "--device-num", "write a half-open range, such as \"[0,8)\" for devices 0 to 7");
  };
  if (s.size() < 5 || s.front() != '[' || s.back() != ')') throw wrong("expected [start,end)");
  const std::vector<std::string> ends = parts(s.substr(1, s.size() - 2));
  if (ends.size() != 2) throw wrong("expected [start,end)");
  const std::optional<int> first = whole_number(ends[0]), last = whole_number(ends[1]);
  if (!first || !last) throw wrong("start and end have to be whole numbers from 0");
  if (*first > *last) throw wrong("start must not exceed end");
  if (*first == *last) throw wrong("the range is empty");
  if (*last - *first > comm::kMaxTableRanks) throw wrong(fmt::format("more than {} devices", comm::kMaxTableRanks));
  return {*first, *last};
}

// Returns the physical numbers of the logical devices first … last-1.
std::vector<int> devices_of(const GenerateRequest& r, int first, int last) {
  std::vector<int> out;
  if (r.visible_devices.empty()) {
    for (int d = first; d < last; ++d) out.push_back(d);
    return out;
  }
  const std::vector<std::string> visible = parts(r.visible_devices);
  if (static_cast<int>(visible.size()) < last)
    throw refuse(fmt::format("visible devices has {} entr{}, range needs {}", visible.size(), visible.size() == 1 ? "y" : "ies", last), "--visible-devices",
                 fmt::format("name {} devices, or take a shorter range", last));
  for (int d = first; d < last; ++d) {
    const std::optional<int> id = whole_number(visible[static_cast<size_t>(d)]);
    if (!id) throw refuse(fmt::format("visible devices: \"{}\" is not a device number", visible[static_cast<size_t>(d)]), "--visible-devices", "write 4,5,6,7");
    if (std::find(out.begin(), out.end(), *id) != out.end())
      throw refuse(fmt::format("visible devices: {} is given twice", *id), "--visible-devices", "name every device once");
    out.push_back(*id);
  }
  return out;
}

void check_address(const std::string& address, const std::string& where) {
  if (!comm::is_numeric_address(address) && !comm::is_host_name(address))
    throw SettingsError(ErrorCode::kTableAddress, fmt::format("RT10 \"{}\" is neither an IPv4/IPv6 address nor a host's name", address), where,
                        "write an address such as 10.0.0.1");
}

// Reads address_<id>=<ip> lines and ignores others.
std::map<int, std::string> addresses_in(const std::string& file) {
  std::map<int, std::string> out;
  std::istringstream in(train::read_small_file(file, int64_t{1} << 20, "file of addresses"));
  for (std::string line; std::getline(in, line);) {
    const std::string l = trimmed(line);
    const size_t equals = l.find('=');
    if (!l.starts_with("address_") || equals == std::string::npos) continue;
    if (const std::optional<int> id = whole_number(trimmed(l.substr(8, equals - 8)))) out[*id] = trimmed(l.substr(equals + 1));
  }
  return out;
}

std::vector<std::string> device_addresses(const GenerateRequest& r, const std::vector<int>& devices, const std::string& server) {
  std::vector<std::string> out(devices.size(), server);
  if (!r.device_ips.empty() && !r.conf.empty())
    throw refuse("addresses of devices are given twice, by --device-ips and by --conf", "--device-ips", "give one of the two");
  if (!r.device_ips.empty()) {
    out = parts(r.device_ips);
    if (out.size() != devices.size())
      throw refuse(fmt::format("device ips has {} entr{}, range needs {}", out.size(), out.size() == 1 ? "y" : "ies", devices.size()), "--device-ips",
                   "give one address for each device, in their order");
  } else if (!r.conf.empty()) {
    const std::map<int, std::string> found = addresses_in(r.conf);
    for (size_t i = 0; i < devices.size(); ++i) {
      const auto it = found.find(devices[i]);
      if (it == found.end())
        throw refuse(fmt::format("no address for device {} in {}", devices[i], r.conf), r.conf, fmt::format("add a line address_{}=<ip>", devices[i]));
      out[i] = it->second;
    }
  }
  for (const std::string& a : out) check_address(a, r.conf.empty() ? "--device-ips" : r.conf);
  return out;
}

// IPv4 before IPv6 before names, each by value.
std::string sort_key(const std::string& address) {
  unsigned char bytes[16];
  if (inet_pton(AF_INET, address.c_str(), bytes) == 1) return "4" + std::string(reinterpret_cast<char*>(bytes), 4);
  if (inet_pton(AF_INET6, address.c_str(), bytes) == 1) return "6" + std::string(reinterpret_cast<char*>(bytes), 16);
  return "n" + address;
}

}  // namespace

RankTable generate_rank_table(const GenerateRequest& r) {
  const auto [first, last] = device_range(r.device_num);
  if (r.strict_groups && first < 4 && last > 4 && !(first == 0 && last == 8))
    throw refuse(fmt::format("device num \"{}\": a range across device 4 has to be [0,8) with --strict-groups", r.device_num), "--device-num",
                 "take devices of one group of four, or all eight");
  const std::vector<int> devices = devices_of(r, first, last);
  RankServer server{.server_id = r.server_ip.empty() ? comm::default_route_address() : r.server_ip, .devices = {}};
  if (server.server_id.empty())
    throw refuse("this host has no address but loopback, or several and no default route", "--server-ip",
                 "name the address that other hosts reach it by, or 127.0.0.1 for this host alone");
  check_address(server.server_id, "--server-ip");
  const std::vector<std::string> ips = device_addresses(r, devices, server.server_id);
  for (size_t i = 0; i < devices.size(); ++i) server.devices.push_back({.rank = static_cast<int>(i), .device_id = devices[i], .device_ip = ips[i]});
  return {.file = {}, .servers = {server}};
}

std::string generated_name(const RankTable& table) {
  const RankServer& s = table.servers.at(0);
  std::string ids;
  for (const RankDevice& d : s.devices) ids += std::to_string(d.device_id);
  if (ids.size() > 64) ids = fmt::format("{}-{}", s.devices.front().device_id, s.devices.back().device_id);  // file names have at most 255 bytes
  return fmt::format("hccl_{}p_{}_{}.json", s.devices.size(), ids, s.server_id);
}

RankTable merge_rank_tables(const std::vector<std::string>& files, bool by_address) {
  RankTable out;
  std::map<std::string, std::string> seen;  // address -> file
  for (const std::string& file : files) {
    for (const RankServer& s : comm::read_rank_table(file).servers) {
      const auto [it, is_new] = seen.emplace(comm::canonical_address(s.server_id), file);
      if (!is_new)
        throw SettingsError(ErrorCode::kTableServerTwice, fmt::format("RT11 server_id {} appears twice; merge the device lists", s.server_id),
                            fmt::format("rank tables {} and {}", it->second, file), "put the devices of one server into one table, then merge");
      out.servers.push_back(s);
    }
  }
  if (by_address)
    std::stable_sort(out.servers.begin(), out.servers.end(),
                     [](const RankServer& a, const RankServer& b) { return sort_key(a.server_id) < sort_key(b.server_id); });
  int rank = 0;
  for (RankServer& s : out.servers) {
    for (RankDevice& d : s.devices) d.rank = rank++;
  }
  if (rank > comm::kMaxTableRanks)
    throw SettingsError(ErrorCode::kTableCounts, fmt::format("RT04 the table has {} devices, at most {} are supported", rank, comm::kMaxTableRanks),
                        fmt::format("{} rank tables", files.size()), "merge fewer tables");
  return out;
}

std::string merged_name(const RankTable& table) { return fmt::format("hccl_{}s_{}p.json", table.servers.size(), table.size()); }

std::string show_rank_table(const RankTable& table) {
  std::vector<std::pair<int, std::string>> lines;
  size_t wide = 6;
  for (const RankServer& s : table.servers) wide = std::max(wide, s.server_id.size());
  for (size_t i = 0; i < table.servers.size(); ++i) {
    const RankServer& s = table.servers[i];
    for (size_t d = 0; d < s.devices.size(); ++d)
      lines.emplace_back(
          s.devices[d].rank,
          fmt::format("{:>4}  {:>6}  {:<{}}  {:>5}  {:>6}  {}\n", s.devices[d].rank, i, s.server_id, wide, d, s.devices[d].device_id, s.devices[d].device_ip));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out = fmt::format("rank  server  {:<{}}  local  device  device address\n", "address", wide);
  for (const auto& [rank, line] : lines) out += line;
  return out;
}

std::string check_rank_table_report(const std::string& file) {
  const comm::RankTableCheck check = comm::check_rank_table_file(file);
  if (!check.ok()) throw comm::rank_table_error(file, check.problems);
  std::vector<comm::RankTableProblem> warnings = check.problems;
  for (const comm::RankTableProblem& p : comm::check_rank_table_here(check.table)) warnings.push_back(p);
  comm::RankClaims claims = comm::rank_claims_of_environment();
  if (claims.rank_size && !claims.complete()) claims = {.rank_id = 0, .rank_size = claims.rank_size};  // compares the number alone
  if (claims.complete()) comm::locate(check.table, claims);
  std::string out;
  for (const comm::RankTableProblem& p : warnings) out += fmt::format("{}: warning: {} {}\n", file, p.label(), p.text);
  for (const std::string& n : check.notes) out += fmt::format("{}: note: {}\n", file, n);
  const auto count = [](size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  return out +
      fmt::format("{}: {} on {}, no errors\n", file, count(static_cast<size_t>(check.table.size()), "rank"), count(check.table.servers.size(), "server"));
}

void write_rank_table(const RankTable& table, const std::string& path) { train::write_file_atomically(path, comm::rank_table_text(table), "rank table"); }

}  // namespace sindri::app
