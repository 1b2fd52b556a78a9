// This file merges the timer trees of ranks.
#include "postprocess/timing/rank_times.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "solvers/ranks/gather_texts.hpp"

namespace tessera {
namespace {

using Part = TimerTree::Part;
using Json = nlohmann::json;

Json to_json(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) {
    const Work& work = part.work;
    list.push_back({part.name, part.calls, part.total, part.min,
                    Json{work.dofs, work.bytes, work.flops, work.held_bytes},
                    to_json(part.children)});
  }
  return list;
}

std::vector<Part> from_json(const Json& list, int depth) {
  std::vector<Part> parts;
  for (const Json& entry : list) {
    const Json& work = entry[4];
    parts.push_back({entry[0], depth, entry[1], entry[2], entry[3],
                     Work{work[0], work[1], work[2], work[3]}, from_json(entry[5], depth + 1)});
  }
  return parts;
}

bool has_work(const Work& work) { return work.dofs > 0.0 || work.bytes > 0.0 || work.flops > 0.0; }

// Adds the parts of another rank, by name.
void merge(const std::vector<Part>& other, std::vector<Part>& parts) {
  for (const Part& one : other) {
    const auto same = std::find_if(parts.begin(), parts.end(),
                                   [&](const Part& part) { return part.name == one.name; });
    if (same == parts.end()) {
      parts.push_back(one);
      continue;
    }
    if (one.total > same->total) {
      same->calls = one.calls;
      same->total = one.total;
      same->min = one.min;
    }
    if (!has_work(same->work)) same->work = one.work;
    merge(one.children, same->children);
  }
}

// Seconds of the part of this path; 0 if there is none.
double seconds(const std::vector<Part>& parts, std::string_view path) {
  const std::size_t slash = path.find('/');
  const std::string_view name = path.substr(0, slash);
  for (const Part& part : parts) {
    if (part.name != name) continue;
    return slash == std::string_view::npos ? part.total
                                           : seconds(part.children, path.substr(slash + 1));
  }
  return 0.0;
}

void add_spreads(const std::vector<Part>& merged, const std::string& prefix,
                 const std::vector<std::vector<Part>>& ranks, RankTimes& times) {
  for (const Part& part : merged) {
    const std::string path = prefix + part.name;
    RankSpread spread{part.total, 0.0, 0.0};
    for (const std::vector<Part>& rank : ranks) {
      const double one = seconds(rank, path);
      spread.min = std::min(spread.min, one);
      spread.max = std::max(spread.max, one);
      spread.mean += one / static_cast<double>(ranks.size());
    }
    times.spreads.emplace_back(path, spread);
    add_spreads(part.children, path + "/", ranks, times);
  }
}

}  // namespace

const RankSpread* RankTimes::find(std::string_view path) const {
  const auto found = std::find_if(spreads.begin(), spreads.end(),
                                  [&](const auto& spread) { return spread.first == path; });
  return found == spreads.end() ? nullptr : &found->second;
}

RankTimes gather_times(const TimerTree& timers, const Communicator& ranks) {
  RankTimes times;
  times.ranks = ranks.size();
  times.elapsed = timers.elapsed();
  times.parts = timers.parts();
  if (ranks.size() == 1) return times;
  ranks.max({&times.elapsed, 1});
  const std::vector<std::string> texts = gather_texts(ranks, to_json(times.parts).dump());
  std::vector<std::vector<Part>> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(from_json(Json::parse(text), 0));
  times.parts = all.front();
  for (std::size_t r = 1; r < all.size(); ++r) merge(all[r], times.parts);
  add_spreads(times.parts, "", all, times);
  return times;
}

}  // namespace tessera
