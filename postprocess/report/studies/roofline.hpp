// A roofline shows speed over arithmetic intensity, under what the machine can do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "postprocess/report/page.hpp"
#include "postprocess/report/plots/series_styles.hpp"

namespace tessera::report {

/// What was measured of a machine; what is absent is left out of the picture.
struct MachineRoofs {
  std::optional<double> copy_gbytes_per_s = {};
  std::optional<double> cache_gbytes_per_s = {};
  std::optional<double> peak_gflops = {};
};

/// One kernel's point, by its least bytes and flops.
struct RoofPoint {
  std::string name = {};
  std::string detail = {};  ///< what tells points of the same name apart
  double gbytes_per_s = 0.0;
  double gflops_per_s = 0.0;
  /// What bounds it and the share of that, where the one who measured says so.
  std::string limit = {};
  std::optional<double> limit_share = {};
};

struct RooflinePanel {
  std::string label = {};
  MachineRoofs roofs = {};
  std::vector<RoofPoint> points = {};
};

/// @param title "Roofline, ..."
/// @param detail the header of what tells points of a name apart
Figure roofline(const std::string& title, const std::string& detail,
                const std::vector<RooflinePanel>& panels, SeriesStyles& styles);

}  // namespace tessera::report
