// SPDX-License-Identifier: MIT
#include "lib/config/texts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "lib/config/key_table.hpp"
#include "tests/config/config_testing.hpp"

namespace {

using namespace penstock;
using namespace penstock::testing_config;
using testing::HasSubstr;

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream{file, std::ios::binary}.rdbuf();
  return text.str();
}

/// The lines that are neither empty nor comments, without trailing comments "# default".
std::string meaning(const std::string& text) {
  std::istringstream lines{text};
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t comment = line.find("  # ");
    if (comment != std::string::npos) line.erase(line.find_last_not_of(' ', comment) + 1);
    if (!line.empty() && line.front() != '#') out += line + "\n";
  }
  return out;
}

struct anything {
  template <class T>
  operator T() const {  // NOLINT(google-explicit-constructor): it stands for any member
    throw std::logic_error("only the type counts");
  }
};

/// How many members an aggregate has.
template <class T, std::size_t... indices>
constexpr bool takes(std::index_sequence<indices...>) {
  return requires { T{(static_cast<void>(indices), anything{})...}; };
}
template <class T, std::size_t count = 0>
constexpr std::size_t member_count() {
  if constexpr (takes<T>(std::make_index_sequence<count + 1>{})) return member_count<T, count + 1>();
  return count;
}

TEST(KeyTable, HasAKeyForEachMemberOfTheConfiguration) {
  EXPECT_EQ(detail::key_names(detail::section::backend).size(), member_count<backend_config>());
  EXPECT_EQ(detail::key_names(detail::section::sink).size() + 1, member_count<sink_config>()) << "rotate is a table of its own";
  EXPECT_EQ(detail::key_names(detail::section::rotate).size(), member_count<rotate_config>());
  EXPECT_EQ(detail::key_names(detail::section::logger).size(), member_count<logger_config>());
}

TEST(KeyTable, TellsWhatEachKeyDoesAndNamesNoneTwice) {
  for (const detail::key& k : detail::key_table()) {
    EXPECT_GT(k.doc.size(), 10U) << k.name;
    EXPECT_NE(k.doc.back(), '.') << k.name << ": the sentence goes on with the range";
    EXPECT_EQ(detail::find_key(k.in, k.name), &k) << k.name;
  }
}

TEST(DefaultsText, IsAValidConfigOfAllTypesAndAllDefaults) {
  const config settings = parse_config(detail::defaults_text(), "defaults.toml");
  EXPECT_EQ(settings.backend, backend_config{});
  EXPECT_EQ(settings.sinks.size(), detail::built_in_types().size());
  for (const std::string_view type : detail::built_in_types()) {
    sink_config sink = settings.sinks.find(type)->second;
    EXPECT_EQ(sink.type, type);
    sink_config untouched;
    untouched.type = sink.type;
    EXPECT_EQ(effective_batch_bytes(sink), effective_batch_bytes(untouched)) << type;
    untouched.path = sink.path;
    untouched.batch_size = sink.batch_size;
    EXPECT_EQ(sink, untouched) << type;
  }
  EXPECT_EQ(settings.loggers.at("root").level, level::info);
  EXPECT_EQ(settings.loggers.at("root").sinks->size(), settings.sinks.size());
}

TEST(DefaultsText, ShowsEachTypeItsOwnKeysOnly) {
  const std::string text = detail::defaults_text();
  const auto table_of = [&](std::string_view name) {
    const std::size_t begin = text.find("[sinks." + std::string{name} + "]");
    return text.substr(begin, text.find("\n[", begin) - begin);
  };
  EXPECT_THAT(table_of("mmap_ring"), HasSubstr("\nsize = "));
  EXPECT_THAT(table_of("write"), testing::Not(HasSubstr("\nsize = ")));
  EXPECT_THAT(table_of("io_uring"), HasSubstr("\nqueue_depth = 4"));
  EXPECT_THAT(table_of("console"), HasSubstr("\npath = \"\"\n"));
  EXPECT_THAT(table_of("null"), testing::Not(HasSubstr("\npath = ")));
}

TEST(ExplainText, OfNothingIsTheConsoleAtLevelInfo) {
  const config settings = parse_config(detail::explain_text(config{}), "explained.toml");
  EXPECT_EQ(settings.backend, backend_config{});
  ASSERT_EQ(settings.sinks.size(), 1U);
  EXPECT_EQ(settings.sinks.at("console").type, "console");
  EXPECT_EQ(settings.loggers.at("root").level, level::info);
  EXPECT_EQ(settings.loggers.at("root").sinks, std::vector<std::string>{"console"});
}

TEST(ExplainText, WritesOutWhatALoggerInheritsAndFromWhom) {
  const std::string text = detail::explain_text(parse_config(R"(
[sinks.app]
type = "null"
[sinks.audit]
type = "null"
[loggers.net]
level = "debug"
sinks = ["audit"]
[loggers.net.http.client]
[loggers."net.dns"]
level = "error"
[loggers.other]
)",
                                                             "app.toml"));
  const config settings = parse_config(text, "explained.toml");
  EXPECT_EQ(settings.loggers.at("root").sinks, (std::vector<std::string>{"app", "audit"}));
  EXPECT_EQ(settings.loggers.at("net.http.client").level, level::debug);
  EXPECT_EQ(settings.loggers.at("net.http.client").sinks, std::vector<std::string>{"audit"});
  EXPECT_EQ(settings.loggers.at("net.dns").level, level::error);
  EXPECT_EQ(settings.loggers.at("other").level, level::info);
  EXPECT_THAT(text, HasSubstr("# from net\n"));
  EXPECT_THAT(text, HasSubstr("# from root\n"));
}

TEST(ExplainText, ExplainedOnceMoreSaysTheSame) {
  const std::string once = detail::explain_text(parse_config(R"(
[sinks."my app"]
type = "io_uring"
path = "logs/\"quoted\" ä.log"
sync = "90 s"
mode = "0600"
pattern = "{time:%H:%M}\t{message}"
[loggers."a.level"]
sinks = ["my app"]
[loggers."ä.b c"]
[loggers.root]
level = "off"
)",
                                                             "app.toml"));
  const std::string twice = detail::explain_text(parse_config(once, "explained.toml"));
  EXPECT_EQ(meaning(once), meaning(twice));
  EXPECT_THAT(once, HasSubstr("sync = \"90 s\"\n"));
  EXPECT_THAT(once, HasSubstr("[loggers.\"a.level\"]"));
}

TEST(FaultsOf, TellsAllFaultsInTheOrderOfTheFile) {
  const scratch_folder folder;
  const fs::path file = folder.write("bad.toml", "[sinks.z]\ntype = \"nul\"\n[backend]\ncpu = \"1\"\nmemory = 1\n");
  EXPECT_THAT(detail::faults_of(file), testing::ElementsAre(HasSubstr("bad.toml:2:8: sinks.z.type"), HasSubstr("bad.toml:4:7: backend.cpu"),
                                                            HasSubstr("bad.toml:5:10: backend.memory")));
  EXPECT_THAT(detail::faults_of(folder.write("good.toml", "")), testing::IsEmpty());
  EXPECT_THAT(detail::faults_of(folder.path() / "none.toml"), testing::ElementsAre(HasSubstr("No such file")));
}

TEST(Documentation, IsWhatTheTableOfKeysSays) {
  EXPECT_EQ(contents(fs::path{PENSTOCK_SOURCE_DIR} / "docs/config.md"), detail::docs_text())
      << "make it anew: penstock config --docs > docs/config.md";
}

TEST(Documentation, HasAnExampleThatIsAValidConfig) {
  const std::string text = detail::docs_text();
  const std::size_t begin = text.find("```toml\n") + 8;
  EXPECT_EQ(refusal(text.substr(begin, text.find("```", begin) - begin)), "");
}

TEST(Examples, AreValidConfigs) {
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator{fs::path{PENSTOCK_SOURCE_DIR} / "examples"}) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    EXPECT_THAT(detail::faults_of(entry.path()), testing::IsEmpty()) << entry.path();
  }
  EXPECT_GT(count, 0U);
}

}  // namespace
