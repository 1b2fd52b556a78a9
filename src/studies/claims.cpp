// This file judges claims and writes what was found.
#include "src/studies/claims.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "postprocess/files/text_table.hpp"

namespace tessera {

std::string Finding::text() const {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::not_measured:
      break;
  }
  return "not measured: " + reason;
}

Finding judge(const Claim& claim, const StudyTable& table) {
  try {
    return claim.judge(table);
  } catch (const NotMeasured& why) {
    return {.reason = why.what()};
  }
}

Verdict before(const Summary& first, const Summary& second) {
  if (first.upper_quartile < second.lower_quartile) return Verdict::holds;
  if (second.upper_quartile < first.lower_quartile) return Verdict::does_not_hold;
  return Verdict::not_measured;
}

Verdict all_hold(const std::vector<Verdict>& verdicts) {
  const auto has = [&](Verdict verdict) {
    return std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end();
  };
  if (has(Verdict::does_not_hold)) return Verdict::does_not_hold;
  return has(Verdict::not_measured) ? Verdict::not_measured : Verdict::holds;
}

Finding finding(Verdict verdict, std::string here) {
  return {.verdict = verdict,
          .here = std::move(here),
          .reason = verdict == Verdict::not_measured ? "too close" : ""};
}

Finding Comparisons::finding(std::string here) const {
  const Verdict verdict = all_hold(verdicts_);
  return {.verdict = verdict,
          .here = std::move(here),
          .reason = verdict == Verdict::not_measured ? reason_ : ""};
}

Finding within(double value, double least, double most, const std::string& what) {
  return finding(verdict_of(least <= value && value <= most),
                 fmt::format("{} {:.3g}", what, value));
}

std::string claims_text(const std::vector<Claim>& claims, const std::vector<Finding>& findings) {
  TextTable table({{"number", Align::left},
                   {"claim", Align::left},
                   {"document", Align::left},
                   {"here", Align::left},
                   {"verdict", Align::left}});
  std::string rules;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    table.add_row(
        {claim.number, claim.statement, claim.document, findings[i].here, findings[i].text()});
    rules += fmt::format("{} holds if {}\n", claim.number, claim.rule);
  }
  return table.text() + "\n" + rules;
}

std::string claims_csv(const std::string& study, const std::vector<Claim>& claims,
                       const std::vector<Finding>& findings) {
  std::string text = csv_line({"study", "number", "claim", "document", "rule", "here", "verdict"});
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    text += csv_line({study, claim.number, claim.statement, claim.document, claim.rule,
                      findings[i].here, findings[i].text()});
  }
  return text;
}

}  // namespace tessera
