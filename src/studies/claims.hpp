// A Claim of a document is judged by a rule on what was measured.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "src/studies/study_table.hpp"

namespace tessera {

enum class Verdict { holds, does_not_hold, not_measured };

/// What became of a claim here.
struct Finding {
  Verdict verdict = Verdict::not_measured;
  /// The numbers behind the verdict.
  std::string here = {};
  /// Of not_measured.
  std::string reason = {};

  /// "holds", "does not hold" or "not measured: REASON".
  std::string text() const;
};

/// What a document says, and by which rule it is seen whether that holds here. It speaks of another
/// machine: no verdict is an error.
struct Claim {
  std::string number;     ///< "S1"
  std::string statement;  ///< what is claimed
  std::string document;   ///< its numbers
  std::string rule;       ///< when it holds, in words
  /// The rule on the rows of the study. It may throw NotMeasured.
  std::function<Finding(const StudyTable&)> judge;
};

/// The claim's rule on the rows; NotMeasured becomes the reason.
Finding judge(const Claim& claim, const StudyTable& table);

/// "First takes less than second": holds if first's upper quartile is below second's lower one,
/// does not hold if second's upper one is below first's lower one; else the quartiles overlap, and
/// it is not measured.
Verdict before(const Summary& first, const Summary& second);

/// Does not hold if one does not; else not measured if one is not; else holds.
Verdict all_hold(const std::vector<Verdict>& verdicts);

/// The verdict with the numbers behind it; not measured, as of before(), is "too close".
Finding finding(Verdict verdict, std::string here);

/// Comparisons that must all hold, of which some may not have been measured.
class Comparisons {
 public:
  /// @param rule returns a Verdict, or throws NotMeasured
  template <class Rule>
  void add(Rule&& rule) {
    try {
      verdicts_.push_back(std::forward<Rule>(rule)());
    } catch (const NotMeasured& why) {
      verdicts_.push_back(Verdict::not_measured);
      reason_ = why.what();
    }
  }
  /// One that does not hold is enough; else one that was not measured makes all of it so.
  Finding finding(std::string here) const;

 private:
  std::vector<Verdict> verdicts_;
  std::string reason_ = "too close";
};

/// holds or does_not_hold.
constexpr Verdict verdict_of(bool condition) {
  return condition ? Verdict::holds : Verdict::does_not_hold;
}

/// Whether least <= value <= most, with the value and what it is as text.
Finding within(double value, double least, double most, const std::string& what);

/// The claims with what was found, one below the other: number, claim, document, here, verdict.
std::string claims_text(const std::vector<Claim>& claims, const std::vector<Finding>& findings);

/// The same as the rows of a CSV file: study, number, claim, document, rule, here, verdict.
std::string claims_csv(const std::string& study, const std::vector<Claim>& claims,
                       const std::vector<Finding>& findings);

}  // namespace tessera
