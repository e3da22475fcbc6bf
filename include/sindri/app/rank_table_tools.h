// What `sindri ranktable` does, as C++ calls: tables are generated, joined, checked and shown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sindri/comm/rank_table.h"
#include "sindri/export.h"

namespace sindri::app {

/// What `sindri ranktable generate` is asked for.
struct GenerateRequest {
  std::string device_num;  ///< "[0,8)": logical devices, the end excluded
  std::string visible_devices;  ///< "4,5,6,7": the device behind each logical number; empty: the same numbers
  std::string server_ip;  ///< empty: the address of the default route
  std::string device_ips;  ///< "a,b,...", one a device; empty: those of `conf`, else the server's
  std::string conf;  ///< file with lines `address_<device>=<ip>`
  bool strict_groups = false;  ///< a range across device 4 has to be [0,8), as eight-card servers in two groups of four want it
};

/// The table of one server. Throws SettingsError saying which argument does not fit.
SINDRI_API comm::RankTable generate_rank_table(const GenerateRequest& request);
/// Its usual name: hccl_<n>p_<devices>_<server>.json.
SINDRI_API std::string generated_name(const comm::RankTable& table);

/// The servers of all files in the order of the arguments (or of their addresses), ranks numbered from 0 in that order. Throws SettingsError for a file
/// with errors and for a server that stands in two (RT11).
SINDRI_API comm::RankTable merge_rank_tables(const std::vector<std::string>& files, bool by_address = false);
/// hccl_<servers>s_<ranks>p.json.
SINDRI_API std::string merged_name(const comm::RankTable& table);

/// One line a rank: rank, server, local rank, device, address.
SINDRI_API std::string show_rank_table(const comm::RankTable& table);
/// Warnings, notes and "FILE: 16 ranks on 2 servers, no errors", a line each. Throws SettingsError with every problem. RANK_SIZE, RANK_ID, … of the
/// environment are compared with the table where they are set.
SINDRI_API std::string check_rank_table_report(const std::string& file);
/// Writes the file whole or not at all. Throws IoError.
SINDRI_API void write_rank_table(const comm::RankTable& table, const std::string& path);

}  // namespace sindri::app
