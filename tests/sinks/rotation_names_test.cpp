// SPDX-License-Identifier: MIT
// Names of closed files, and when a period turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sinks/rotation_calendar.hpp"
#include "sinks/rotation_names.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/time_zone.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::system_clock;
using ::testing::ElementsAre;

system_clock::time_point at(std::int64_t second) { return system_clock::time_point(std::chrono::seconds(second)); }

TEST(RotatedName, SaysTheTimeInUtcAndAnIndexOfFixedWidth) {
  EXPECT_EQ((rotated_name{0, 0}.suffix()), ".19700101T000000Z-0000");
  EXPECT_EQ((rotated_name{1'796'091'197, 42}.suffix()), ".20261201T021317Z-0042");
}

TEST(RotatedName, IsReadBackAsItWasWritten) {
  for (const rotated_name name : {rotated_name{0, 0}, rotated_name{951'782'400, 9999}, rotated_name{4'102'444'799, 7}}) {
    const auto plain = parse_rotated_name("app.log", "app.log" + name.suffix());
    ASSERT_TRUE(plain.has_value());
    EXPECT_EQ(plain->name, name);
    EXPECT_EQ(plain->is, parsed_name::form::plain);
    EXPECT_EQ(parse_rotated_name("app.log", "app.log" + name.suffix() + ".zst")->is, parsed_name::form::compressed);
    EXPECT_EQ(parse_rotated_name("app.log", "app.log" + name.suffix() + ".zst.tmp")->is, parsed_name::form::unfinished);
  }
}

TEST(RotatedName, NeverTakesANeighbourForOneOfItsOwn) {
  for (const char* other :
       {"app.log", "app.log.bak", "app.log.1", "app.log.1.gz", "application.log.20261201T021317Z-0000", "xapp.log.20261201T021317Z-0000",
        "app.log.20261201T021317Z-0000.gz", "app.log.20261201T021317Z-0000.bak", "app.log.20261201T021317Z-00000",
        "app.log.20261201T021317Z-000", "app.log.20261301T021317Z-0000", "app.log.20260230T021317Z-0000", "app.log.20261201T241317Z-0000",
        "app.log.20261201 021317Z-0000", "app.log.2026120:T021317Z-0000", "app.log.1234.20261201T021317Z-0000"})
    EXPECT_FALSE(parse_rotated_name("app.log", other).has_value()) << other;
}

TEST(RotatedName, SortsBehindTheLastEvenIfTheClockWasSetBackOrTheSecondIsFull) {
  const rotated_name first = rotated_name{}.next(at(1'000'000));
  EXPECT_EQ(first, (rotated_name{1'000'000, 0}));
  EXPECT_EQ(first.next(at(1'000'000)), (rotated_name{1'000'000, 1}));
  EXPECT_EQ(first.next(at(5)), (rotated_name{1'000'000, 1}));
  EXPECT_EQ((rotated_name{1'000'000, 9999}.next(at(1'000'000))), (rotated_name{1'000'001, 0}));
  EXPECT_LT((rotated_name{1'000'000, 9999}.suffix()), (rotated_name{1'000'001, 0}.suffix()));
}

TEST(ClosedFiles, AreListedOldestFirstWithoutLinksAndFolders) {
  const penstock::testing::temp_folder folder;
  const std::string second = "log" + rotated_name{200, 0}.suffix();
  const std::string first = "log" + rotated_name{100, 3}.suffix() + ".zst";
  penstock::testing::write_text(folder / second, "12345");
  penstock::testing::write_text(folder / first, "1");
  penstock::testing::write_text(folder / "victim", "1");
  fs::create_symlink(folder / "victim", folder / ("log" + rotated_name{300, 0}.suffix()));
  fs::create_directory(folder / ("log" + rotated_name{400, 0}.suffix()));
  std::vector<std::string> files;
  for (const closed_file& each : list_closed_files(folder.path(), "log")) files.push_back(each.file + ' ' + std::to_string(each.bytes));
  EXPECT_THAT(files, ElementsAre(first + " 1", second + " 5"));
}

class Turn : public ::testing::Test {
 protected:
  static void use(const char* zone) { penstock::testing::time_zone::change(zone); }
  static std::string local(system_clock::time_point moment) {
    const time_t second = system_clock::to_time_t(moment);
    tm civil{};
    ::localtime_r(&second, &civil);
    char text[40];
    ::strftime(text, sizeof text, "%a %F %T", &civil);
    return text;
  }
  static system_clock::time_point of(int year, int month, int day, int hour, int minute) {
    tm civil{};
    civil.tm_year = year - 1900;
    civil.tm_mon = month - 1;
    civil.tm_mday = day;
    civil.tm_hour = hour;
    civil.tm_min = minute;
    civil.tm_isdst = -1;
    return system_clock::from_time_t(::mktime(&civil));
  }

 private:
  penstock::testing::time_zone zone_{"UTC0"};
};

TEST_F(Turn, IsTheNextFullHourMidnightOrMonday) {
  const auto now = of(2026, 12, 1, 2, 13) + 17s + 500ms;
  EXPECT_EQ(local(next_turn(now, rotate_period::hour)), "Tue 2026-12-01 03:00:00");
  EXPECT_EQ(local(next_turn(now, rotate_period::day)), "Wed 2026-12-02 00:00:00");
  EXPECT_EQ(local(next_turn(now, rotate_period::week)), "Mon 2026-12-07 00:00:00");
  EXPECT_EQ(next_turn(now, rotate_period::never), system_clock::time_point::max());
}

TEST_F(Turn, IsBehindAMomentThatIsATurnItself) {
  const auto monday = of(2026, 12, 7, 0, 0);
  EXPECT_EQ(next_turn(monday, rotate_period::hour), monday + 1h);
  EXPECT_EQ(next_turn(monday, rotate_period::day), monday + 24h);
  EXPECT_EQ(next_turn(monday, rotate_period::week), monday + 7 * 24h);
  EXPECT_EQ(next_turn(monday - 1ns, rotate_period::week), monday);
}

/// How often days turn from one moment to another, each time looking from the last turn on.
int turns_between(system_clock::time_point from, system_clock::time_point to, rotate_period period) {
  int count = 0;
  for (auto now = next_turn(from, period); now <= to && count < 100; now = next_turn(now, period)) ++count;
  return count;
}

TEST_F(Turn, ComesOnceADayWhereMidnightDoesNotExist) {
  use("<-03>3<-02>,M11.1.0/0,M2.3.0/0");  // Sao Paulo, 2018: on 4 November the clocks go from 00:00 to 01:00
  EXPECT_EQ(local(next_turn(of(2018, 11, 3, 12, 0), rotate_period::day)), "Sun 2018-11-04 01:00:00");
  EXPECT_EQ(turns_between(of(2018, 11, 2, 12, 0), of(2018, 11, 6, 12, 0), rotate_period::day), 4);
}

TEST_F(Turn, ComesOnceADayWhereTheClocksGoBackAtMidnight) {
  use("<-03>3<-02>,M11.1.0/0,M2.3.0/0");  // on 18 February 2018 they go from 00:00 back to 23:00 of the 17th
  EXPECT_EQ(local(next_turn(of(2018, 2, 17, 12, 0), rotate_period::day)), "Sun 2018-02-18 00:00:00");
  EXPECT_EQ(turns_between(of(2018, 2, 15, 12, 0), of(2018, 2, 20, 12, 0), rotate_period::day), 5);
}

TEST_F(Turn, ComesOnceOnDaysOf23And25Hours) {
  use("GMT0BST,M3.5.0/1,M10.5.0");  // London
  EXPECT_EQ(next_turn(of(2024, 3, 31, 0, 0), rotate_period::day) - of(2024, 3, 31, 0, 0), 23h);
  EXPECT_EQ(turns_between(of(2024, 3, 29, 12, 0), of(2024, 4, 2, 12, 0), rotate_period::day), 4);
  use("EST5EDT,M3.2.0,M11.1.0");  // New York
  EXPECT_EQ(next_turn(of(2024, 11, 3, 0, 0), rotate_period::day) - of(2024, 11, 3, 0, 0), 25h);
  EXPECT_EQ(turns_between(of(2024, 11, 1, 12, 0), of(2024, 11, 5, 12, 0), rotate_period::day), 4);
}

TEST_F(Turn, TakesAnHourThatRunsTwiceForOne) {
  use("EST5EDT,M3.2.0,M11.1.0");
  const auto midnight = of(2024, 11, 3, 0, 0);
  EXPECT_EQ(next_turn(midnight, rotate_period::hour), midnight + 1h);
  EXPECT_EQ(next_turn(midnight + 1h, rotate_period::hour), midnight + 3h);
}

TEST_F(Turn, ComesOnceAWeekThroughTheYearAndTheChangesOfTheClocks) {
  use("EST5EDT,M3.2.0,M11.1.0");
  EXPECT_EQ(turns_between(of(2024, 1, 1, 0, 0), of(2024, 12, 30, 0, 0), rotate_period::week), 52);
  EXPECT_EQ(turns_between(of(1969, 12, 20, 0, 0), of(1970, 1, 14, 0, 0), rotate_period::week), 4);
}

}  // namespace
}  // namespace penstock::sinks
