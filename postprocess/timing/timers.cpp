// This file enters and leaves the parts of a timer tree.
#include "postprocess/timing/timers.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tessera {
namespace {

// Splits "a/b/c" into "a" and "b/c".
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {path, {}};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

TimerTree::TimerTree(Clock clock) : clock_(std::move(clock)), nodes_(1), start_(clock_()) {
  nodes_[0].parent = -1;
}

TimerTree::Scope TimerTree::scope(std::string_view name) { return enter(name, 1); }

TimerTree::Scope TimerTree::resume(std::string_view name) {
  const int node = find(current_, name);
  if (node < 0 || nodes_[node].calls == 0) {
    throw std::invalid_argument("only a part that has run can be resumed");
  }
  return enter(name, 0);
}

TimerTree::Scope TimerTree::enter(std::string_view name, int calls) {
  if (name.empty() || name.find('/') != std::string_view::npos) {
    throw std::invalid_argument("a timer's name is not empty and has no '/'");
  }
  current_ = find_or_make(current_, name);
  nodes_[current_].running = true;
  nodes_[current_].entered = clock_();
  return {*this, calls};
}

void TimerTree::leave(int calls) {
  Node& node = nodes_[current_];
  const double seconds = clock_() - node.entered;
  node.running = false;
  node.calls += calls;
  node.total += seconds;
  if (calls == 0) {
    // The minimum is exact if the part ran once before, and otherwise a lower bound.
    if (node.calls == 1) node.min += seconds;
  } else {
    node.min = std::min(node.min, seconds);
  }
  current_ = node.parent;
}

void TimerTree::add(std::string_view path, std::int64_t calls, double total_seconds,
                    double min_seconds) {
  Node& node = nodes_[find_or_make(current_, path)];
  node.calls += calls;
  node.total += total_seconds;
  node.min = std::min(node.min, min_seconds);
}

void TimerTree::set_work(std::string_view path, const Work& work) {
  nodes_[find_or_make(0, path)].work = work;
}

int TimerTree::find(int parent, std::string_view path) const {
  const auto [name, rest] = split(path);
  for (const int child : nodes_[parent].children) {
    if (nodes_[child].name == name) return rest.empty() ? child : find(child, rest);
  }
  return -1;
}

int TimerTree::find_or_make(int parent, std::string_view path) {
  const auto [name, rest] = split(path);
  int node = find(parent, name);
  if (node < 0) {
    node = static_cast<int>(nodes_.size());
    Node& made = nodes_.emplace_back();
    made.name = name;
    made.parent = parent;
    nodes_[parent].children.push_back(node);
  }
  return rest.empty() ? node : find_or_make(node, rest);
}

TimerTree::Part TimerTree::part(int index, int depth, double now) const {
  const Node& node = nodes_[index];
  Part part{node.name, depth, node.calls, node.total, node.calls > 0 ? node.min : 0.0,
            node.work, {}};
  if (node.running) {
    part.calls += 1;
    part.total += now - node.entered;
    if (node.calls == 0) part.min = part.total;
  }
  for (const int child : node.children) part.children.push_back(this->part(child, depth + 1, now));
  return part;
}

std::vector<TimerTree::Part> TimerTree::parts() const { return part(0, -1, clock_()).children; }

double TimerTree::seconds(std::string_view path) const {
  const int node = find(0, path);
  return node < 0 ? 0.0 : part(node, 0, clock_()).total;
}

double TimerTree::elapsed() const { return clock_() - start_; }

}  // namespace tessera
