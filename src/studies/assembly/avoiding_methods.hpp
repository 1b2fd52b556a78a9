// These methods let no two threads add to an entry at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/partition.hpp"
#include "src/studies/assembly/adders.hpp"
#include "src/studies/assembly/assembly_method.hpp"

namespace tessera {

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
        PlainAdder::add(task_.destination(color[k]), local_(color[k]));
      }
#pragma omp barrier
    }
  }
  [[nodiscard]] Index extra_bytes() const override {
    return task_.triangle_count() * static_cast<Index>(sizeof(Index));
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
    const Range part = partition(task_.triangle_count(), thread, threads);
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
      for (Index t = 0; t < task.triangle_count(); ++t) {
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
      const Destination to = task_.destination(t);
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
        stored_(kLocalEntries * task.triangle_count()),
        entries_(entry_sources(task.target)) {}

  void assemble(int thread) override {
    const Index triangles = task_.triangle_count();
    const Range part = partition(triangles, thread, threads_);
    for (Index t = part.begin; t < part.end; ++t) {
      const LocalMatrix matrix = local_(t);
      for (int e = 0; e < kLocalEntries; ++e) stored_[e * triangles + t] = matrix[e];
    }
#pragma omp barrier
    const Range entries = partition(task_.target.entries, thread, threads_);
    for (Index k = entries.begin; k < entries.end; ++k) {
      double sum = 0.0;
      for (Index s = entries_.first[k]; s < entries_.first[k + 1]; ++s) {
        sum += stored_[entries_.sources[s]];
      }
      task_.values[k] = sum;
    }
  }
  [[nodiscard]] Index extra_bytes() const override {
    return std::ssize(stored_) * static_cast<Index>(sizeof(double)) +
           std::ssize(entries_.first) * static_cast<Index>(sizeof(Index)) +
           std::ssize(entries_.sources) * static_cast<Index>(sizeof(std::int32_t));
  }

 private:
  AssemblyTask task_;
  Local local_;
  int threads_;
  std::vector<double> stored_;
  EntrySources entries_;
};

}  // namespace tessera
