// These functions say in a few numbers what many measurements were.
#pragma once

#include <vector>

namespace tessera {

/// Order statistics of some values, in the unit of the values; all 0 where there is no value.
struct Summary {
  int count = 0;
  double minimum = 0.0;
  double lower_quartile = 0.0;
  double median = 0.0;
  double upper_quartile = 0.0;
};

/// The quantile x_(h), h = share (n - 1), of the n values in order x_(0) <= ... <= x_(n-1), linear
/// between neighbors: share 0 is the least, 1/2 the median, 1 the largest. There is at least one
/// value. @param share in [0, 1]
double quantile(std::vector<double> values, double share);

/// The middle value in order, or the mean of the middle two; there is at least one value.
double median(std::vector<double> values);

/// Number, minimum, quartiles and median of the values.
Summary summarize(std::vector<double> values);

/// Of the values times a factor that is not negative.
Summary scaled(const Summary& summary, double factor);

}  // namespace tessera
