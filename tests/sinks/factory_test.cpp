// SPDX-License-Identifier: MIT
#include "sinks/factory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace penstock::sinks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Body>
std::string refusal(Body body) {
  try {
    body();
    return {};
  } catch (const config_error& error) {
    return error.what();
  }
}

std::unique_ptr<sink> make_other_null(const sink_config& settings) { return make_null_sink(settings); }

TEST(Factory, KnowsTheBuiltInTypes) {
  for (const char* type : {"write", "pwrite", "mmap_ring", "io_uring", "stdio", "console", "null"})
    EXPECT_TRUE(known_sink_type(type)) << type;
  EXPECT_FALSE(known_sink_type("wirte"));
  EXPECT_FALSE(known_sink_type(""));
}

TEST(Factory, MakesWhatATypeNames) { EXPECT_EQ(make_sink({.type = "null", .batch_size = 4096})->describe().kind, "null"); }

TEST(Factory, NamesAnUnknownTypeAndTheKnownOnes) {
  EXPECT_THAT(refusal([] { make_sink({.type = "wirte"}); }),
              AllOf(HasSubstr("\"wirte\""), HasSubstr("write"), HasSubstr("register_sink_type")));
}

TEST(Factory, MakesRegisteredTypes) {
  register_sink_type("null_of_factory_test", make_other_null);
  EXPECT_TRUE(known_sink_type("null_of_factory_test"));
  EXPECT_NE(make_sink({.type = "null_of_factory_test", .batch_size = 4096}), nullptr);
  EXPECT_THAT(refusal([] { make_sink({.type = "unknown"}); }), HasSubstr("null_of_factory_test"));
}

TEST(Factory, GivesANameOnlyOnce) {
  register_sink_type("twice", make_other_null);
  EXPECT_THAT(refusal([] { register_sink_type("twice", make_other_null); }), HasSubstr("registered already"));
  EXPECT_THAT(refusal([] { register_sink_type("pwrite", make_other_null); }), HasSubstr("built in"));
  EXPECT_THAT(refusal([] { register_sink_type("", make_other_null); }), HasSubstr("needs a name"));
  EXPECT_THAT(refusal([] { register_sink_type("empty", sink_factory{}); }), HasSubstr("needs a factory"));
  EXPECT_FALSE(known_sink_type("empty"));
}

TEST(Factory, RefusesARegisteredFactoryThatMakesNothing) {
  register_sink_type("nothing", [](const sink_config&) { return std::unique_ptr<sink>(); });
  EXPECT_THAT(refusal([] { make_sink({.type = "nothing"}); }), HasSubstr("gave no sink"));
}

}  // namespace
}  // namespace penstock::sinks
