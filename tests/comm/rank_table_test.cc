// Rank tables: every error RT01 … RT15, accepted tables, look-ups, and a process's identity from a table.
#include "sindri/comm/rank_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <regex>

#include "source_dir.h"
#include "src/comm/host_address.h"
#include "tests/train/temp_folder.h"

namespace sindri::comm::rank_table_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// `servers` hosts 10.0.0.1, … with `each` ranks.
std::string table_text(int servers, int each) {
  RankTable t;
  for (int s = 0; s < servers; ++s) {
    RankServer server{.server_id = "10.0.0." + std::to_string(s + 1), .devices = {}};
    for (int d = 0; d < each; ++d)
      server.devices.push_back({.rank = s * each + d, .device_id = d, .device_ip = "192.168." + std::to_string(d + 1) + "." + std::to_string(s + 1)});
    t.servers.push_back(server);
  }
  return rank_table_text(t);
}

std::string with(std::string text, const std::string& old, const std::string& replacement) {
  const size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), replacement);
}

std::vector<std::string> problems(const std::string& text) {
  std::vector<std::string> out;
  for (const RankTableProblem& p : check_rank_table(text, "t.json").problems) out.push_back(p.label() + (p.warning ? "w " : " ") + p.text);
  return out;
}

RankTable good(int servers, int each) {
  RankTableCheck c = check_rank_table(table_text(servers, each), "t.json");
  EXPECT_TRUE(c.ok());
  return c.table;
}

TEST(RankTable, ReadsWhatItWrites) {
  const RankTableCheck c = check_rank_table(table_text(2, 8), "t.json");
  EXPECT_TRUE(c.ok());
  EXPECT_THAT(c.problems, IsEmpty());
  EXPECT_THAT(c.notes, IsEmpty());
  EXPECT_EQ(c.table.size(), 16);
  EXPECT_EQ(c.table.servers.size(), 2u);
  EXPECT_EQ(rank_table_text(c.table), table_text(2, 8));
  EXPECT_EQ(c.table.find(13), std::make_pair(1, 5));
}

TEST(RankTable, IntegersStandForTextsAndUnknownKeysAreNoted) {
  std::string text = std::regex_replace(table_text(1, 2), std::regex("\"(_id|device_id|rank_id|server_count)\": \"([0-9]+)\""), "\"$1\": $2");
  EXPECT_THAT(text, HasSubstr("\"rank_id\": 1"));
  text = with(text, "\"status\"", "\"group\": {\"a\": [1.5, true, null]}, \"status\"");
  const RankTableCheck c = check_rank_table(text, "t.json");
  EXPECT_THAT(c.problems, IsEmpty());
  EXPECT_THAT(c.notes, ElementsAre("key \"group\" is ignored"));
  EXPECT_EQ(c.table.size(), 2);
}

TEST(RankTableErrors, RT01NotJson) {
  const std::string good_text = table_text(1, 2);
  EXPECT_THAT(problems("{\n  \"version\": [\"1.0\" \"2\"]\n}"),
              ElementsAre(testing::StartsWith("RT01 t.json:2:21: not valid JSON: expected ',' or ']', got string literal")));
  EXPECT_THAT(problems(""), ElementsAre(testing::StartsWith("RT01 t.json:1:1: not valid JSON: ")));
  EXPECT_THAT(problems(good_text + "x"), ElementsAre(testing::StartsWith("RT01 t.json:16:1: not valid JSON: ")));
  EXPECT_THAT(problems(std::string(100, '[')), ElementsAre("RT01 t.json:1:65: not valid: nested deeper than 64 levels"));
  EXPECT_THAT(problems(std::string(1000000, '[')), ElementsAre("RT01 t.json:1:65: not valid: nested deeper than 64 levels"));
  EXPECT_THAT(problems("{\"version\": \"\xff\"}"), ElementsAre(HasSubstr("RT01 t.json:1:")));
  for (size_t cut = 0; cut < good_text.size() - 1; ++cut) {
    const std::vector<std::string> found = problems(good_text.substr(0, cut));
    ASSERT_EQ(found.size(), 1u) << cut;
    ASSERT_TRUE(found[0].starts_with("RT01 t.json:")) << found[0];
  }
}

TEST(RankTableErrors, RT01KeysGivenTwice) {
  const std::string text = with(table_text(1, 2), "  \"status\"", "  \"version\": \"1.0\",\n  \"status\"");
  EXPECT_THAT(problems(text), ElementsAre("RT01 t.json:14:3: not valid: key \"version\" is given twice"));
  EXPECT_THAT(problems(with(table_text(1, 2), "\"rank_id\": \"1\"", "\"rank_id\": \"1\", \"rank_id\": \"1\"")),
              ElementsAre(HasSubstr("key \"rank_id\" is given twice")));
}

TEST(RankTableErrors, RT02Fields) {
  const std::string text = table_text(2, 2);
  EXPECT_THAT(problems("[]"), ElementsAre("RT02 the file holds a list, not an object"));
  EXPECT_THAT(problems("{}"),
              ElementsAre("RT02 missing field \"version\"", "RT02 missing field \"status\"", "RT02 missing field \"server_count\"",
                          "RT02 missing field \"server_list\""));
  EXPECT_THAT(
      problems("{\"version\": \"1.0\", \"status\": \"completed\", \"server_count\": \"1\", \"server_list\": [{\"server_id\": \"10.0.0.1\", \"device\": 3}]}"),
      ElementsAre("RT02 field \"device\" of server 0 is not a list"));
  EXPECT_THAT(problems(with(text, "\"server_list\"", "\"servers\"")), ElementsAre("RT02 missing field \"server_list\""));
  EXPECT_THAT(problems(with(text, ", \"rank_id\": \"1\"", "")),
              ElementsAre("RT02 missing field \"rank_id\" of server 0 device 1", "RT08 rank ids are 0,2..3: 1 is missing"));
  EXPECT_THAT(problems(with(text, "\"rank_id\": \"3\"", "\"rank_id\": [3]")),
              ElementsAre("RT02 field \"rank_id\" of server 1 device 1 is a list, not a string"));
  EXPECT_THAT(
      problems(
          "{\"version\": \"1.0\", \"status\": \"completed\", \"server_count\": \"2\", \"server_list\": [7, {\"server_id\": \"10.0.0.1\", \"device\": []}]}"),
      ElementsAre("RT02 server 0 is not an object", "RT02 field \"device\" of server 1 is empty"));
}

TEST(RankTableErrors, RT03Version) {
  EXPECT_THAT(problems(with(table_text(1, 1), "\"1.0\"", "\"2.0\"")), ElementsAre("RT03 version \"2.0\" not supported, expected \"1.0\""));
}

TEST(RankTableErrors, RT04Counts) {
  EXPECT_THAT(problems(with(table_text(3, 1), "\"server_count\": \"3\"", "\"server_count\": \"2\"")),
              ElementsAre("RT04 server_count is \"2\" but server_list has 3 entries"));
  EXPECT_THAT(problems(table_text(1, 4097)), testing::Contains("RT04 the table has 4097 devices, at most 4096 are supported"));
}

TEST(RankTableErrors, RT05Status) {
  EXPECT_THAT(problems(with(table_text(1, 1), "completed", "initializing")), ElementsAre("RT05 status is \"initializing\", expected \"completed\""));
}

TEST(RankTableErrors, RT06Numbers) {
  EXPECT_THAT(problems(with(table_text(1, 8), "\"rank_id\": \"3\"", "\"rank_id\": \"x7\"")),
              ElementsAre("RT06 rank_id \"x7\" of server 0 device 3 is not a number", "RT08 rank ids are 0..2,4..7: 3 is missing"));
  EXPECT_THAT(problems(with(table_text(1, 1), "\"device_id\": \"0\"", "\"device_id\": -1")),
              ElementsAre("RT06 device_id \"-1\" of server 0 device 0 is not a number from 0 to 2147483647"));
  EXPECT_THAT(problems(with(table_text(1, 1), "\"device_id\": \"0\"", "\"device_id\": \"99999999999\"")),
              ElementsAre("RT06 device_id \"99999999999\" of server 0 device 0 is not a number from 0 to 2147483647"));
  EXPECT_THAT(problems(with(table_text(1, 1), "\"server_count\": \"1\"", "\"server_count\": \"one\"")),
              ElementsAre("RT06 server_count \"one\" is not a number"));
}

TEST(RankTableErrors, RT07RankTwice) {
  EXPECT_THAT(problems(with(table_text(2, 8), "\"rank_id\": \"8\"", "\"rank_id\": \"5\"")),
              ElementsAre("RT07 rank_id 5 appears twice (server 0 device 5, server 1 device 0)", "RT08 rank ids are 0..7,9..15: 8 is missing",
                          "RT15w ranks of server 1 are not consecutive; local-rank order follows the list"));
}

TEST(RankTableErrors, RT08RankMissing) {
  EXPECT_THAT(problems(with(table_text(1, 8), "\"rank_id\": \"7\"", "\"rank_id\": \"8\"")),
              ElementsAre("RT08 rank ids are 0..6,8: 7 is missing", "RT15w ranks of server 0 are not consecutive; local-rank order follows the list"));
}

TEST(RankTableErrors, RT09DeviceTwice) {
  EXPECT_THAT(problems(with(table_text(1, 8), "\"device_id\": \"4\"", "\"device_id\": \"3\"")),
              ElementsAre("RT09 device_id 3 appears twice on server 10.0.0.1"));
}

TEST(RankTableErrors, RT10Address) {
  for (const std::string bad : {"10.0.0.300", "", "a b", "-x", "1:2"}) {
    EXPECT_THAT(problems(with(table_text(1, 1), "10.0.0.1", bad)),
                ElementsAre("RT10 server_id \"" + bad + "\" is neither an IPv4/IPv6 address nor a resolvable name"));
  }
  EXPECT_THAT(problems(with(table_text(1, 1), "192.168.1.1", "1.2.3")),
              ElementsAre("RT10 device_ip \"1.2.3\" of server 0 device 0 is neither an IPv4/IPv6 address nor a resolvable name"));
  // Example tables contain placeholders instead of addresses; these are not duplicate addresses.
  const auto placeholder = [](int server) {
    return "RT10 server_id \"10.*.*.*\" of server " + std::to_string(server) +
        " is a placeholder: write the address at which other hosts reach this server (hostname -I prints it there)";
  };
  EXPECT_THAT(problems(with(with(table_text(2, 1), "10.0.0.1", "10.*.*.*"), "10.0.0.2", "10.*.*.*")), ElementsAre(placeholder(0), placeholder(1)));
  for (const std::string fine : {"fe80::1", "host-a", "node1.cluster", "localhost"})
    EXPECT_THAT(problems(with(table_text(1, 1), "10.0.0.1", fine)), IsEmpty()) << fine;
  const RankTableCheck named = check_rank_table(with(table_text(1, 1), "10.0.0.1", "no-such-host.invalid"), "t.json");
  const std::vector<RankTableProblem> here = check_rank_table_here(named.table);
  ASSERT_EQ(here.size(), 2u);
  EXPECT_EQ(here[0].label(), "RT10");
  EXPECT_EQ(here[0].text, "server_id \"no-such-host.invalid\" is a name that this host cannot resolve");
  EXPECT_TRUE(here[0].warning);
}

TEST(RankTableErrors, RT11ServerTwice) {
  EXPECT_THAT(problems(with(table_text(2, 1), "\"10.0.0.2\"", "\"10.0.0.1\"")), ElementsAre("RT11 server_id 10.0.0.1 appears twice; merge the device lists"));
  EXPECT_THAT(problems(with(with(table_text(2, 1), "10.0.0.1", "::1"), "10.0.0.2", "0:0:0::1")),
              ElementsAre(HasSubstr("RT11 server_id 0:0:0::1 appears twice")));
}

TEST(RankTableErrors, RT15Order) {
  const std::string text = with(with(table_text(2, 2), "\"rank_id\": \"1\"", "\"rank_id\": \"9\""), "\"rank_id\": \"2\"", "\"rank_id\": \"1\"");
  const RankTableCheck c = check_rank_table(with(text, "\"rank_id\": \"9\"", "\"rank_id\": \"2\""), "t.json");
  EXPECT_TRUE(c.ok());
  ASSERT_EQ(c.problems.size(), 2u);
  EXPECT_EQ(c.problems[1].label(), "RT15");
  EXPECT_EQ(c.problems[1].text, "ranks of server 1 are not consecutive; local-rank order follows the list");
  EXPECT_TRUE(c.problems[1].warning);
  EXPECT_EQ(place_of(c.table, 1).local_rank, 0);
  EXPECT_EQ(place_of(c.table, 1).server, 1);
}

TEST(RankTableErrors, AllOfThemAreListed) {
  std::string text = with(table_text(2, 8), "\"1.0\"", "\"2.0\"");
  text = with(text, "\"server_count\": \"2\"", "\"server_count\": \"3\"");
  text = with(text, "completed", "going");
  text = with(text, "\"rank_id\": \"1\"", "\"rank_id\": \"x\"");
  text = with(text, "\"rank_id\": \"9\"", "\"rank_id\": \"8\"");
  text = with(text, "\"device_id\": \"4\"", "\"device_id\": \"3\"");
  text = with(text, "\"10.0.0.2\"", "\"10.0.0.1\"");
  std::vector<std::string> labels;
  for (const std::string& p : problems(text)) labels.push_back(p.substr(0, 4));
  EXPECT_THAT(labels, ElementsAre("RT03", "RT04", "RT05", "RT06", "RT07", "RT08", "RT09", "RT11", "RT15"));
  const TempFolder temp;
  std::ofstream(temp.file("t.json")) << text;
  try {
    read_rank_table(temp.file("t.json"));
    ADD_FAILURE() << "no error";
  } catch (const SettingsError& e) {
    EXPECT_EQ(e.code(), ErrorCode::kTableVersion);
    EXPECT_EQ(e.exit_code(), 2);
    EXPECT_THAT(e.message(), HasSubstr("8 problems:\nRT03 version"));
    EXPECT_THAT(e.message(), HasSubstr("\nRT11 server_id 10.0.0.1 appears twice"));
    EXPECT_THAT(e.where(), HasSubstr("t.json"));
  }
}

// The number and message of the check that fails.
void refuses(ErrorCode code, const std::string& message, const std::function<void()>& f) {
  try {
    f();
    ADD_FAILURE() << "no error";
  } catch (const SettingsError& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_EQ(e.exit_code(), 2);
    EXPECT_THAT(e.message(), HasSubstr(message));
    EXPECT_FALSE(e.fix().empty());
  }
}

TEST(RankTableErrors, FilesThatCannotBeRead) {
  refuses(ErrorCode::kSettings, "No such file", [] { read_rank_table("/no/such/table.json"); });
  refuses(ErrorCode::kSettings, "not a regular file", [] { read_rank_table("/tmp"); });
}

TEST(RankTableErrors, RT12LaunchedWithAnotherNumber) {
  const RankTable t = good(1, 8), two = good(2, 8);
  refuses(ErrorCode::kTableSize, "RT12 RANK_SIZE=16 but the table has 8 devices", [&] { locate(t, {.rank_id = 0, .rank_size = 16}); });
  refuses(ErrorCode::kTableSize, "RT12 RANK_SIZE=4 but the table has 8 devices", [&] { locate(t, {.rank_id = 0, .rank_size = 4, .device_num = 4}); });
  refuses(ErrorCode::kTableSize, "RT12 DEVICE_NUM=4 but the table has 8 devices on server 1 (10.0.0.2)",
          [&] { locate(two, {.rank_id = 8, .rank_size = 16, .device_num = 4}); });
}

TEST(RankTableErrors, RT13RankNotThere) {
  const RankTable t = good(1, 8), two = good(2, 8);
  refuses(ErrorCode::kTableRank, "RT13 RANK_ID=9 not in the table (0..7)", [&] { locate(t, {.rank_id = 9}); });
  refuses(ErrorCode::kTableRank, "RT13 RANK_ID=2147483647 not in the table", [&] { locate(t, {.rank_id = int64_t{1} << 40}); });
  refuses(ErrorCode::kTableRank, "RT13 the table has 8 ranks, but RANK_ID is missing", [&] { locate(t, {.rank_size = 8, .device_id = 3}); });
  refuses(ErrorCode::kTableRank, "RT13 SERVER_ID=2 not in the table (0..1)", [&] { locate(two, {.device_id = 0, .device_num = 8, .server_id = 2}); });
  refuses(ErrorCode::kTableRank, "RT13 DEVICE_ID=8 is not a device of server 1 (10.0.0.2): it has 0, 1, 2, 3, 4, 5, 6, 7",
          [&] { locate(two, {.device_id = 8, .device_num = 8, .server_id = 1}); });
  refuses(ErrorCode::kTableRank, "RT13 rank 3 is on server 0 (10.0.0.1), but SERVER_ID=1", [&] { locate(two, {.rank_id = 3, .server_id = 1}); });
  const std::vector<RankTableProblem> here = check_rank_table_here(good(2, 1));
  // 10.0.0.1 may exist in any network: the warning appears exactly when no interface has it.
  ASSERT_EQ(here.size(), is_own_address("10.0.0.1") || is_own_address("10.0.0.2") ? 0u : 1u);
  if (!here.empty()) {
    EXPECT_EQ(here[0].text, "this host has none of the addresses 10.0.0.1, 10.0.0.2");
    EXPECT_TRUE(here[0].warning);
  }
}

TEST(RankTableErrors, RT14AnotherDevice) {
  refuses(ErrorCode::kTableDevice, "RT14 DEVICE_ID=4 does not belong to rank 3 (table: 3)", [] { locate(good(1, 8), {.rank_id = 3, .device_id = 4}); });
}

TEST(RankTable, TellsWhoAProcessIs) {
  const RankTable two = good(2, 8);
  const RankPlace p = locate(two, {.rank_id = 13, .rank_size = 16, .device_id = 5, .device_num = 8, .server_id = 1});
  EXPECT_EQ(p.rank, 13);
  EXPECT_EQ(p.size, 16);
  EXPECT_EQ(p.local_rank, 5);
  EXPECT_EQ(p.local_size, 8);
  EXPECT_EQ(p.server, 1);
  EXPECT_EQ(p.servers, 2);
  EXPECT_EQ(p.device_id, 5);
  EXPECT_EQ(p.server_id, "10.0.0.2");
  EXPECT_EQ(p.device_ip, "192.168.6.2");
  EXPECT_EQ(p.master, "10.0.0.1");
  EXPECT_EQ(locate(two, {.device_id = 5, .device_num = 8, .server_id = 1}).rank, 13);
}

TEST(RankTable, ReadsTheEnvironment) {
  const auto set = [](const char* name, const char* value) { setenv(name, value, 1); };
  for (const char* name : {"RANK_ID", "RANK_SIZE", "DEVICE_ID", "DEVICE_NUM", "SERVER_ID", "RANK_TABLE_FILE", "MINDSPORE_HCCL_CONFIG_PATH"}) unsetenv(name);
  EXPECT_FALSE(rank_claims_of_environment().complete());
  EXPECT_EQ(rank_table_file_of_environment(), "");
  set("MINDSPORE_HCCL_CONFIG_PATH", "old.json");
  EXPECT_EQ(rank_table_file_of_environment(), "old.json");
  set("RANK_TABLE_FILE", "new.json");
  EXPECT_EQ(rank_table_file_of_environment(), "new.json");
  set("RANK_ID", "3");
  set("RANK_SIZE", "");
  EXPECT_EQ(rank_claims_of_environment().rank_id, 3);
  EXPECT_FALSE(rank_claims_of_environment().rank_size.has_value());
  for (const char* bad : {"x", "-1", "3 ", "1e3"}) {
    set("RANK_ID", bad);
    refuses(ErrorCode::kSettings, "is not a whole number", [] { rank_claims_of_environment(); });
  }
  for (const char* name : {"RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE", "MINDSPORE_HCCL_CONFIG_PATH"}) unsetenv(name);
}

TEST(RankTable, KnowsItsOwnHost) {
  RankTable t = good(2, 1);
  t.servers[1].server_id = "127.0.0.1";
  EXPECT_THAT(servers_here(t), testing::Contains(1));
  EXPECT_TRUE(is_own_address("127.0.0.7"));
  EXPECT_FALSE(is_own_address("192.0.2.77"));
}

}  // namespace
}  // namespace sindri::comm::rank_table_test
