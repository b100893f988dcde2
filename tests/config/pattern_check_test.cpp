// SPDX-License-Identifier: MIT
#include "lib/config/pattern_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using penstock::detail::check_pattern;
using testing::HasSubstr;

std::string problem_of(std::string_view pattern) {
  const auto problem = check_pattern(pattern);
  return problem ? problem->text : std::string{};
}

TEST(PatternCheck, PassesEveryFieldAndTheDefault) {
  for (const std::string_view pattern :
       {"{time} {level:<8} [{thread}] {logger}: {message}", "{time}{level}{thread}{process}{logger}{file}{line}{function}{message}", "",
        "plain text", "{message}", "100 % of {{it}} {message}\n"})
    EXPECT_EQ(problem_of(pattern), "") << pattern;
}

TEST(PatternCheck, PassesAlignmentFillAndWidthOnEachField) {
  for (const std::string_view pattern : {"{level:<8}", "{line:>5}", "{logger:^20}", "{file:.<30}", "{message:999}", "{thread:<}",
                                         "{line:0>5}", "{level:->8}", "{level:<<8}", "{logger:\u00b7>9}", "{level:}"})
    EXPECT_EQ(problem_of(pattern), "") << pattern;
}

TEST(PatternCheck, PassesTimeFormatsWithOurConversions) {
  for (const std::string_view pattern :
       {"{time:%Y-%m-%dT%H:%M:%S.%f%z}", "{time:%H:%M:%S.%N}", "{time:>40%F %T}", "{time:%e %b %%}", "{time:%-d %Ey %Od}"})
    EXPECT_EQ(problem_of(pattern), "") << pattern;
}

TEST(PatternCheck, NamesTheFieldThatWasMeant) {
  EXPECT_THAT(problem_of("{time} {mesage}"), HasSubstr("unknown field {mesage}; did you mean {message}?"));
  EXPECT_THAT(problem_of("{msg}"), HasSubstr("message"));
  EXPECT_THAT(problem_of("{Level}"), HasSubstr("did you mean {level}?"));
  EXPECT_THAT(problem_of("{ message }"), HasSubstr("did you mean {message}?"));
}

TEST(PatternCheck, ListsTheFieldsWhereNoneIsNear) {
  for (const std::string_view pattern : {"{}", "{0}", "{:<8}", "{hostname_of_it}"})
    EXPECT_THAT(problem_of(pattern), HasSubstr("time, level, thread")) << pattern;
}

TEST(PatternCheck, TellsWhereABraceStandsAlone) {
  EXPECT_THAT(problem_of("{message"), HasSubstr("write \"{{\""));
  EXPECT_THAT(problem_of("a {level {message}"), HasSubstr("at byte 3"));
  EXPECT_THAT(problem_of("{"), HasSubstr("at byte 1"));
  EXPECT_THAT(problem_of("a } b"), HasSubstr("write \"}}\""));
  EXPECT_THAT(problem_of("{message}}"), HasSubstr("at byte 10"));
  EXPECT_THAT(problem_of("{{{message"), HasSubstr("at byte 3"));
}

TEST(PatternCheck, RefusesWhatAFieldCannotDo) {
  for (const std::string_view pattern : {"{line:d}", "{message:.5}", "{level:<8s}", "{logger:+9}", "{message:x<", "{level:ab<8}"})
    EXPECT_NE(problem_of(pattern), "") << pattern;
  EXPECT_THAT(problem_of("{level:<{width}}"), HasSubstr("brace"));
  EXPECT_THAT(problem_of("{line:05}"), HasSubstr("{line:0>5}"));
  EXPECT_THAT(problem_of("{message:1000}"), HasSubstr("too large"));
  EXPECT_THAT(problem_of("{message:99999999999999999999}"), HasSubstr("too large"));
}

TEST(PatternCheck, RefusesTimeFormatsThatStrftimeDoesNotKnow) {
  EXPECT_THAT(problem_of("{time:%Q}"), HasSubstr("\"%Q\" is no strftime conversion"));
  EXPECT_THAT(problem_of("{time:%H:%}"), HasSubstr("middle of a conversion"));
  EXPECT_THAT(problem_of("{time:H:M}"), HasSubstr("no time format"));
  EXPECT_THAT(problem_of("{time:%-N}"), HasSubstr("write \"%N\""));
  EXPECT_NE(problem_of("{level:%H}"), "");
  EXPECT_THAT(problem_of("{time:%H" + std::string(100, 'x') + "}"), HasSubstr("102 bytes is too long"));
}

}  // namespace
