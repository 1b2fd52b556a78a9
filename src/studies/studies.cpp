// Each study is a row of the table here.
#include "src/studies/studies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/parameters/messages/diagnostics.hpp"
#include "src/parameters/messages/suggestion.hpp"
#include "src/studies/rows.hpp"

namespace tessera {

bool StudyInfo::runs_on(Processor processor) const {
  return std::find(processors.begin(), processors.end(), processor) != processors.end();
}

const std::vector<StudyInfo>& studies() {
  static const std::vector<StudyInfo> table = {
      synchronization_study(),  assembly_study(),       n_body_study(),     update_order_study(),
      block_scheduling_study(), finishing_time_study(), aggregation_study()};
  return table;
}

const StudyInfo& find_study(const std::string& name) {
  std::vector<std::string> names;
  for (const StudyInfo& study : studies()) {
    if (study.name == name) return study;
    names.push_back(study.name);
  }
  std::string message = "is not a study; ";
  if (const auto meant = nearest(name, names)) {
    message += fmt::format("did you mean {}?", *meant);
  } else {
    message += fmt::format("the studies are {}", fmt::join(names, ", "));
  }
  throw InputError({{.file = fmt::format("tessera study {}", name), .message = message}});
}

std::string study_list() {
  std::string text;
  for (const StudyInfo& study : studies()) {
    text +=
        fmt::format("{}\n  {}\n  from {}\n  needs {}\n  variants: {}\n", study.name, study.question,
                    study.document, study.needs, fmt::join(study.variants, ", "));
    for (const OwnOption& option : study.options) {
      text += fmt::format(
          "  --{} {}: {} (default {}{}{})\n", option.name, option.placeholder, option.help,
          option.preset.empty() ? "none" : option.preset,
          option.quick_preset.empty() ? "" : fmt::format(", with --quick {}", option.quick_preset),
          !option.is_for(Processor::cpu)   ? "; GPU"
          : !option.is_for(Processor::gpu) ? "; CPU"
                                           : "");
    }
    text += "\n";
  }
  return text + "tessera study NAME measures one; tessera study --help tells the options of all.\n";
}

}  // namespace tessera
