// SPDX-License-Identifier: MIT
// Where a statement may stand, with names around it that a careless macro would clash with. Without a switch this compiles.
#include <penstock/log.hpp>

#include <string>
#include <utility>

// BREAK_1: was not declared|undeclared identifier

namespace user {

enum class level { low };
struct logger {};
struct source_facts {};
inline int info(int value) { return value; }
constexpr const char* constant_format = "constant {}";
constexpr char array_format[] = "array {}";

inline int logs_and_returns(int value) {
  PENSTOCK_DEBUG("from inside: {}", value);
  return value;
}

template <class T>
int in_template(const T& value) {
  PENSTOCK_INFO("in a template: {}", value);
  const auto generic = [](const auto& inner) { PENSTOCK_INFO("in a generic lambda: {}", inner); };
  generic(value);
  return 0;
}

struct type {
  type() noexcept { PENSTOCK_TRACE("in a constructor"); }
  ~type() { PENSTOCK_TRACE("in a destructor"); }
  int member = [] {
    PENSTOCK_INFO("in an initialiser");
    return 1;
  }();
  type(const type&) = delete;
  type& operator=(const type&) = delete;
};

inline const int global = [] {
  PENSTOCK_INFO("before main");
  return 1;
}();

int everywhere(int value, const std::string& name) {
  const int format = 1;
  const int facts = 2;
  const int site = 3;
  if (value > 3)
    PENSTOCK_INFO("without braces {} {} {}", format, facts, site);
  else
    PENSTOCK_ERROR("without braces");
  switch (value) {
    case 1:
      PENSTOCK_INFO("in a switch");
      break;
    default:
      PENSTOCK_WARNING("in a switch {}", info(value));
  }
  for (int i = 0; i != 2; ++i) PENSTOCK_LOG_CRITICAL(penstock::get(name), "in a loop {}", i);
  PENSTOCK_INFO("one {} in another's argument {}", logs_and_returns(1), [&] {
    PENSTOCK_INFO("innermost {}", [&] {
      PENSTOCK_INFO("deeper {}", value);
      return 1;
    }());
    return 2;
  }());
  PENSTOCK_INFO(constant_format, value);
  PENSTOCK_INFO(array_format, value);
  PENSTOCK_INFO(
      "joined "
      "literal {}",
      value);
  PENSTOCK_INFO("a template's comma {}", std::pair<int, int>(1, 2).first);
#if defined(BREAK_1)
  PENSTOCK_INFO("what is off is still compiled {}", no_such_name);
#endif
  const type made;
  return in_template(value) + in_template(name) + in_template("literal") + made.member + global;
}

}  // namespace user
