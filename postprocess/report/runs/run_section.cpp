// One run: what was computed, a picture, where the time went, and how to repeat it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <map>

#include "postprocess/files/human_units.hpp"
#include "postprocess/picture/animation.hpp"
#include "postprocess/report/html.hpp"
#include "postprocess/report/runs/json_values.hpp"
#include "postprocess/report/sections.hpp"
#include "postprocess/report/studies/roofline.hpp"
#include "postprocess/report/studies/study_figure.hpp"

namespace tessera::report {
namespace {

// A page is to stay below 4 MB; a picture is a third larger in it than in its file.
constexpr std::size_t kMaxPictureBytes = 3'200'000;
constexpr std::size_t kMaxProbes = 200;

class Facts {
 public:
  void add(std::string_view name, const std::string& value) {
    if (value.empty()) return;
    fmt::format_to(std::back_inserter(rows_), "<dt>{}</dt><dd>{}</dd>\n", escaped(name),
                   escaped(value));
  }
  std::string html() const { return rows_.empty() ? "" : "<dl>\n" + rows_ + "</dl>\n"; }

 private:
  std::string rows_;
};

std::string cells_text(const Json& cells) {
  std::string text;
  if (!cells.is_array()) return text;
  for (const Json& n : cells) text += (text.empty() ? "" : " × ") + n.dump();
  return text;
}

std::string iterations_text(const Json& count) {
  return fmt::format("{} iteration{}", count.dump(), count == 1 ? "" : "s");
}

// Of a non-linear case the outer iteration has the ending, and the solver's iterations are those of
// all its systems.
void add_solvers(const Json& result, Facts& facts) {
  if (text_at(result, "/solver/method") == "none") {
    facts.add("solver",
              fmt::format("none, as {} solves no systems: {}", text_at(result, "/time/method"),
                          text_at(result, "/solver/status")));
    return;
  }
  const std::string solver = fmt::format("{}, preconditioner {}", text_at(result, "/solver/method"),
                                         text_at(result, "/solver/preconditioner"));
  const std::string iterations = iterations_text(value_at(result, "/solver/iterations"));
  if (const std::string method = text_at(result, "/nonlinear/method"); !method.empty()) {
    facts.add("nonlinear",
              fmt::format("{}: {} after {}", method, text_at(result, "/nonlinear/status"),
                          iterations_text(value_at(result, "/nonlinear/iterations"))));
    facts.add("solver", fmt::format("{}: {} in all", solver, iterations));
    return;
  }
  facts.add("solver",
            fmt::format("{}: {} after {}", solver, text_at(result, "/solver/status"), iterations));
}

std::string what(const Json& result) {
  Facts facts;
  const auto dofs = number_at(result, "/dofs");
  facts.add("mesh", fmt::format("{}D, {} cells", value_at(result, "/dimension").dump(),
                                cells_text(value_at(result, "/cells"))));
  facts.add("space", fmt::format("degree {}, {} DoFs", value_at(result, "/degree").dump(),
                                 dofs ? human_count(*dofs) : "?"));
  std::string name = text_at(result, "/kernel");
  for (const char* part : {"/scatter", "/geometry"}) {
    const std::string text = text_at(result, part);
    if (!text.empty() && text != "none") name += "/" + text;
  }
  facts.add("operator", fmt::format("{}, {} precision, {}", name, text_at(result, "/precision"),
                                    text_at(result, "/device")));
  add_solvers(result, facts);
  if (const std::string method = text_at(result, "/time/method"); !method.empty()) {
    const auto number = [&](const char* key) {
      return number_at(result, key).value_or(std::numeric_limits<double>::quiet_NaN());
    };
    facts.add(
        "time",
        fmt::format("{} of order {} from t = {:.6g} to {:.6g}: {} steps ({} rejected) "
                    "of {:.3g} to {:.3g}, {} outputs",
                    method, number("/time/order"), number("/time/start"), number("/time/end"),
                    number("/time/steps"), number("/time/rejected"), number("/time/smallest_step"),
                    number("/time/largest_step"), number("/time/outputs")));
    if (const auto t = number_at(result, "/restart/t")) {
      facts.add("restart",
                fmt::format("the last start went on from t = {:.6g}; {} steps and {} iterations "
                            "were made before, the last of them by {} of order {}. Times, speeds "
                            "and energy are of the last start alone",
                            *t, number("/restart/steps"), number("/restart/linear_iterations"),
                            text_at(result, "/restart/method"), number("/restart/order")));
    }
    if (number_at(result, "/time/max_error/l2")) {
      facts.add("largest errors",
                fmt::format("of all outputs: L2 {:.3g}, H1 seminorm {:.3g}, max {:.3g}",
                            number("/time/max_error/l2"), number("/time/max_error/h1_seminorm"),
                            number("/time/max_error/max")));
    }
  }
  for (const Json& choice : value_at(result, "/choices")) {
    facts.add("auto", fmt::format("{} = {}: {}", text_at(choice, "/key"), text_at(choice, "/value"),
                                  text_at(choice, "/reason")));
  }
  if (const std::string failure = text_at(result, "/nonlinear/failure"); !failure.empty()) {
    facts.add("failure", failure);
  }
  for (const char* list :
       {"/notes", "/solver/notes", "/solver/likely_causes", "/nonlinear/likely_remedies"}) {
    for (const Json& note : value_at(result, list)) facts.add("note", text_at(note, ""));
  }
  if (const std::string note = text_at(result, "/energy_use/note"); !note.empty()) {
    facts.add("energy", note);
  }
  return facts.html();
}

std::string provenance(const RunSource& run) {
  Facts facts;
  const Json& result = run.result;
  facts.add("program", fmt::format("Tessera {} ({})", text_at(result, "/provenance/version"),
                                   text_at(result, "/provenance/commit")));
  facts.add("compiler", text_at(result, "/provenance/compiler"));
  facts.add("machine", text_at(result, "/provenance/machine"));
  facts.add("GPU", text_at(result, "/provenance/gpu"));
  facts.add("threads", value_at(result, "/threads").dump());
  facts.add("started", text_at(result, "/provenance/started"));
  return facts.html();
}

struct Level {
  double smooth = 0.0;
  double residual = 0.0;
  double transfer = 0.0;
  double other = 0.0;
  double sum() const { return smooth + residual + transfer + other; }
};

// "solve/precondition/level 2: smooth" is a part of level 2.
std::map<int, Level> time_by_level(const CsvTable& timings) {
  std::map<int, Level> levels;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const std::string path = timings.text(i, "part");
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::size_t colon = name.find(": ");
    if (!path.starts_with("solve/") || !name.starts_with("level ") || colon == std::string::npos) {
      continue;
    }
    const auto number = number_of(name.substr(6, colon - 6));
    const double seconds = timings.number(i, "total_s").value_or(0.0);
    if (!number) continue;
    Level& level = levels[static_cast<int>(*number)];
    const std::string part = name.substr(colon + 2);
    (part == "smooth"     ? level.smooth
     : part == "residual" ? level.residual
     : part == "transfer" ? level.transfer
                          : level.other) += seconds;
  }
  return levels;
}

Figure level_figure(const RunSource& run, const CsvTable& timings) {
  const std::map<int, Level> levels = time_by_level(timings);
  if (levels.empty()) return {};
  Plot plot{fmt::format("Multigrid's time by level, {}", run.label),
            {"milliseconds", Scale::linear, {}},
            {},
            {},
            {}};
  std::vector<std::vector<std::string>> rows;
  const Json& described = value_at(run.result, "/solver/levels");
  for (const auto& [n, level] : levels) {
    const auto index = static_cast<std::size_t>(n);
    const Json nothing;
    const Json& info =
        described.is_array() && index < described.size() ? described[index] : nothing;
    plot.bars.push_back(
        {fmt::format("level {}", n), 1e3 * level.sum(), human_seconds(level.sum()), 2});
    const auto ms = [](double seconds) { return short_number(1e3 * seconds); };
    const auto dofs = number_at(info, "/dofs");
    const auto degree = number_at(info, "/degree");
    rows.push_back({fmt::format("{}", n), degree ? fmt::format("{:.0f}", *degree) : "–",
                    cells_text(value_at(info, "/cells")), dofs ? human_count(*dofs) : "–",
                    text_at(info, "/operator"), ms(level.smooth), ms(level.residual),
                    ms(level.transfer), ms(level.other), ms(level.sum())});
  }
  return {{std::move(plot)},
          "Within the solve, all cycles together.",
          html_table({"level", "degree", "cells", "DoFs", "operator", "smooth, ms", "residual, ms",
                      "transfer, ms", "coarse, ms", "all, ms"},
                     rows)};
}

Figure parts_figure(const RunSource& run, const CsvTable& timings) {
  Plot plot{fmt::format("Where the time went, {}", run.label),
            {"seconds", Scale::linear, {}},
            {},
            {},
            {}};
  std::vector<std::vector<std::string>> rows;
  constexpr double kMinShare = 0.002;
  const bool has_limits = timings.has("limit_share");
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const std::string path = timings.text(i, "part");
    const auto depth = std::count(path.begin(), path.end(), '/');
    const auto seconds = timings.number(i, "total_s");
    const double share = timings.number(i, "share").value_or(0.0);
    if (!seconds) continue;
    std::string name = path.substr(path.rfind('/') + 1);
    if (depth > 0) name.insert(0, depth == 1 ? "– " : "– – ");
    if (depth == 0 || (depth == 1 && share >= kMinShare)) {
      plot.bars.push_back({name, *seconds,
                           fmt::format("{} ({:.0f} %)", human_seconds(*seconds), 100.0 * share),
                           depth == 0 ? 0 : 5});
    }
    const auto rate = timings.number(i, "dofs_per_s");
    const auto traffic = timings.number(i, "gbytes_per_s");
    const auto of_limit = timings.number(i, has_limits ? "limit_share" : "bandwidth_share");
    rows.push_back({name, timings.text(i, "calls"), human_seconds(*seconds), human_percent(share),
                    rate ? human_dofs_per_second(*rate) : "", traffic ? short_number(*traffic) : "",
                    of_limit ? human_percent(*of_limit) : "",
                    has_limits ? timings.text(i, "limit")
                    : of_limit ? "copy"
                               : ""});
  }
  if (plot.bars.empty()) return {};
  return {
      {std::move(plot)},
      "Parts of the run and, with a dash, parts of these; below 0.2 % they are in the table only.",
      html_table({"part", "calls", "time", "of run", "DoFs", "GB/s", "of limit", "limit"}, rows)};
}

// What timed parts of a timer tree have flops and bytes, deeper ones included.
void collect_points(const Json& parts, const std::string& prefix, std::vector<RoofPoint>& points) {
  for (const Json& part : parts) {
    const std::string name = prefix + text_at(part, "/name");
    const auto bytes = number_at(part, "/gbytes_per_s");
    const auto flops = number_at(part, "/gflops_per_s");
    if (bytes && flops && *bytes > 0.0 && *flops > 0.0) {
      points.push_back(
          {name, "", *bytes, *flops, text_at(part, "/limit"), number_at(part, "/limit_share")});
    }
    collect_points(value_at(part, "/parts"), name + "/", points);
  }
}

Figure roofline_of(const RunSource& run) {
  RooflinePanel panel{run.label, {}, {}};
  panel.roofs = {number_at(run.result, "/machine/copy_gbytes_per_s"),
                 number_at(run.result, "/machine/cache_gbytes_per_s"),
                 number_at(run.result, text_at(run.result, "/precision") == "single"
                                           ? "/machine/peak_gflops_single"
                                           : "/machine/peak_gflops")};
  collect_points(value_at(run.result, "/timers/parts"), "", panel.points);
  SeriesStyles styles;
  return roofline("Roofline, " + run.label, "", {panel}, styles);
}

/// The first of them.
void add_probes(Page& page, const CsvTable& probes) {
  page.heading(3, "Probes");
  std::vector<std::vector<std::string>> rows;
  const std::size_t count = std::min(probes.size(), kMaxProbes);
  for (std::size_t i = 0; i < count; ++i) rows.push_back(probes.row(i));
  if (probes.size() > kMaxProbes) {
    page.html(gap(fmt::format("The first {} of {} points.", kMaxProbes, probes.size())));
  }
  page.html(html_table(probes.columns(), rows));
}

bool fits(const Page& page, const std::string& picture) {
  return page.bytes() + picture.size() / 3 * 4 <= kMaxPictureBytes;
}

// With fewer frames, down to some eight, if it would not fit.
std::string fitting_animation(const Page& page, const std::string& animation) {
  constexpr std::size_t kMinFrames = 16;
  std::string fitting = animation;
  std::vector<AnimationFrame> frames;
  while (!fits(page, fitting)) {
    if (frames.empty()) frames = frames_of(animation);
    if (frames.size() < kMinFrames) break;
    frames = every_second(frames);
    fitting = animated_png(frames);
  }
  return fitting;
}

// What is seen in it, and what else there is to say if it is left out.
void add_picture(Page& page, const std::string& picture, const std::string& what) {
  if (!fits(page, picture)) {
    page.html(gap(fmt::format("The {} is left out: the page would be too large.", what)));
    return;
  }
  std::string title = what;
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  page.html(fmt::format("<img src=\"data:image/png;base64,{}\" alt=\"{}\">\n", base64(picture),
                        escaped(title)));
}

}  // namespace

void add_run(Page& page, const RunSource& run, Figure residuals) {
  for (const std::string& text : run.gaps) page.html(gap(text));
  if (!run.result.is_null()) {
    const std::string status = text_at(run.result, "/solver/status");
    if (!status.empty() && status != "converged") {
      page.html(gap("The solver did not converge: " + status + "."));
    }
    page.html(what(run.result));
  }
  if (run.picture.empty()) {
    page.html(gap("There is no picture of the solution (solution.png)."));
  } else {
    add_picture(page, run.picture, "picture of the solution of " + run.label);
  }
  if (!run.animation.empty()) {
    const std::string animation = fitting_animation(page, run.animation);
    add_picture(page, animation, "animation of the outputs of " + run.label);
    if (animation.size() < run.animation.size()) {
      page.html(paragraph("The animation has a part of the frames of animation.png."));
    }
  }
  if (run.timings) {
    add_figure(page, parts_figure(run, *run.timings));
    add_figure(page, level_figure(run, *run.timings));
  }
  add_figure(page, std::move(residuals));
  if (!run.result.is_null()) add_figure(page, roofline_of(run));
  add_time(page, run);
  if (run.probes && !run.is_in_time()) add_probes(page, *run.probes);
  page.heading(3, "How to repeat it");
  if (!run.case_text.empty()) {
    page.html("<pre>tessera run case.toml</pre>\n");
    if (const auto t = number_at(run.result, "/restart/t")) {
      page.html(
          paragraph(fmt::format("It went on from a checkpoint of t = {:.6g}: if method, "
                                "steps or solver were others before, this does not repeat "
                                "it.",
                                *t)));
    }
    page.html(folded("case.toml", run.case_text));
  }
  if (!run.result.is_null()) page.html(provenance(run));
}

}  // namespace tessera::report
