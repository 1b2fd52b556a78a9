// This file turns the exceptions of reports and of files into those of the program.
#include "src/commands/report_errors.hpp"

#include <optional>
#include <string>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/ranks/output_on_all_ranks.hpp"
#include "postprocess/report/plots/gnuplot.hpp"
#include "postprocess/report/report.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera {

ExitCode with_report_errors(const std::string& named, const std::function<ExitCode()>& work) {
  try {
    return work();
  } catch (const report::BadInput& error) {
    throw InputError({Diagnostic{.file = named, .message = error.what()}});
  } catch (const report::PlotError& error) {
    print_err("tessera: {}\n", error.what());
    return ExitCode::no_resources;
  }
}

void require_writable(const std::string& option, const std::string& path) {
  try {
    if (!path.empty()) AtomicFile(path).write("x");
  } catch (const OutputError& error) {
    throw InputError({{.file = option + " " + path, .message = error.what()}});
  }
}

namespace {

// The first text begins with a letter for the type.
class ReportErrors final : public ErrorCarrier {
 public:
  std::optional<Texts> texts_of(const std::exception& error) const override {
    if (dynamic_cast<const report::BadInput*>(&error) != nullptr) return Texts{"i", error.what()};
    if (dynamic_cast<const report::PlotError*>(&error) != nullptr) return Texts{"p", error.what()};
    std::optional<Texts> texts = output_errors().texts_of(error);
    if (texts) (*texts)[0].insert(0, "o");
    return texts;
  }
  [[noreturn]] void throw_again(const Texts& texts) const override {
    if (texts[0] == "i") throw report::BadInput(texts[1]);
    if (texts[0] == "p") throw report::PlotError(texts[1]);
    throw OutputError(texts[0].substr(1), texts[1]);
  }
};

}  // namespace

const ErrorCarrier& report_errors() {
  static const ReportErrors carrier;
  return carrier;
}

}  // namespace tessera
