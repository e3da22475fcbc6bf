// `sindri ranktable` as C++ functions: rank tables are generated, merged, checked and shown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sindri/comm/rank_table.h"
#include "sindri/export.h"

namespace sindri::app {

/// Options of `sindri ranktable generate`.
struct GenerateRequest {
  std::string device_num;  ///< "[0,8)": range of logical devices, without its end
  std::string visible_devices;  ///< "4,5,6,7": physical device of each logical device; empty: the same numbers
  std::string server_ip;  ///< empty: the address of the default route
  std::string device_ips;  ///< "a,b,...", one per device; empty: the addresses in `conf`, else the server's address
  std::string conf;  ///< file with lines `address_<device>=<ip>`
  bool strict_groups = false;  ///< require [0,8) for a range that crosses device 4, as for eight-card servers with two groups of four
};

/// Generates the table of one server. Throws SettingsError that names the invalid argument.
SINDRI_API comm::RankTable generate_rank_table(const GenerateRequest& request);
/// The usual file name of a generated table: hccl_<n>p_<devices>_<server>.json.
SINDRI_API std::string generated_name(const comm::RankTable& table);

/// Merges the servers of all files in the order of the arguments, or of their addresses, and numbers the ranks from 0 in that
/// order. Throws SettingsError for a file with errors, and for a server that is in two files (RT11).
SINDRI_API comm::RankTable merge_rank_tables(const std::vector<std::string>& files, bool by_address = false);
/// The usual file name of a merged table: hccl_<servers>s_<ranks>p.json.
SINDRI_API std::string merged_name(const comm::RankTable& table);

/// One line per rank: rank, server, local rank, device, address.
SINDRI_API std::string show_rank_table(const comm::RankTable& table);
/// Warnings, notes and "FILE: 16 ranks on 2 servers, no errors", one per line. RANK_SIZE, RANK_ID, … of the environment are
/// compared with the table if they are set. Throws SettingsError with every problem.
SINDRI_API std::string check_rank_table_report(const std::string& file);
/// Writes the file atomically. Throws IoError.
SINDRI_API void write_rank_table(const comm::RankTable& table, const std::string& path);

}  // namespace sindri::app
