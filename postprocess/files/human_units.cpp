// This file rounds numbers to three digits and finds their prefixes.
#include "postprocess/files/human_units.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace tessera {
namespace {

// Three significant digits of 0 <= value < 1000.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string with_prefix(double value, double step, std::span<const std::string_view> units) {
  if (!std::isfinite(value)) return "-";
  std::size_t unit = 0;
  double scaled = std::abs(value);
  // 999.5 is printed as 1000.
  while (scaled >= 999.5 && unit + 1 < units.size()) {
    scaled /= step;
    ++unit;
  }
  return fmt::format("{}{}{}", value < 0 ? "-" : "", three_digits(scaled), units[unit]);
}

}  // namespace

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds == 0.0) return "0 s";
  if (seconds >= 3600.0) {
    const auto minutes = std::llround(seconds / 60.0);
    return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  }
  if (seconds >= 120.0) {
    const auto whole = std::llround(seconds);
    if (whole == 3600) return "1 h 00 min";
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  }
  constexpr std::array<std::string_view, 4> kUnits = {" ns", " us", " ms", " s"};
  return with_prefix(seconds * 1e9, 1e3, kUnits);
}

std::string human_joules(double joules) {
  constexpr std::array<std::string_view, 7> kUnits = {" pJ", " nJ", " uJ", " mJ",
                                                      " J",  " kJ", " MJ"};
  return joules == 0.0 ? "0 J" : with_prefix(joules * 1e12, 1e3, kUnits);
}

std::string human_bytes(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  if (std::abs(bytes) < 1000.0) return fmt::format("{:.0f} B", bytes);
  return with_prefix(bytes, 1024.0, kUnits);
}

std::string human_count(double count) {
  constexpr std::array<std::string_view, 5> kUnits = {"", " k", " M", " G", " T"};
  if (std::abs(count) < 999.5) return fmt::format("{:.0f}", count);
  return with_prefix(count, 1e3, kUnits);
}

std::string human_dofs_per_second(double rate) {
  constexpr std::array<std::string_view, 5> kUnits = {" DoF/s", " kDoF/s", " MDoF/s", " GDoF/s",
                                                      " TDoF/s"};
  return with_prefix(rate, 1e3, kUnits);
}

std::string human_bytes_per_second(double rate) {
  constexpr std::array<std::string_view, 5> kUnits = {" B/s", " kB/s", " MB/s", " GB/s", " TB/s"};
  return with_prefix(rate, 1e3, kUnits);
}

std::string human_number(double number, double size, int digits) {
  return fmt::format("{:.{}g}", std::abs(number) < 1e-9 * size ? 0.0 : number, digits);
}

std::string human_flops_per_second(double rate) {
  constexpr std::array<std::string_view, 5> kUnits = {" FLOP/s", " kFLOP/s", " MFLOP/s", " GFLOP/s",
                                                      " TFLOP/s"};
  return with_prefix(rate, 1e3, kUnits);
}

std::string human_percent(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  return fmt::format("{:.1f} %", 100.0 * fraction);
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace tessera
