// StudyOptions are what a study is asked to measure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "solvers/execution.hpp"
#include "src/parameters/command_line.hpp"

namespace tessera {

/// An option that one study has: `--NAME VALUE`.
struct OwnOption {
  std::string name;         ///< without "--"
  std::string placeholder;  ///< of the value in lists: "N"
  std::string preset;       ///< the value unless it is given
  std::string help = {};
  /// The words that it takes; empty: whole numbers, separated by commas, from min to max, or any
  /// text.
  std::vector<std::string> choices = {};
  std::int64_t min = 0;
  std::int64_t max = 0;
  /// How many numbers it takes; none: any text.
  enum class Numbers { none, one, several } numbers = Numbers::one;
  /// The value of --quick unless it is given; empty: the preset.
  std::string quick_preset = {};
  /// Where it makes a difference; elsewhere it is refused.
  std::vector<Processor> processors = {Processor::cpu, Processor::gpu};
  /// Whether the value names a file that has to be there.
  bool reads_file = false;
  /// Whether it names a file that the study writes, if it does not end before.
  bool writes_file = false;

  bool is_for(Processor processor) const;
};

/// The values of a study's own options.
class OwnValues {
 public:
  OwnValues() = default;
  /// @param arguments as typed, "--NAME VALUE" or "--NAME=VALUE"
  /// @throws InputError for what is not among the options, not for this processor or not allowed
  OwnValues(const std::string& study, const std::vector<OwnOption>& options,
            const std::vector<std::string>& arguments, StudySize size, Processor processor);

  /// @throws std::out_of_range if the study has no such option
  const std::string& text(const std::string& name) const { return values_.at(name); }
  std::int64_t number(const std::string& name) const { return numbers(name).front(); }
  std::vector<std::int64_t> numbers(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

/// How often a row is repeated: so many times, but after the time limit no more, once it was
/// repeated kMinStudyRepetitions times.
struct Pace {
  int repetitions = 100;
  double time_limit_s = 2.0;
};

/// What a study is asked to measure.
struct StudyOptions {
  Processor processor = Processor::cpu;
  /// Ascending. Numbers beyond the cores are among them only if the user asked for them.
  std::vector<int> threads = {1};
  Pace pace = {};
  std::uint64_t seed = 1;
  /// Variants to be measured; empty: all.
  std::vector<std::string> only = {};
  StudySize size = StudySize::full;
  OwnValues own = {};

  /// Whether a variant is to be measured: all are, or it is named, or "transaction/row" is it and
  /// "transaction" is named.
  bool selects(const std::string& variant) const;
  bool is_quick() const { return size == StudySize::quick; }
};

}  // namespace tessera
