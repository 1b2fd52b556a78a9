// StudyRanks are the processes that measure a study together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mesh/partition/box_partition.hpp"
#include "src/machine/known_rates.hpp"
#include "src/machine/rank_gpus.hpp"
#include "src/machine/rank_places.hpp"
#include "src/study/setup.hpp"

namespace tessera {

/// The processes that measure a study together, or the only one. All of them call each function
/// together, and all get the same.
class StudyRanks {
 public:
  /// Several that measure on GPUs take one each.
  /// @param ranks must outlive this
  /// @throws NoDevice on all ranks unless every one has a GPU; DeviceError
  explicit StudyRanks(const Communicator& ranks = single_rank(),
                      Processor processor = Processor::cpu);

  const Communicator& all() const { return ranks_; }
  int size() const { return ranks_.size(); }
  bool is_root() const { return ranks_.rank() == 0; }
  int hosts() const { return hosts_; }
  /// The name of each rank's host.
  std::vector<std::string> host_names() const;
  /// What is wrong with where ranks are bound, and with the GPUs that they have.
  std::vector<std::string> notes() const;
  /// "2 processes, 1 host; values between GPUs go by NCCL 2.28.3"; empty for a single process.
  std::string text() const;
  /// What moves values between the processes' GPUs; null where there are none or only one.
  const std::shared_ptr<const DeviceCarrier>& carrier() const { return chosen_.carrier; }

  /// The threads of a process where a study asks for so many, 0 for all cores of the machine.
  int threads(int asked) const;
  /// Bytes that a process may take of the memory of its host: an equal share of what is free there,
  /// on the host where that is least. @param limit of a host; 0: none
  Index available(Index limit) const;
  /// The same of GPU memory, of which processes that share a GPU have equal shares.
  /// @param limit of a GPU; 0: none
  Index available_on_gpu(Index limit) const;
  /// The rates of so many threads, of each process and all at one time.
  MeasuredRates measured_rates(int threads) const;
  /// The rates of all processes' GPUs together, measured at one time.
  MeasuredRates measured_gpu_rates() const;
  /// What all processes' GPUs have used, given that of this one's; nothing if it is not known of
  /// one of them. A GPU that processes share counts once.
  std::optional<double> joules_of_all(std::optional<double> mine) const;

  /// How the cells of a problem are shared out, for all that the study measures on it; nothing for
  /// a single process. @throws UnsuitableRanks
  std::optional<BoxPartition> partition(const StudyParameters& study,
                                        const StudyProblem& problem) const;

  /// Between two steps of the study. @throws Interrupted on all if one was asked to stop
  void stop_if_asked() const;
  /// What one process measured, as the slowest of them did.
  double slowest(double seconds) const;
  /// The larger of all processes' numbers.
  Index largest(Index number) const;
  /// What rank 0 decides by its clock.
  bool as_root_says(bool is_so) const;

 private:
  // How many ranks have this one's GPU.
  int sharing() const;

  const Communicator& ranks_;
  std::vector<RankPlace> places_;
  int hosts_;
  // Of several ranks on GPUs.
  std::vector<RankGpu> gpus_;
  ChosenCarrier chosen_;
};

/// The part of a problem that one process has: the whole of a single one.
struct StudyPart {
  /// In the problem's natural frame; null: the whole.
  std::shared_ptr<const RankPart> part;
  Discretization discretization;

  /// The lattice of the whole.
  const NodeLattice& whole() const { return part ? part->nodes().whole() : discretization.lattice; }
};

/// Makes the space, on several ranks by all together; sets the number of OpenMP threads.
/// @throws InputError, InvertedCell, LostDigits, UnsuitableRanks
StudyPart make_study_part(const StudyParameters& study, const StudyProblem& problem,
                          const StudyRanks& ranks);

}  // namespace tessera
