// SPDX-License-Identifier: MIT
// The rules themselves, on small trees that break one each.
#include "tests/tidy/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tidy::findings;
using tidy::tree;

const std::string licence = "// SPDX-License-Identifier: MIT\n";

TEST(TidyLicence, IsTheFirstLineOfASource) {
  findings out;
  tidy::check_licence_line("lib/os/a.cpp", licence + "int a;\n", out);
  EXPECT_THAT(out, IsEmpty());
  tidy::check_licence_line("lib/os/a.cpp", "\n" + licence, out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("lib/os/a.cpp:1: the first line is not the licence")));
}

TEST(TidyLicence, ComesAfterTheInterpreterOfAScript) {
  findings out;
  tidy::check_licence_line("dev", "#!/usr/bin/env bash\n# SPDX-License-Identifier: MIT\n", out);
  EXPECT_THAT(out, IsEmpty());
  tidy::check_licence_line("dev", "#!/usr/bin/env bash\nset -e\n", out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("dev:2: the first line is not the licence; write `# SPDX")));
}

TEST(TidySize, CountsLinesByTheFolder) {
  std::string text;
  for (int line = 0; line < 450; ++line) text += "\n";
  findings out;
  tidy::check_size("tests/os/a_test.cpp", text, out);
  EXPECT_THAT(out, IsEmpty());
  tidy::check_size("lib/os/a.cpp", text, out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("450 lines; 400 are allowed")));
}

TEST(TidySize, CountsCharactersRatherThanBytes) {
  std::string wide;
  for (int column = 0; column < 140; ++column) wide += "\xC3\xA4";
  findings out;
  tidy::check_size("lib/os/a.cpp", wide + "\n", out);
  EXPECT_THAT(out, IsEmpty());
  tidy::check_size("lib/os/a.cpp", wide + "x\n", out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("lib/os/a.cpp:1: 141 columns")));
}

TEST(TidySize, SeesBlanksAtTheEndOfALineAndAMissingNewline) {
  findings out;
  tidy::check_size("lib/os/a.cpp", "int a; \nint b;", out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("a.cpp:1: blanks"), HasSubstr("a.cpp:2: no newline")));
}

TEST(TidyPaths, AreNotThoseOfOneMachine) {
  findings out;
  tidy::check_no_machine_paths("docs/a.md", std::string("see /ho") + "me/me/file\n", out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("docs/a.md:1: names a folder of one machine")));
}

TEST(TidyPaths, LeaveWhatLiesBesideTheCloneToTheChecks) {
  const std::string text = std::string("../sha") + "red/x\n";
  findings out;
  tidy::check_no_machine_paths(".ci/run", text, out);
  EXPECT_THAT(out, IsEmpty());
  tidy::check_no_machine_paths("dev", text, out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("which only .ci/run may")));
}

TEST(TidyWords, AreBannedWithARemedyUnlessTheLineSaysWhy) {
  const std::string line = std::string("std::this_thread::sleep_") + "for(x);";
  findings out;
  tidy::check_banned_words("tests/os/a_test.cpp", line + "  // The nap itself is tested.\n", out);
  EXPECT_THAT(out, IsEmpty());
  tidy::check_banned_words("tests/os/a_test.cpp", line + "\n", out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("wait for what you wait for")));
}

TEST(TidyMacros, OfPublicHeadersBearTheProjectsName) {
  findings out;
  tidy::check_macro_names("include/penstock/a.hpp", "#define PENSTOCK_A 1\n#define LOG_A 1\n", out);
  tidy::check_macro_names("include/penstock/b.hpp", "#ifdef PENSTOCK_SHORT_NAMES\n#define LOG_A 1\n#endif\n", out);
  tidy::check_macro_names("lib/os/a.cpp", "#define TOML_HEADER_ONLY 1\n", out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("include/penstock/a.hpp:2: a macro of a public header")));
}

TEST(TidyEdges, GoDownTheFoldersOnly) {
  EXPECT_TRUE(tidy::may_include("lib/backend/a.cpp", "lib/transport/b.hpp"));
  EXPECT_FALSE(tidy::may_include("lib/transport/b.hpp", "lib/backend/a.hpp"));
  EXPECT_TRUE(tidy::may_include("include/penstock/log.hpp", "include/penstock/detail/encode.hpp"));
  EXPECT_FALSE(tidy::may_include("include/penstock/detail/encode.hpp", "include/penstock/log.hpp"));
  EXPECT_FALSE(tidy::may_include("include/penstock/base/level.hpp", "include/penstock/detail/record.hpp"));
}

TEST(TidyEdges, KeepSinksAndRecordsApart) {
  EXPECT_FALSE(tidy::may_include("sinks/write_sink.cpp", "lib/transport/chunk.hpp"));
  EXPECT_TRUE(tidy::may_include("lib/engine/start.cpp", "sinks/factory.hpp"));
  EXPECT_FALSE(tidy::may_include("lib/engine/start.cpp", "sinks/batch_sink.hpp"));
  EXPECT_FALSE(tidy::may_include("examples/hello.cpp", "lib/os/file.hpp"));
}

TEST(TidyEdges, AreToldWithTheLineOfTheInclude) {
  const tree files{{"sinks/a.cpp", licence + "#include \"lib/backend/line.hpp\"\n"}, {"lib/backend/line.hpp", licence}};
  findings out;
  tidy::check_edges(files, out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("sinks/a.cpp:2: includes lib/backend/line.hpp")));
}

TEST(TidyCycles, AreFoundThroughSeveralFiles) {
  const tree files{{"lib/os/a.hpp", "#include \"lib/os/b.hpp\"\n"},
                   {"lib/os/b.hpp", "#include \"lib/os/c.hpp\"\n"},
                   {"lib/os/c.hpp", "#include \"lib/os/a.hpp\"\n"}};
  findings out;
  tidy::check_cycles(files, out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("lib/os/a.hpp:1: includes itself through lib/os/b.hpp lib/os/c.hpp")));
}

TEST(TidyCycles, AreNotSeenWhereTwoWaysLeadToOneFile) {
  const tree files{{"lib/os/a.hpp", "#include \"lib/os/b.hpp\"\n#include \"lib/os/c.hpp\"\n"},
                   {"lib/os/b.hpp", "#include \"lib/os/c.hpp\"\n"},
                   {"lib/os/c.hpp", ""}};
  findings out;
  tidy::check_cycles(files, out);
  EXPECT_THAT(out, IsEmpty());
}

TEST(TidyIncludes, AreResolvedFromTheTopOfTheTree) {
  const std::string text = "#include <penstock/log.hpp>\n#include \"lib/os/file.hpp\"\n#include <vector>\n#include \"neighbour.hpp\"\n";
  const auto found = tidy::inclusions_of("lib/backend/a.cpp", text);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].target, "include/penstock/log.hpp");
  EXPECT_EQ(found[1].target, "lib/os/file.hpp");
  EXPECT_EQ(found[2].target, "lib/backend/neighbour.hpp");
  EXPECT_EQ(found[2].line, 4U);
}

TEST(TidyLinks, LeadToFilesAndFoldersOfTheTree) {
  const tree files{{"README.md", "[pages](docs/) [memory](docs/memory.md#budget) [out](https://example.org/x) [here](#top)\n"},
                   {"docs/memory.md", "[top](../README.md) [gone](ordering.md)\n"}};
  findings out;
  tidy::check_links(files, out);
  EXPECT_THAT(out, ElementsAre(HasSubstr("docs/memory.md:1: links to ordering.md, which is not there")));
}

}  // namespace
