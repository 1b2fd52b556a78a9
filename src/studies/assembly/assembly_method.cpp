// Each method of the study assembly is a row of the table here.
#include "src/studies/assembly/assembly_method.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "mesh/partition.hpp"
#include "src/studies/assembly/adders.hpp"
#include "src/studies/assembly/local_matrices.hpp"

namespace tessera {
namespace {

Index triangle_count(const AssemblyTask& task) { return std::ssize(task.mesh.triangles); }

Destination destination(const AssemblyTask& task, Index triangle) {
  return {task.mesh, task.target, task.values.data(), triangle};
}

/// Each thread has a contiguous part of the triangles.
template <class Local, class Adder>
class DirectAssembly : public AssemblyMethod {
 public:
  DirectAssembly(const AssemblyTask& task, Local local, Adder adder, int threads)
      : task_(task), local_(local), adder_(std::move(adder)), threads_(threads) {}

  void assemble(int thread) override {
    const Range part = partition(triangle_count(task_), thread, threads_);
    for (Index t = part.begin; t < part.end; ++t) adder_.add(destination(task_, t), local_(t));
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
    const Range part = partition(triangle_count(task_), thread, std::ssize(threads_));
    for (Index t = part.begin; t < part.end; ++t) {
      const LocalMatrix matrix = local_(t);
      const Destination to = destination(task_, t);
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

/// The threads share the triangles of a color, which have no point in common.
template <class Local>
class ColoringAssembly : public AssemblyMethod {
 public:
  ColoringAssembly(const AssemblyTask& task, Local local, int threads)
      : task_(task), local_(local), threads_(threads) {}

  void assemble(int thread) override {
    for (const std::vector<Index>& color : task_.colors) {
      const Range part = partition(std::ssize(color), thread, threads_);
      for (Index k = part.begin; k < part.end; ++k) {
        PlainAdder::add(destination(task_, color[k]), local_(color[k]));
      }
#pragma omp barrier
    }
  }
  [[nodiscard]] Index extra_bytes() const override {
    return triangle_count(task_) * static_cast<Index>(sizeof(Index));
  }

 private:
  AssemblyTask task_;
  Local local_;
  int threads_;
};

/// Each thread adds to an array of its own; the arrays are added up at the end.
template <class Local>
class PrivateAssembly : public AssemblyMethod {
 public:
  PrivateAssembly(const AssemblyTask& task, Local local, int threads)
      : task_(task), local_(local), arrays_(threads) {}

  void prepare(int thread) override { arrays_[thread].assign(task_.target.entries, 0.0); }
  void assemble(int thread) override {
    const auto threads = static_cast<Index>(arrays_.size());
    const Range part = partition(triangle_count(task_), thread, threads);
    double* const own = arrays_[thread].data();
    for (Index t = part.begin; t < part.end; ++t) {
      PlainAdder::add({task_.mesh, task_.target, own, t}, local_(t));
    }
#pragma omp barrier
    const Range entries = partition(task_.target.entries, thread, threads);
    for (Index k = entries.begin; k < entries.end; ++k) {
      double sum = 0.0;
      for (const std::vector<double>& array : arrays_) sum += array[k];
      task_.values[k] = sum;
    }
  }
  [[nodiscard]] Index extra_bytes() const override {
    return std::ssize(arrays_) * task_.target.bytes();
  }

 private:
  AssemblyTask task_;
  Local local_;
  std::vector<std::vector<double>> arrays_;
};

/// Each thread owns rows and computes the local matrices of all triangles that have one of them,
/// so that a triangle is computed up to three times.
template <class Local>
class RowsAssembly : public AssemblyMethod {
 public:
  RowsAssembly(const AssemblyTask& task, Local local, int threads)
      : task_(task), local_(local), triangles_(threads) {
    for (int thread = 0; thread < threads; ++thread) {
      const Range rows = partition(task.target.rows, thread, threads);
      for (Index t = 0; t < triangle_count(task); ++t) {
        for (const Index row : task.mesh.triangles[t]) {
          if (rows.begin <= row && row < rows.end) {
            triangles_[thread].push_back(t);
            break;
          }
        }
      }
    }
  }

  void assemble(int thread) override {
    const Range rows = partition(task_.target.rows, thread, std::ssize(triangles_));
    for (const Index t : triangles_[thread]) {
      const LocalMatrix matrix = local_(t);
      const Destination to = destination(task_, t);
      for (int i = 0; i < 3; ++i) {
        if (to.row(i) < rows.begin || to.row(i) >= rows.end) continue;
        for (int e = 3 * i; e < 3 * i + 3; ++e) to.value(e) += matrix[e];
      }
    }
  }
  [[nodiscard]] Index extra_bytes() const override {
    Index count = 0;
    for (const std::vector<Index>& list : triangles_) count += std::ssize(list);
    return count * static_cast<Index>(sizeof(Index));
  }

 private:
  AssemblyTask task_;
  Local local_;
  std::vector<std::vector<Index>> triangles_;
};

/// Local matrices are stored, and each nonzero adds up its own.
template <class Local>
class GatherAssembly : public AssemblyMethod {
 public:
  GatherAssembly(const AssemblyTask& task, Local local, int threads)
      : task_(task),
        local_(local),
        threads_(threads),
        stored_(kLocalEntries * triangle_count(task)),
        first_(task.target.entries + 1, 0),
        sources_(stored_.size()) {
    for (const std::int32_t place : task.target.places) ++first_[place + 1];
    for (Index k = 0; k < task.target.entries; ++k) first_[k + 1] += first_[k];
    std::vector<Index> next = first_;
    for (Index source = 0; source < std::ssize(sources_); ++source) {
      sources_[next[task.target.places[source]]++] = static_cast<std::int32_t>(source);
    }
  }

  void assemble(int thread) override {
    const Index triangles = triangle_count(task_);
    const Range part = partition(triangles, thread, threads_);
    for (Index t = part.begin; t < part.end; ++t) {
      const LocalMatrix matrix = local_(t);
      for (int e = 0; e < kLocalEntries; ++e) stored_[e * triangles + t] = matrix[e];
    }
#pragma omp barrier
    const Range entries = partition(task_.target.entries, thread, threads_);
    for (Index k = entries.begin; k < entries.end; ++k) {
      double sum = 0.0;
      for (Index s = first_[k]; s < first_[k + 1]; ++s) sum += stored_[sources_[s]];
      task_.values[k] = sum;
    }
  }
  [[nodiscard]] Index extra_bytes() const override {
    return std::ssize(stored_) * static_cast<Index>(sizeof(double)) +
           std::ssize(first_) * static_cast<Index>(sizeof(Index)) +
           std::ssize(sources_) * static_cast<Index>(sizeof(std::int32_t));
  }

 private:
  AssemblyTask task_;
  Local local_;
  int threads_;
  std::vector<double> stored_;
  std::vector<Index> first_;
  std::vector<std::int32_t> sources_;
};

/// Calls make(local) with the local matrices of a contribution.
template <class Make>
std::unique_ptr<AssemblyMethod> with_local(const AssemblyTask& task, Contribution contribution,
                                           Make&& make) {
  if (contribution.kind == Contribution::Kind::ones) return make(OnesMatrices{});
  return make(StiffnessMatrices(task.mesh, contribution.operations));
}

template <class Adder>
Adder make_adder(const AssemblyTarget& target) {
  if constexpr (std::is_constructible_v<Adder, const AssemblyTarget&>) {
    return Adder(target);
  } else {
    return Adder();
  }
}

template <class Adder>
std::unique_ptr<AssemblyMethod> make_direct(const AssemblyTask& task, Contribution contribution,
                                            const AssemblyTeam& team) {
  return with_local(task, contribution, [&](auto local) -> std::unique_ptr<AssemblyMethod> {
    return std::make_unique<DirectAssembly<decltype(local), Adder>>(
        task, local, make_adder<Adder>(task.target), team.threads);
  });
}

template <template <class> class Method>
std::unique_ptr<AssemblyMethod> make(const AssemblyTask& task, Contribution contribution,
                                     const AssemblyTeam& team) {
  return with_local(task, contribution, [&](auto local) -> std::unique_ptr<AssemblyMethod> {
    return std::make_unique<Method<decltype(local)>>(task, local, team.threads);
  });
}

template <Index additions>
std::unique_ptr<AssemblyMethod> make_transactions(const AssemblyTask& task,
                                                  Contribution contribution,
                                                  const AssemblyTeam& team) {
  return with_local(task, contribution, [&](auto local) -> std::unique_ptr<AssemblyMethod> {
    return std::make_unique<TransactionAssembly<decltype(local)>>(task, local, team, additions);
  });
}

}  // namespace

const std::vector<AssemblyInfo>& assembly_table() {
  using enum AssemblyInfo::Storages;
  using enum AssemblyInfo::Needs;
  static const std::vector<AssemblyInfo> table = {
      {.name = "serial",
       .sharing = Sharing::one_thread,
       .storages = both,
       .in_operators = "scatter = \"serial\"",
       .needs = nothing,
       .make = make_direct<PlainAdder>},
      {.name = "unprotected",
       .sharing = Sharing::unprotected,
       .storages = both,
       .in_operators = "scatter = \"unprotected\", which is for comparisons only",
       .needs = nothing,
       .make = make_direct<UnprotectedAdder>},
      {.name = "lock-entry",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = make_direct<EntryLockAdder>},
      {.name = "lock-row",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = make_direct<RowLockAdder>},
      {.name = "lock-striped",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = make_direct<StripedLockAdder>},
      {.name = "atomic",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "scatter = \"atomic\"",
       .needs = nothing,
       .make = make_direct<AtomicAdder>},
      {.name = "transaction/entry",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<1>},
      {.name = "transaction/row",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<3>},
      {.name = "transaction/triangle",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<kLocalEntries>},
      {.name = "transaction/4",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<4 * kLocalEntries>},
      {.name = "transaction/16",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<16 * kLocalEntries>},
      {.name = "transaction/64",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<64 * kLocalEntries>},
      {.name = "coloring",
       .sharing = Sharing::avoids,
       .storages = both,
       .in_operators = "scatter = \"coloring\", and how the kernel csr is assembled",
       .needs = nothing,
       .make = make<ColoringAssembly>},
      {.name = "private",
       .sharing = Sharing::avoids,
       .storages = csr,
       .in_operators = "scatter = \"private\"",
       .needs = nothing,
       .make = make<PrivateAssembly>},
      {.name = "rows",
       .sharing = Sharing::avoids,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = make<RowsAssembly>},
      {.name = "gather",
       .sharing = Sharing::avoids,
       .storages = csr,
       .in_operators = "scatter = \"private\" on a GPU, where each node adds up its own",
       .needs = nothing,
       .make = make<GatherAssembly>},
  };
  return table;
}

}  // namespace tessera
