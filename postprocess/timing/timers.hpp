// A TimerTree measures the named and nested parts of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "postprocess/timing/clock.hpp"

namespace tessera {

/// The least work of one call of a timed part.
struct Work {
  double dofs = 0.0;
  double bytes = 0.0;  // 0: not known
  double flops = 0.0;
  double held_bytes = 0.0;  // of all data, if some is moved more than once; 0: as `bytes`
};

/// Where the time of a run goes: named parts that nest, such as "solve/apply".
///
/// Not thread-safe: one thread opens scopes; parallel regions lie inside them.
///
///     auto t = timers.scope("setup");
///     { auto inner = timers.scope("mesh"); ... }   // "setup/mesh"
class TimerTree {
 public:
  /// Seconds since any fixed moment.
  using Clock = std::function<double()>;

  /// Runs from construction to destruction; scopes must end in reverse order, as in C++ they do.
  class [[nodiscard]] Scope {
   public:
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { timers_.leave(calls_); }

   private:
    friend class TimerTree;
    Scope(TimerTree& timers, int calls) : timers_(timers), calls_(calls) {}
    TimerTree& timers_;
    int calls_;
  };

  struct Part {
    std::string name;
    int depth = 0;  // 0: top level
    std::int64_t calls = 0;
    double total = 0.0;  // seconds, of a part that is running: until now
    double min = 0.0;    // seconds of the shortest call
    Work work;           // of one call
    std::vector<Part> children;
  };

  explicit TimerTree(Clock clock = seconds_now);
  TimerTree(const TimerTree&) = delete;
  TimerTree& operator=(const TimerTree&) = delete;

  /// Enters the part `name` of the innermost open scope.
  /// @throws std::invalid_argument if the name is empty or has a '/'.
  Scope scope(std::string_view name);

  /// Like scope(), but the time is added to the calls that the part has had, and is no call of its
  /// own. If there was one call, the shortest call grows by that time.
  /// @throws std::invalid_argument if the name is empty or has a '/', or the part never ran.
  Scope resume(std::string_view name);

  /// Adds calls that were timed elsewhere (on a device, in an inner loop) to a part of the
  /// innermost open scope; `path` may name a part of a part: "apply/scatter".
  void add(std::string_view path, std::int64_t calls, double total_seconds, double min_seconds);

  /// Says what one call of a part does; `path` starts at the top, and the part need not exist yet.
  void set_work(std::string_view path, const Work& work);

  /// Top-level parts, in the order in which they were first named.
  std::vector<Part> parts() const;
  /// Total seconds of a part, path from the top; 0 if it never ran.
  double seconds(std::string_view path) const;
  /// Seconds since the tree was made.
  double elapsed() const;

 private:
  struct Node {
    std::string name;
    int parent;
    std::vector<int> children;
    std::int64_t calls = 0;
    double total = 0.0;
    double min = std::numeric_limits<double>::infinity();
    double entered = 0.0;
    bool running = false;
    Work work;
  };

  Scope enter(std::string_view name, int calls);
  void leave(int calls);
  int find(int parent, std::string_view path) const;  // -1: there is none
  int find_or_make(int parent, std::string_view path);
  Part part(int index, int depth, double now) const;

  Clock clock_;
  std::vector<Node> nodes_;  // 0 is the root
  int current_ = 0;
  double start_;
};

}  // namespace tessera
