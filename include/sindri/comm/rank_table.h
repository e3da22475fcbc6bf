// Rank tables: JSON files, version "1.0", that say which rank runs on which device of which server. docs/guide/distributed.md describes them.
//
//   const RankTable table = read_rank_table("hccl_8p.json");        // SettingsError that lists every problem of the file
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

/// One rank's device, as a server's list has it.
struct RankDevice {
  int rank = 0;
  int device_id = 0;
  std::string device_ip;  ///< address for data; may be the server's, and is not used within one host
};

/// A host. Its ranks' local numbers are their places in `devices`.
struct RankServer {
  std::string server_id;  ///< address (IPv4, IPv6 or a name) of the host, for the rendezvous
  std::vector<RankDevice> devices;
  std::string host_nic_ip = "reserve";
};

/// A table without errors: rank ids are 0 … size()-1, each once.
struct SINDRI_API RankTable {
  std::string file;  ///< as it was named; for messages
  std::vector<RankServer> servers;
  int size() const;
  /// Where a rank stands: index of its server, and its place in that server's list. Throws SettingsError (RT13) for a rank that is not there.
  std::pair<int, int> find(int rank) const;
};

/// Something wrong, or worth a warning, in a table: RT01 … RT15 are the error codes 2201 … 2215.
struct RankTableProblem {
  ErrorCode code;
  std::string text;  ///< without the code
  bool warning = false;
  /// "RT04".
  SINDRI_API std::string label() const;
};

/// What was found in a file: `table` holds what could be read, and is complete and consistent when there are no errors.
struct SINDRI_API RankTableCheck {
  RankTable table;
  std::vector<RankTableProblem> problems;  ///< errors and warnings, in the order of their codes
  std::vector<std::string> notes;  ///< keys that nothing reads
  bool ok() const;
};

/// Most ranks that a table may have.
inline constexpr int kMaxTableRanks = 4096;

/// Reads and checks the text of a table; `file` is its name in messages. Looks at the text only: the same on every machine. Never throws for what the
/// text holds.
SINDRI_API RankTableCheck check_rank_table(const std::string& text, const std::string& file);
/// The same for a file. Throws SettingsError (E2010) when it cannot be read.
SINDRI_API RankTableCheck check_rank_table_file(const std::string& file);
/// What only this machine can tell: names that it cannot resolve (RT10), and that none of the addresses is its own (RT13). Warnings.
SINDRI_API std::vector<RankTableProblem> check_rank_table_here(const RankTable& table);
/// Throws SettingsError with the code of the first error and a line for every one; logs warnings and notes. E2010 when the file cannot be read.
SINDRI_API RankTable read_rank_table(const std::string& file);
/// The one error for several problems (warnings are left out). There must be an error among them.
SINDRI_API SettingsError rank_table_error(const std::string& file, const std::vector<RankTableProblem>& problems);

/// What is said beside a table of this process; what is absent is not compared.
struct RankClaims {
  std::optional<int64_t> rank_id = {};  ///< RANK_ID
  std::optional<int64_t> rank_size = {};  ///< RANK_SIZE: ranks of the job
  std::optional<int64_t> device_id = {};  ///< DEVICE_ID
  std::optional<int64_t> device_num = {};  ///< DEVICE_NUM: ranks of this server
  std::optional<int64_t> server_id = {};  ///< SERVER_ID: index of this server in the table
  /// Whether they say which rank this is: RANK_ID, or SERVER_ID with DEVICE_ID.
  bool complete() const { return rank_id.has_value() || (server_id.has_value() && device_id.has_value()); }
};
/// RANK_ID, RANK_SIZE, DEVICE_ID, DEVICE_NUM and SERVER_ID; empty ones count as absent. Throws SettingsError for one that is no whole number of 0 or
/// more.
SINDRI_API RankClaims rank_claims_of_environment();
/// RANK_TABLE_FILE, else the older MINDSPORE_HCCL_CONFIG_PATH; empty when neither is set.
SINDRI_API std::string rank_table_file_of_environment();

/// A rank's place in the job.
struct RankPlace {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< within the server
  int server = 0, servers = 1;  ///< index of the server
  int device_id = 0;
  std::string server_id, device_ip;
  std::string master;  ///< server_id of rank 0: the host of the rendezvous
};
/// The place of a rank. Throws SettingsError (RT13).
SINDRI_API RankPlace place_of(const RankTable& table, int rank);
/// The place of this process, by what is said of it. Throws SettingsError: RT12 for other numbers of ranks or devices, RT13 for a rank or server that is
/// not there or claims that do not say which rank it is, RT14 for another device than the table's.
SINDRI_API RankPlace locate(const RankTable& table, const RankClaims& claims);
/// Indices of the servers whose address is one of this machine's (names are resolved), in the table's order.
SINDRI_API std::vector<int> servers_here(const RankTable& table);

/// The file's text. Integers are written as strings, as the format has them.
SINDRI_API std::string rank_table_text(const RankTable& table);

}  // namespace sindri::comm
