// These methods let threads add to the same entries: the adder or the hardware protects them.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "mesh/partition.hpp"
#include "src/studies/assembly/adders.hpp"
#include "src/studies/assembly/assembly_method.hpp"

namespace tessera {

/// Each thread has a contiguous part of the triangles.
template <class Local, class Adder>
class DirectAssembly : public AssemblyMethod {
 public:
  DirectAssembly(const AssemblyTask& task, Local local, Adder adder, int threads)
      : task_(task), local_(local), adder_(std::move(adder)), threads_(threads) {}

  void assemble(int thread) override {
    const Range part = partition(task_.triangle_count(), thread, threads_);
    for (Index t = part.begin; t < part.end; ++t) adder_.add(task_.destination(t), local_(t));
  }
  [[nodiscard]] Index extra_bytes() const override { return adder_.bytes(); }

 private:
  AssemblyTask task_;
  Local local_;
  Adder adder_;
  int threads_;
};

/// Each thread does so many additions a transaction: 1, 3 (a row of a local matrix), 9 (a triangle)
/// or a multiple of 9.
template <class Local>
class TransactionAssembly : public AssemblyMethod {
 public:
  TransactionAssembly(const AssemblyTask& task, Local local, const AssemblyTeam& team,
                      Index additions)
      : task_(task),
        local_(local),
        additions_(additions),
        add_together_(team.add_together),
        threads_(team.threads) {
    for (int thread = 0; thread < team.threads; ++thread) {
      threads_[thread].state = team.state;
      threads_[thread].state.backoff = Backoff(thread + 1);
      threads_[thread].waiting.reserve(std::max<Index>(additions, kLocalEntries));
    }
  }

  void assemble(int thread) override {
    ThreadData& own = threads_[thread];
    const Range part = partition(task_.triangle_count(), thread, std::ssize(threads_));
    for (Index t = part.begin; t < part.end; ++t) {
      const LocalMatrix matrix = local_(t);
      const Destination to = task_.destination(t);
      for (int e = 0; e < kLocalEntries; ++e) {
        own.waiting.push_back({.entry = &to.value(e), .value = matrix[e]});
      }
      if (std::ssize(own.waiting) >= additions_) add_waiting(own);
    }
    add_waiting(own);
  }
  [[nodiscard]] Index extra_bytes() const override {
    return std::ssize(threads_) * static_cast<Index>(sizeof(ThreadData)) +
           std::ssize(threads_) * std::max<Index>(additions_, kLocalEntries) *
               static_cast<Index>(sizeof(Addition));
  }
  [[nodiscard]] TransactionCounts transactions() const override {
    TransactionCounts sum;
    for (const ThreadData& thread : threads_) sum += thread.state.counts;
    return sum;
  }

 private:
  /// On cache lines of its own.
  struct alignas(128) ThreadData {
    TransactionState state;
    std::vector<Addition> waiting;
  };

  void add_waiting(ThreadData& own) const {
    const std::span<const Addition> all(own.waiting);
    for (std::size_t first = 0; first < all.size(); first += additions_) {
      add_together_(all.subspan(first, std::min<std::size_t>(additions_, all.size() - first)),
                    own.state);
    }
    own.waiting.clear();
  }

  AssemblyTask task_;
  Local local_;
  Index additions_;
  AddTogether add_together_;
  std::vector<ThreadData> threads_;
};

}  // namespace tessera
