// SPDX-License-Identifier: MIT
// The tree of loggers: who inherits which level and which sinks from whom.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/config.hpp>
#include <penstock/logger.hpp>

#include "lib/backend/route_table.hpp"

namespace penstock::engine {

class loggers {
 public:
  explicit loggers(backend::route_table& routes);

  /// Thread: any.
  logger& get(std::string_view name);
  void set_level(logger& of, level threshold);
  level threshold_at(std::uint32_t index);

  /// Puts a configuration in force. `outputs` by sink name; `keep_levels`: those in force now stay.
  ///
  /// Thread: under the engine's lock.
  void configure(const config& settings, const std::map<std::string, backend::output*, std::less<>>& outputs, bool keep_levels);

  /// After stop(): everybody writes to `left`.
  void route_all_to(const std::vector<backend::output*>& gone, backend::output* instead);

  std::mutex& mutex() noexcept { return mutex_; }  // For fork.

 private:
  struct node {
    node(std::string full_name, std::uint32_t index) : name(std::move(full_name)), handle(name, index) {}

    std::string name;
    logger handle;
    std::optional<level> own_level{};
    std::optional<std::vector<backend::output*>> own_outputs{};
  };

  logger& handle_of(std::size_t index) noexcept { return index == 0 ? detail::root_logger : nodes_[index - 1]->handle; }
  std::size_t find_or_make(std::string_view name);
  std::size_t parent_of(std::string_view name) const;
  void apply_levels();
  void apply_routes();
  void inherit_configured(node& made);

  std::mutex mutex_;
  backend::route_table& routes_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  // Index into nodes_, + 1; root is 0.
  std::deque<std::unique_ptr<node>> nodes_;
  std::optional<level> root_level_{};
  std::vector<backend::output*> root_outputs_;
  config settings_{};
  std::map<std::string, backend::output*, std::less<>> outputs_;
  bool configured_ = false;
};

}  // namespace penstock::engine
