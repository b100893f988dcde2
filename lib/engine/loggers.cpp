// SPDX-License-Identifier: MIT
#include "lib/engine/loggers.hpp"

#include <algorithm>

namespace penstock {

constinit logger detail::root_logger{"root", 0};

}  // namespace penstock

namespace penstock::engine {

loggers::loggers(backend::route_table& routes) : routes_(routes) { apply_routes(); }

std::size_t loggers::parent_of(std::string_view name) const {
  for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos; dot = dot == 0 ? std::string_view::npos : name.rfind('.', dot - 1))
    if (const auto found = by_name_.find(name.substr(0, dot)); found != by_name_.end()) return found->second;
  return 0;
}

// What the configuration says of this logger alone.
void loggers::inherit_configured(node& made) {
  const auto found = settings_.loggers.find(made.name);
  if (found == settings_.loggers.end()) return;
  made.own_level = found->second.level;
  if (!found->second.sinks) return;
  made.own_outputs.emplace();
  for (const std::string& sink : *found->second.sinks)
    if (const auto output = outputs_.find(sink); output != outputs_.end()) made.own_outputs->push_back(output->second);
}

// A logger that the configuration names exists before its children look for their parent.
std::size_t loggers::find_or_make(std::string_view name) {
  if (name.empty() || name == "root") return 0;
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  nodes_.push_back(std::make_unique<node>(std::string(name), static_cast<std::uint32_t>(nodes_.size() + 1)));
  by_name_.emplace(std::string(name), nodes_.size());
  inherit_configured(*nodes_.back());
  return nodes_.size();
}

logger& loggers::get(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const std::size_t known = nodes_.size();
  logger& found = handle_of(find_or_make(name));
  if (nodes_.size() == known) return found;
  apply_routes();  // Before the handle is out: its first record has a route.
  if (configured_) apply_levels();
  return found;
}

void loggers::set_level(logger& of, level threshold) {
  const std::lock_guard lock(mutex_);
  if (of.index() == 0) {
    root_level_ = threshold;
  } else {
    nodes_[of.index() - 1]->own_level = threshold;
  }
  apply_levels();
}

level loggers::threshold_at(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  return handle_of(index).threshold();
}

void loggers::apply_levels() {
  const level root = root_level_.value_or(configured_ ? level::info : level::trace);
  detail::root_logger.put_threshold(root);
  for (const auto& each : nodes_) {
    std::optional<level> found = each->own_level;
    for (std::size_t up = parent_of(each->name); !found && up != 0; up = parent_of(nodes_[up - 1]->name)) found = nodes_[up - 1]->own_level;
    each->handle.put_threshold(found.value_or(root));
  }
}

void loggers::apply_routes() {
  std::vector<backend::route> routes;
  routes.push_back({"root", root_outputs_});
  for (const auto& each : nodes_) {
    const std::optional<std::vector<backend::output*>>* found = &each->own_outputs;
    for (std::size_t up = parent_of(each->name); !*found && up != 0; up = parent_of(nodes_[up - 1]->name))
      found = &nodes_[up - 1]->own_outputs;
    routes.push_back({each->name, *found ? **found : root_outputs_});
  }
  routes_.publish(std::move(routes));
}

void loggers::configure(const config& settings, const std::map<std::string, backend::output*, std::less<>>& outputs, bool keep_levels) {
  const std::lock_guard lock(mutex_);
  const bool first = !configured_;
  configured_ = true;
  settings_ = settings;
  outputs_ = outputs;
  for (const auto& each : nodes_) {
    // What set_level() said before the first start holds unless the configuration says otherwise.
    const std::optional<level> kept = each->own_level;
    if (!first) each->own_level.reset();
    each->own_outputs.reset();
    inherit_configured(*each);
    if (keep_levels) each->own_level = kept;
  }
  for (const auto& [name, unused] : settings.loggers) find_or_make(name);
  const auto root = settings.loggers.find("root");
  const bool root_named = root != settings.loggers.end();
  if (!keep_levels) {
    const bool configured = root_named && root->second.level;
    if (configured || !first) root_level_ = configured ? root->second.level : std::nullopt;
  }
  root_outputs_.clear();
  if (root_named && root->second.sinks) {
    for (const std::string& sink : *root->second.sinks) root_outputs_.push_back(outputs_.at(sink));
  } else {
    for (const auto& [name, output] : outputs_) root_outputs_.push_back(output);
  }
  apply_levels();
  apply_routes();
}

void loggers::route_all_to(const std::vector<backend::output*>& gone, backend::output* instead) {
  const std::lock_guard lock(mutex_);
  const auto replace = [&](std::vector<backend::output*>& outputs) {
    if (outputs.empty()) return;  // By its configuration.
    std::erase_if(outputs, [&](backend::output* each) { return std::find(gone.begin(), gone.end(), each) != gone.end(); });
    if (outputs.empty()) outputs.push_back(instead);
  };
  replace(root_outputs_);
  for (const auto& each : nodes_)
    if (each->own_outputs) replace(*each->own_outputs);
  apply_routes();
}

}  // namespace penstock::engine
