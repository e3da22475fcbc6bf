// Reads, queries and writes rank tables. rank_table_check.cc finds the errors in a table.
#include "sindri/comm/rank_table.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "sindri/core/log.h"
#include "src/comm/host_address.h"

namespace sindri::comm {

namespace {

const char* variable(const char* name) {
  const char* v = std::getenv(name);
  return v != nullptr ? v : "";
}

std::optional<int64_t> number_of(const char* name) {
  const std::string text = variable(name);
  if (text.empty()) return std::nullopt;
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 0)
    throw SettingsError(fmt::format("{}={} is not a whole number of 0 or more", name, text), fmt::format("environment variable {}", name),
                        "correct it, or unset it");
  return n;
}

SettingsError wrong_launch(ErrorCode code, const RankTable& table, const std::string& text, const std::string& fix) {
  return {code, RankTableProblem{code, text}.label() + " " + text, "rank table " + table.file, fix};
}

// Returns the rank that SERVER_ID and DEVICE_ID name.
int rank_of_device(const RankTable& table, int64_t server, int64_t device) {
  if (server >= static_cast<int64_t>(table.servers.size()))
    throw wrong_launch(ErrorCode::kTableRank, table, fmt::format("SERVER_ID={} not in the table (0..{})", server, table.servers.size() - 1),
                       "SERVER_ID is the place of this host in server_list, from 0");
  const RankServer& s = table.servers[static_cast<size_t>(server)];
  std::string known;
  for (const RankDevice& d : s.devices) {
    if (d.device_id == device) return d.rank;
    known += (known.empty() ? "" : ", ") + std::to_string(d.device_id);
  }
  throw wrong_launch(ErrorCode::kTableRank, table, fmt::format("DEVICE_ID={} is not a device of server {} ({}): it has {}", device, server, s.server_id, known),
                     "set RANK_ID instead, or one of these devices");
}

std::string plural(int64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

}  // namespace

int RankTable::size() const {
  size_t n = 0;
  for (const RankServer& s : servers) n += s.devices.size();
  return static_cast<int>(n);
}

std::pair<int, int> RankTable::find(int rank) const {
  for (size_t s = 0; s < servers.size(); ++s) {
    for (size_t d = 0; d < servers[s].devices.size(); ++d) {
      if (servers[s].devices[d].rank == rank) return {static_cast<int>(s), static_cast<int>(d)};
    }
  }
  throw wrong_launch(ErrorCode::kTableRank, *this, fmt::format("RANK_ID={} not in the table (0..{})", rank, size() - 1),
                     "start as many ranks as the table has, numbered from 0, or use a table of this job");
}

RankTable read_rank_table(const std::string& file) {
  RankTableCheck check = check_rank_table_file(file);
  if (!check.ok()) throw rank_table_error(file, check.problems);
  for (const RankTableProblem& p : check.problems) log::warn("comm", fmt::format("rank table {}: {} {}", file, p.label(), p.text));
  for (const std::string& note : check.notes) log::info("comm", fmt::format("rank table {}: {}", file, note));
  return std::move(check.table);
}

RankClaims rank_claims_of_environment() {
  return {.rank_id = number_of("RANK_ID"),
          .rank_size = number_of("RANK_SIZE"),
          .device_id = number_of("DEVICE_ID"),
          .device_num = number_of("DEVICE_NUM"),
          .server_id = number_of("SERVER_ID")};
}

std::string rank_table_file_of_environment() {
  const std::string file = variable("RANK_TABLE_FILE");
  return !file.empty() ? file : variable("MINDSPORE_HCCL_CONFIG_PATH");
}

RankPlace place_of(const RankTable& table, int rank) {
  const auto [server, local] = table.find(rank);
  const RankServer& s = table.servers[static_cast<size_t>(server)];
  const RankDevice& d = s.devices[static_cast<size_t>(local)];
  return {.rank = rank,
          .size = table.size(),
          .local_rank = local,
          .local_size = static_cast<int>(s.devices.size()),
          .server = server,
          .servers = static_cast<int>(table.servers.size()),
          .device_id = d.device_id,
          .server_id = s.server_id,
          .device_ip = d.device_ip,
          .master = table.servers[static_cast<size_t>(table.find(0).first)].server_id};
}

RankPlace locate(const RankTable& table, const RankClaims& claims) {
  const int n = table.size();
  if (claims.rank_size && *claims.rank_size != n)
    throw wrong_launch(ErrorCode::kTableSize, table, fmt::format("RANK_SIZE={} but the table has {}", *claims.rank_size, plural(n, "device")),
                       fmt::format("set RANK_SIZE={}, or use a table of {}", n, plural(*claims.rank_size, "rank")));
  if (!claims.complete())
    throw wrong_launch(
        ErrorCode::kTableRank, table, fmt::format("the table has {}, but RANK_ID is missing: nothing says which of them this process is", plural(n, "rank")),
        "set RANK_ID (or SERVER_ID, DEVICE_NUM and DEVICE_ID) for each process, start them with sindri run --rank-table, or unset RANK_TABLE_FILE");
  const int64_t rank = claims.rank_id ? *claims.rank_id : rank_of_device(table, *claims.server_id, *claims.device_id);
  RankPlace place = place_of(table, static_cast<int>(std::min<int64_t>(rank, INT32_MAX)));
  if (claims.server_id && *claims.server_id != place.server)
    throw wrong_launch(ErrorCode::kTableRank, table,
                       fmt::format("rank {} is on server {} ({}), but SERVER_ID={}", rank, place.server, place.server_id, *claims.server_id),
                       "RANK_ID and SERVER_ID have to name the same host; SERVER_ID is the place in server_list, from 0");
  if (claims.device_num && *claims.device_num != place.local_size)
    throw wrong_launch(
        ErrorCode::kTableSize, table,
        fmt::format("DEVICE_NUM={} but the table has {} on server {} ({})", *claims.device_num, plural(place.local_size, "device"), place.server,
                    place.server_id),
        fmt::format("start {} on this host (DEVICE_NUM={}), or use a table of the ranks that are started", plural(place.local_size, "rank"), place.local_size));
  if (claims.device_id && *claims.device_id != place.device_id)
    throw wrong_launch(ErrorCode::kTableDevice, table,
                       fmt::format("DEVICE_ID={} does not belong to rank {} (table: {})", *claims.device_id, rank, place.device_id),
                       fmt::format("set DEVICE_ID={} for rank {}, or omit DEVICE_ID", place.device_id, rank));
  return place;
}

std::vector<int> servers_here(const RankTable& table) {
  std::vector<int> here;
  for (size_t i = 0; i < table.servers.size(); ++i) {
    if (is_own_address(table.servers[i].server_id)) here.push_back(static_cast<int>(i));
  }
  return here;
}

std::string rank_table_text(const RankTable& table) {
  std::string out = fmt::format("{{\n  \"version\": \"1.0\",\n  \"server_count\": \"{}\",\n  \"server_list\": [\n", table.servers.size());
  for (size_t i = 0; i < table.servers.size(); ++i) {
    const RankServer& s = table.servers[i];
    out += fmt::format("    {{\n      \"server_id\": \"{}\",\n      \"device\": [\n", s.server_id);
    for (size_t d = 0; d < s.devices.size(); ++d)
      out += fmt::format("        {{\"device_id\": \"{}\", \"device_ip\": \"{}\", \"rank_id\": \"{}\"}}{}\n", s.devices[d].device_id, s.devices[d].device_ip,
                         s.devices[d].rank, d + 1 < s.devices.size() ? "," : "");
    out += fmt::format("      ],\n      \"host_nic_ip\": \"{}\"\n    }}{}\n", s.host_nic_ip, i + 1 < table.servers.size() ? "," : "");
  }
  return out + "  ],\n  \"status\": \"completed\"\n}\n";
}

}  // namespace sindri::comm
