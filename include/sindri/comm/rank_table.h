// Rank tables: JSON files, version "1.0", that assign ranks to servers and devices. docs/guide/distributed.md describes the
// format.
//
//   const RankTable table = read_rank_table("hccl_8p.json");        // throws SettingsError that lists every problem of the file
//   const RankPlace me = locate(table, rank_claims_of_environment());  // rank, server, device, address of the rendezvous
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/error.h"
#include "sindri/export.h"

namespace sindri::comm {

/// A rank and its device, as listed for a server.
struct RankDevice {
  int rank = 0;
  int device_id = 0;
  std::string device_ip;  ///< address for data; may be the server's, and is not used within one host
};

/// A host. A rank's local rank is its index in `devices`.
struct RankServer {
  std::string server_id;  ///< address (IPv4, IPv6 or a name) of the host, for the rendezvous
  std::vector<RankDevice> devices;
  std::string host_nic_ip = "reserve";
};

/// A table without errors: the rank ids are 0 … size()-1, each once.
struct SINDRI_API RankTable {
  std::string file;  ///< name as given, for messages
  std::vector<RankServer> servers;  ///< in file order
  /// Number of ranks.
  int size() const;
  /// Index of the rank's server, and the rank's index in that server's list. Throws SettingsError (RT13) for a rank that is not
  /// in the table.
  std::pair<int, int> find(int rank) const;
};

/// An error or a warning about a table. RT01 … RT15 are the error codes 2201 … 2215.
struct RankTableProblem {
  ErrorCode code;  ///< kTableJson … kTableOrder
  std::string text;  ///< without the code
  bool warning = false;  ///< false: an error
  /// Label of the code: "RT04".
  SINDRI_API std::string label() const;
};

/// Result of a check. `table` holds what could be read; it is complete and consistent if there are no errors.
struct SINDRI_API RankTableCheck {
  RankTable table;  ///< what could be read
  std::vector<RankTableProblem> problems;  ///< errors and warnings, ordered by code
  std::vector<std::string> notes;  ///< unknown keys
  /// Whether there are no errors.
  bool ok() const;
};

/// Largest number of ranks in a table.
inline constexpr int kMaxTableRanks = 4096;

/// Parses and checks the text of a table; `file` is its name in messages. The result depends only on the text, not on the
/// machine. Never throws because of the text's content.
SINDRI_API RankTableCheck check_rank_table(const std::string& text, const std::string& file);
/// As check_rank_table, for a file. Throws SettingsError (E2010) if it cannot be read.
SINDRI_API RankTableCheck check_rank_table_file(const std::string& file);
/// Checks that depend on this machine: host names that cannot be resolved here (RT10), and a table that lists none of this
/// machine's addresses (RT13). Returns warnings.
SINDRI_API std::vector<RankTableProblem> check_rank_table_here(const RankTable& table);
/// Reads a table and logs warnings and notes. Throws SettingsError with the code of the first error and one line for each; E2010
/// if the file cannot be read.
SINDRI_API RankTable read_rank_table(const std::string& file);
/// Combines several problems into one exception. At least one of them must be an error; warnings are omitted.
SINDRI_API SettingsError rank_table_error(const std::string& file, const std::vector<RankTableProblem>& problems);

/// Environment variables that describe this process in addition to a table; absent variables are not compared.
struct RankClaims {
  std::optional<int64_t> rank_id = {};  ///< RANK_ID
  std::optional<int64_t> rank_size = {};  ///< RANK_SIZE: ranks of the job
  std::optional<int64_t> device_id = {};  ///< DEVICE_ID
  std::optional<int64_t> device_num = {};  ///< DEVICE_NUM: ranks of this server
  std::optional<int64_t> server_id = {};  ///< SERVER_ID: index of this server in the table
  /// Whether they identify the rank: RANK_ID, or SERVER_ID with DEVICE_ID.
  bool complete() const { return rank_id.has_value() || (server_id.has_value() && device_id.has_value()); }
};
/// Reads RANK_ID, RANK_SIZE, DEVICE_ID, DEVICE_NUM and SERVER_ID; empty variables count as absent. Throws SettingsError unless
/// each is a whole number of 0 or more.
SINDRI_API RankClaims rank_claims_of_environment();
/// RANK_TABLE_FILE, else the older MINDSPORE_HCCL_CONFIG_PATH; empty if neither is set.
SINDRI_API std::string rank_table_file_of_environment();

/// A rank's place in the job.
struct RankPlace {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< within the server
  int server = 0, servers = 1;  ///< index of the server, number of servers
  int device_id = 0;
  std::string server_id, device_ip;
  std::string master;  ///< server_id of rank 0: the host of the rendezvous
};
/// The place of a rank. Throws SettingsError (RT13) for a rank that is not in the table.
SINDRI_API RankPlace place_of(const RankTable& table, int rank);
/// The place of this process according to `claims`. Throws SettingsError: RT12 for another number of ranks or devices, RT13 for a
/// rank or server that is not in the table or for claims that do not identify the rank, RT14 for a device other than the one in
/// the table.
SINDRI_API RankPlace locate(const RankTable& table, const RankClaims& claims);
/// Indices of the servers with one of this machine's addresses (names are resolved), in the table's order.
SINDRI_API std::vector<int> servers_here(const RankTable& table);

/// Text of the file. Integers are written as strings, as the format requires.
SINDRI_API std::string rank_table_text(const RankTable& table);

}  // namespace sindri::comm
