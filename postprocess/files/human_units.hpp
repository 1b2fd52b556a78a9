// These functions write numbers as people read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tessera {

/// Numbers as people read them, with three significant digits and a prefix; "-" for numbers that
/// are not finite.
std::string human_seconds(double seconds);  ///< "12.3 ms", "4.56 s", "2 min 05 s", "1 h 02 min"
std::string human_joules(double joules);    ///< "1.80 uJ", "123 J", "4.56 kJ"
std::string human_bytes(double bytes);      ///< "1.50 GiB"
inline std::string bytes_text(std::int64_t bytes) {  ///< The same of a size.
  return human_bytes(static_cast<double>(bytes));
}
std::string human_count(double count);           ///< "2.15 M"
std::string human_dofs_per_second(double rate);  ///< "104 MDoF/s"
std::string human_bytes_per_second(
    double rate);  ///< "18.2 GB/s", of 10^9 bytes as in the literature
/// With so many significant digits; "0" where it is nothing but rounding beside `size`, the largest
/// of its kind.
std::string human_number(double number, double size, int digits);
std::string human_flops_per_second(double rate);  ///< "118 GFLOP/s"
std::string human_percent(double fraction);       ///< 0.123 -> "12.3 %"
/// "2026-11-22T21:47:14Z".
std::string utc_text(std::chrono::system_clock::time_point time);

}  // namespace tessera
