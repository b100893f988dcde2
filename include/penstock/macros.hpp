// SPDX-License-Identifier: MIT
// The macros. An argument of a statement whose level is off is not evaluated: that costs one load and a branch. Statements below
// PENSTOCK_ACTIVE_LEVEL (0 trace … 5 critical, 6 none; define it before the first include) leave no code at all.
//
//   PENSTOCK_INFO("order {} filled", id);                 root logger
//   PENSTOCK_LOG_WARNING(audit, "who {}", user);          a given logger
#pragma once

#include <penstock/logger.hpp>

#ifndef PENSTOCK_ACTIVE_LEVEL
#define PENSTOCK_ACTIVE_LEVEL 0
#endif

#define PENSTOCK_DETAIL_JOINED(a, b) a##b
#define PENSTOCK_DETAIL_JOIN(a, b) PENSTOCK_DETAIL_JOINED(a, b)

// `n` makes the local names unique: a log call inside another one's argument must not shadow them. The literal is passed twice: as the type
// that the layout is compiled from, and as the text that is checked.
#define PENSTOCK_DETAIL_LOG_N(n, to, level_name, literal, ...)                                                                             \
  do {                                                                                                                                     \
    if constexpr (::penstock::detail::is_active(::penstock::level::level_name, PENSTOCK_ACTIVE_LEVEL)) {                                   \
      ::penstock::logger& PENSTOCK_DETAIL_JOIN(penstock_logger_, n) = (to);                                                                \
      if (PENSTOCK_DETAIL_JOIN(penstock_logger_, n).enabled(::penstock::level::level_name)) {                                              \
        static constexpr ::penstock::source_facts PENSTOCK_DETAIL_JOIN(penstock_facts_, n){::penstock::detail::text_of(literal), __FILE__, \
                                                                                           __func__, __LINE__};                            \
        ::penstock::detail::log_statement<PENSTOCK_DETAIL_JOIN(penstock_facts_, n), ::penstock::level::level_name>(                        \
            PENSTOCK_DETAIL_JOIN(penstock_logger_, n).index(), PENSTOCK_DETAIL_FORMAT(literal), literal __VA_OPT__(, ) __VA_ARGS__);       \
      }                                                                                                                                    \
    }                                                                                                                                      \
  } while (false)
#define PENSTOCK_DETAIL_LOG(to, level_name, ...) PENSTOCK_DETAIL_LOG_N(__COUNTER__, to, level_name, __VA_ARGS__)

#define PENSTOCK_LOG_TRACE(to, ...) PENSTOCK_DETAIL_LOG(to, trace, __VA_ARGS__)
#define PENSTOCK_LOG_DEBUG(to, ...) PENSTOCK_DETAIL_LOG(to, debug, __VA_ARGS__)
#define PENSTOCK_LOG_INFO(to, ...) PENSTOCK_DETAIL_LOG(to, info, __VA_ARGS__)
#define PENSTOCK_LOG_WARNING(to, ...) PENSTOCK_DETAIL_LOG(to, warning, __VA_ARGS__)
#define PENSTOCK_LOG_ERROR(to, ...) PENSTOCK_DETAIL_LOG(to, error, __VA_ARGS__)
#define PENSTOCK_LOG_CRITICAL(to, ...) PENSTOCK_DETAIL_LOG(to, critical, __VA_ARGS__)

#define PENSTOCK_TRACE(...) PENSTOCK_LOG_TRACE(::penstock::detail::root_logger, __VA_ARGS__)
#define PENSTOCK_DEBUG(...) PENSTOCK_LOG_DEBUG(::penstock::detail::root_logger, __VA_ARGS__)
#define PENSTOCK_INFO(...) PENSTOCK_LOG_INFO(::penstock::detail::root_logger, __VA_ARGS__)
#define PENSTOCK_WARNING(...) PENSTOCK_LOG_WARNING(::penstock::detail::root_logger, __VA_ARGS__)
#define PENSTOCK_ERROR(...) PENSTOCK_LOG_ERROR(::penstock::detail::root_logger, __VA_ARGS__)
#define PENSTOCK_CRITICAL(...) PENSTOCK_LOG_CRITICAL(::penstock::detail::root_logger, __VA_ARGS__)

// Short names, only where they are asked for.
#ifdef PENSTOCK_SHORT_NAMES
#define LOG_TRACE PENSTOCK_TRACE
#define LOG_DEBUG PENSTOCK_DEBUG
#define LOG_INFO PENSTOCK_INFO
#define LOG_WARNING PENSTOCK_WARNING
#define LOG_ERROR PENSTOCK_ERROR
#define LOG_CRITICAL PENSTOCK_CRITICAL
#endif
