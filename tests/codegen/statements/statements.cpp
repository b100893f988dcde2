// SPDX-License-Identifier: MIT
// Statements whose code the test reads; compiled by the test, never linked.
#include <penstock/log.hpp>

extern "C" void int_and_double(int i, double d) { PENSTOCK_INFO("order {} filled at {}", i, d); }

extern "C" void by_logger(penstock::logger& to, unsigned long long n) { PENSTOCK_LOG_WARNING(to, "{}", n); }

extern "C" void without_arguments() { PENSTOCK_INFO("nothing to see"); }

extern "C" void macro_free(int i, double d) { penstock::info("order {} filled at {}", i, d); }

extern "C" void with_literal(int i) { PENSTOCK_INFO("{} {}", i, "a literal"); }

// What the test must find fault with.
extern "C" void foreign();
extern "C" void calls_always(int i) {
  foreign();
  PENSTOCK_INFO("{}", i);
  foreign();
}
