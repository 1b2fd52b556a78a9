// These tests assemble matrices on triangles in all ways of the study assembly.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "mesh/partition.hpp"
#include "src/studies/assembly/assembly_check.hpp"
#include "src/studies/assembly/assembly_method.hpp"
#include "src/studies/assembly/delaunay_square.hpp"
#include "src/studies/sharing/hardware_transactions.hpp"
#include "src/studies/thread_team.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

const std::string kStudy = "assembly";
constexpr Contribution kOnes = {Contribution::Kind::ones, 0};
constexpr Contribution kStiffness = {Contribution::Kind::stiffness, 1};
constexpr auto kExact = CountingResult::Exactness::exact;

TriangleMesh shuffled_square() {
  TriangleMesh mesh = delaunay_square();
  number_randomly(mesh, 3);
  return mesh;
}

class OnTarget : public ::testing::TestWithParam<MatrixStorage> {
 protected:
  OnTarget()
      : mesh_(shuffled_square()),
        colors_(greedy_colors(mesh_)),
        target_(assembly_target(mesh_, GetParam())),
        counts_(addition_counts(mesh_, target_)),
        values_(target_.entries) {}

  AssemblyTask task() {
    return {.mesh = mesh_, .target = target_, .colors = colors_, .values = values_};
  }

  /// As the study does, but with as many threads as asked for, on however few cores.
  void assemble(AssemblyMethod& method, int threads) {
    std::fill(values_.begin(), values_.end(), 0.0);
#pragma omp parallel num_threads(threads)
    method.prepare(omp_get_thread_num());
#pragma omp parallel num_threads(threads)
    method.assemble(omp_get_thread_num());
  }

  void assemble(const std::string& name, Contribution contribution, int threads) {
    for (const AssemblyInfo& info : assembly_table()) {
      if (info.name == name) {
        assemble(*info.make(task(), contribution, {.threads = threads}), threads);
      }
    }
  }

  bool has(const AssemblyInfo& info) const {
    return info.storages == AssemblyInfo::Storages::both || GetParam() == MatrixStorage::csr;
  }

  TriangleMesh mesh_;
  std::vector<std::vector<Index>> colors_;
  AssemblyTarget target_;
  std::vector<Index> counts_;
  std::vector<double> values_;
};

INSTANTIATE_TEST_SUITE_P(Assembly, OnTarget,
                         ::testing::Values(MatrixStorage::full, MatrixStorage::csr));

TEST_P(OnTarget, PlacesAreThoseOfTheCorners) {
  EXPECT_EQ(std::ssize(target_.nonzeros), 14752);
  EXPECT_EQ(target_.entries, GetParam() == MatrixStorage::csr ? 14752 : 2154 * 2154);
  std::map<Index, std::array<Index, 2>> entry_at;
  for (const AssemblyTarget::Nonzero& nonzero : target_.nonzeros) {
    entry_at[nonzero.place] = {nonzero.row, nonzero.column};
  }
  ASSERT_EQ(entry_at.size(), target_.nonzeros.size());
  const Index triangles = std::ssize(mesh_.triangles);
  for (Index t = 0; t < triangles; t += 7) {
    for (int e = 0; e < kLocalEntries; ++e) {
      const std::array<Index, 2> corners = {mesh_.triangles[t][e / 3], mesh_.triangles[t][e % 3]};
      EXPECT_EQ(entry_at.at(target_.places[e * triangles + t]), corners);
    }
  }
}

TEST_P(OnTarget, CountsAreAllAdditions) {
  Index all = 0;
  Index diagonal = 0;
  for (std::size_t k = 0; k < counts_.size(); ++k) {
    all += counts_[k];
    if (target_.nonzeros[k].row == target_.nonzeros[k].column) diagonal += counts_[k];
  }
  EXPECT_EQ(all, 37314);
  EXPECT_EQ(diagonal, 12438);
}

TEST_P(OnTarget, EveryMethodIsRight) {
  assemble("serial", kStiffness, 1);
  const std::vector<double> serial = values_;
  EXPECT_EQ(stiffness_fault(target_, serial, serial), "");
  const bool is_csr = GetParam() == MatrixStorage::csr;
  for (const AssemblyInfo& info : assembly_table()) {
    if (info.make == nullptr || !has(info)) continue;
    if (info.needs == AssemblyInfo::Needs::transactions) continue;
    const bool is_protected = info.sharing == Sharing::protects || info.sharing == Sharing::avoids;
    for (const int threads : {1, 2, 3}) {
      // Five million mutexes take their time.
      if (threads == 1 ? !is_csr && info.name == "lock-entry" : !is_protected) continue;
      if (threads == 2 && !is_csr) continue;
      const auto counting = info.make(task(), kOnes, {.threads = threads});
      const auto floating = info.make(task(), kStiffness, {.threads = threads});
      // The second time without what the first has left.
      for (int time = 0; time < 2; ++time) {
        assemble(*counting, threads);
        const CountingResult result = counting_result(target_, counts_, values_);
        EXPECT_EQ(result.exactness, kExact) << info.name << ", " << threads << " threads";
        EXPECT_EQ(result.lost_share, 0.0);
      }
      assemble(*floating, threads);
      EXPECT_EQ(stiffness_fault(target_, values_, serial), "") << info.name;
    }
  }
}

TEST_P(OnTarget, EntriesGatherWhatIsAddedToThem) {
  const EntrySources entries = entry_sources(target_);
  ASSERT_EQ(std::ssize(entries.first), target_.entries + 1);
  std::vector<int> seen(target_.places.size());
  for (Index k = 0; k < target_.entries; ++k) {
    for (Index s = entries.first[k]; s < entries.first[k + 1]; ++s) {
      EXPECT_EQ(target_.places[entries.sources[s]], k);
      ++seen[entries.sources[s]];
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ssize(seen));
}

TEST_P(OnTarget, UnprotectedAdditionsAreLostAndNeverMade) {
  for (int time = 0; time < 5; ++time) {
    assemble("unprotected", kOnes, 3);
    const CountingResult result = counting_result(target_, counts_, values_);
    EXPECT_EQ(result.exactness == kExact, result.lost_share == 0.0);
    EXPECT_GE(result.lost_share, 0.0);
    EXPECT_LT(result.lost_share, 1.0);
  }
}

// The energy of u = 2 x - y is |grad u|^2 times the area.
TEST_P(OnTarget, TheMatrixIsThatOfTheLaplacian) {
  assemble("serial", kStiffness, 1);
  const auto u = [&](Index i) { return 2.0 * mesh_.points[i][0] - mesh_.points[i][1]; };
  double energy = 0.0;
  for (const AssemblyTarget::Nonzero& nonzero : target_.nonzeros) {
    energy += u(nonzero.row) * values_[nonzero.place] * u(nonzero.column);
  }
  EXPECT_NEAR(energy, 5.0 * 4.0, 1e-10);
}

TEST_P(OnTarget, OperationsDoNotChangeTheMatrix) {
  assemble("serial", kStiffness, 1);
  const std::vector<double> once = values_;
  assemble("serial", {Contribution::Kind::stiffness, 100}, 1);
  EXPECT_EQ(values_, once);
}

TEST_P(OnTarget, WhatIsWrongIsSeen) {
  assemble("serial", kOnes, 1);
  const std::vector<double> ones = values_;
  values_[target_.nonzeros[17].place] -= 1.0;
  EXPECT_NE(counting_result(target_, counts_, values_).exactness, kExact);
  EXPECT_NEAR(counting_result(target_, counts_, values_).lost_share, 1.0 / 37314, 1e-15);
  // One too many elsewhere makes the sum right again.
  values_[target_.nonzeros[18].place] += 1.0;
  EXPECT_NE(counting_result(target_, counts_, values_).exactness, kExact);
  EXPECT_EQ(counting_result(target_, counts_, ones).exactness, kExact);

  assemble("serial", kStiffness, 1);
  const std::vector<double> serial = values_;
  for (const double error : {1e-9, -1e-9, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> wrong = serial;
    wrong[target_.nonzeros[17].place] += error;
    EXPECT_NE(stiffness_fault(target_, wrong, serial), "");
    // Both the same, so that only symmetry or the row's sum tells.
    EXPECT_NE(stiffness_fault(target_, wrong, wrong), "");
  }
}

/// In place of hardware: one transaction at a time, of which each third aborts.
struct OneAtATime {
  unsigned begin() const {
    if (count++ % 3 == 2) return transaction_status::kConflict | transaction_status::kMayRetry;
    running.lock();
    return transaction_status::kStarted;
  }
  void end() const { running.unlock(); }
  void abort() const { running.unlock(); }

  static inline thread_local int count = 0;
  static inline SpinLock running;
};

/// Always aborts: a write set too large.
struct NeverCommits {
  static unsigned begin() { return transaction_status::kCapacity; }
  static void end() {}
  static void abort() {}
};

template <class Hardware>
void add_with(std::span<const Addition> additions, TransactionState& state) {
  Hardware hardware;
  add_in_transaction(hardware, additions, state);
}

TEST_P(OnTarget, TransactionsOfAllSizesAreRight) {
  assemble("serial", kStiffness, 1);
  const std::vector<double> serial = values_;
  const std::map<std::string, int> additions = {
      {"transaction/entry", 1}, {"transaction/row", 3},     {"transaction/triangle", 9},
      {"transaction/4", 36},    {"transaction/16", 16 * 9}, {"transaction/64", 64 * 9}};
  std::size_t seen = 0;
  for (const AssemblyInfo& info : assembly_table()) {
    if (info.needs != AssemblyInfo::Needs::transactions) continue;
    ++seen;
    for (const int threads : {1, 2}) {
      for (const AddTogether add : {&add_with<OneAtATime>, &add_with<NeverCommits>}) {
        AssemblyTeam team{.add_together = add, .threads = threads};
        team.state.retries = 2;
        const auto counting = info.make(task(), kOnes, team);
        assemble(*counting, threads);
        // What commits excludes other transactions, but not compare-and-swap after it gave up.
        const bool gives_up = add == &add_with<NeverCommits>;
        EXPECT_EQ(counting_result(target_, counts_, values_).exactness, kExact) << info.name;
        const TransactionCounts counts = counting->transactions();
        Index wanted = 0;
        for (int thread = 0; thread < threads; ++thread) {
          wanted += ceil_div(9 * partition(4146, thread, threads).size(),
                             additions.at(std::string(info.name)));
        }
        EXPECT_EQ(counts.wanted, wanted) << info.name;
        EXPECT_EQ(counts.fallbacks, gives_up ? wanted : 0);
        EXPECT_EQ(counts.capacity, gives_up ? 3 * wanted : 0);
        EXPECT_EQ(counts.aborts() + (gives_up ? 0 : wanted), counts.tries);
      }
      const auto floating =
          info.make(task(), kStiffness, {.add_together = add_with<OneAtATime>, .threads = threads});
      assemble(*floating, threads);
      EXPECT_EQ(stiffness_fault(target_, values_, serial), "") << info.name;
    }
  }
  EXPECT_EQ(seen, additions.size());
}

TEST(AssemblyStudy, VariantsAreRightButTheUnprotectedOne) {
  const StudyInfo& study = find_study(kStudy);
  StudyOptions options = options_of(kStudy, {"--ops", "1"});
  options.threads = {1, 2};
  options.only = {"serial", "unprotected", "lock-entry", "atomic", "transaction", "coloring"};
  StudyRecord record(study, options, "a CPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.wrong_rows(), 0) << record.csv();
  const StudyTable& table = record.table();
  for (const char* const target : {"full", "csr"}) {
    const std::vector<std::string> parameters = {target, "1", "4146", "random"};
    EXPECT_EQ(table.at("unprotected", 1, parameters).correctness, Correctness::right);
    EXPECT_EQ(table.metric(table.at("serial", 1, parameters), "speedup_over_serial"), 1.0);
    if (max_team_threads() > 1) {
      EXPECT_EQ(table.at("unprotected", 2, parameters).correctness, Correctness::wrong_by_design);
    }
  }
  const StudyRow& coloring = table.at("coloring", 1, {"csr", "1", "4146", "random"});
  EXPECT_GE(table.metric(coloring, "colors"), table.metric(coloring, "degree"));
  // The paper's table is about full matrices.
  EXPECT_EQ(table.metric(table.at("atomic", 1, {"full", "1", "4146", "random"}), "paper_ms"), 9.52);
  EXPECT_THROW(
      (void)table.metric(table.at("atomic", 1, {"csr", "1", "4146", "random"}), "paper_ms"),
      NotMeasured);
  EXPECT_EQ(verdict(kStudy, "A9", table), "holds");
  EXPECT_EQ(verdict(kStudy, "A11", table), "does not hold");
  if (!why_no_transactions().empty()) {
    EXPECT_EQ(verdict(kStudy, "A1", table), "not measured: " + why_no_transactions());
  }
}

// A full matrix is there without refinement only, and where a method is for both.
TEST(AssemblyStudy, RefinedAlongACurve) {
  const StudyInfo& study = find_study(kStudy);
  StudyOptions options =
      options_of(kStudy, {"--ops", "2", "--numbering", "hilbert", "--refine", "0,1"});
  options.only = {"serial", "gather"};
  StudyRecord record(study, options, "a CPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.wrong_rows(), 0);
  ASSERT_EQ(record.table().rows().size(), 5U);
  for (const char* const triangles : {"4146", "16584"}) {
    const std::vector<std::string> csr = {"csr", "2", triangles, "hilbert"};
    EXPECT_GT(record.table().at("gather", 1, csr).seconds.count, 0);
  }
  EXPECT_GT(record.table().at("serial", 1, {"full", "2", "4146", "hilbert"}).seconds.count, 0);
  EXPECT_NE(verdict(kStudy, "A10", record.table()), "holds");
}

}  // namespace
}  // namespace tessera::testing
