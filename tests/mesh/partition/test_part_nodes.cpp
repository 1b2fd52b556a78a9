// These tests look at the nodes of parts: their positions, who shares and who owns them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "mesh/partition/part_nodes.hpp"
#include "tests/mesh/meshes.hpp"
#include "tests/mesh/partition/random_partition.hpp"

namespace tessera::testing {
namespace {

constexpr int kTrials = 40;

TEST(NodesOfParts, HaveTheirPositionsBitForBit) {
  const ThreadsInUse one(1);
  std::mt19937 generator(41);
  for (int trial = 0; trial < kTrials; ++trial) {
    const RandomPartition random(generator, 2);
    const int degree = 1 + trial % 4;
    const Basis1D basis =
        make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1);
    const bool is_mapped = trial % 2 == 0;
    const auto positions_on = [&](const BoxMesh& mesh) {
      return is_mapped ? make_mapped(mesh, basis, components_of(quadratic_map())).mapping
                       : make_cartesian(mesh, basis).mapping;
    };
    const Mapping whole = positions_on(random.mesh);
    for (int rank = 0; rank < random.partition.rank_count(); ++rank) {
      const PartNodes nodes(random.partition, rank, random.mesh, degree);
      const Mapping part = positions_on(random.mesh.part(random.partition.cells(rank)));
      ASSERT_EQ(part.lattice().size(), nodes.lattice().size());
      EXPECT_EQ(part.has_equal_cells(), whole.has_equal_cells());
      for (Index node = 0; node < part.lattice().size(); ++node) {
        Point here{};
        Point there{};
        part.node_positions(node, 1, &here[0], &here[1], &here[2]);
        whole.node_positions(nodes.in_whole(node), 1, &there[0], &there[1], &there[2]);
        ASSERT_EQ(std::memcmp(here.data(), there.data(), sizeof(Point)), 0)
            << "node " << node << " of rank " << rank;
      }
    }
  }
}

template <class F>
void for_each_of(const FaceNodes& nodes, F&& f) {
  for (Index b = 0; b < nodes.counts[1]; ++b) {
    for (Index a = 0; a < nodes.counts[0]; ++a) f(nodes.node(a, b));
  }
}

TEST(NodesOfParts, AreOwnedByTheLowestOfTheirSharers) {
  std::mt19937 generator(43);
  for (int trial = 0; trial < kTrials; ++trial) {
    const RandomPartition random(generator, 3);
    const int degree = 1 + trial % 3;
    std::map<Index, int> lowest;
    for (int rank = random.partition.rank_count() - 1; rank >= 0; --rank) {
      const PartNodes nodes(random.partition, rank, random.mesh, degree);
      for (Index i = 0; i < nodes.lattice().size(); ++i) lowest[nodes.in_whole(i)] = rank;
    }
    Index owned = 0;
    for (int rank = 0; rank < random.partition.rank_count(); ++rank) {
      const PartNodes nodes(random.partition, rank, random.mesh, degree);
      std::multiset<Index> others;
      for (const FaceNodes& plane : nodes.not_owned()) {
        for_each_of(plane, [&](Index node) { others.insert(node); });
      }
      for (Index i = 0; i < nodes.lattice().size(); ++i) {
        EXPECT_EQ(others.count(i), lowest[nodes.in_whole(i)] == rank ? 0U : 1U);
      }
      EXPECT_EQ(nodes.owned_count(), nodes.lattice().size() - static_cast<Index>(others.size()));
      owned += nodes.owned_count();
    }
    EXPECT_EQ(owned, NodeLattice(random.mesh, degree).size());
  }
}

TEST(NodesOfParts, AreListedAlikeByBothSharers) {
  std::mt19937 generator(47);
  Index compared = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const RandomPartition random(generator, 3);
    const int degree = 1 + trial % 3;
    const FaceSet constrained(std::uniform_int_distribution(0UL, 63UL)(generator));
    const auto planes_of = [&](int rank, int axis) {
      return PartNodes(random.partition, rank, random.mesh, degree)
          .shared_planes(axis, constrained & random.partition.domain_faces(rank));
    };
    const NodeLattice whole(random.mesh, degree);
    for (int rank = 0; rank < random.partition.rank_count(); ++rank) {
      const PartNodes nodes(random.partition, rank, random.mesh, degree);
      for (int axis = 0; axis < random.mesh.dimension(); ++axis) {
        for (const SharedNodes& mine : planes_of(rank, axis)) {
          const auto theirs = planes_of(mine.neighbor, axis);
          const auto back = std::find_if(theirs.begin(), theirs.end(),
                                         [&](const SharedNodes& p) { return p.neighbor == rank; });
          ASSERT_NE(back, theirs.end());
          const PartNodes there(random.partition, mine.neighbor, random.mesh, degree);
          std::vector<Index> here_in_whole;
          std::vector<Index> there_in_whole;
          for_each_of(mine.nodes, [&](Index i) { here_in_whole.push_back(nodes.in_whole(i)); });
          for_each_of(back->nodes, [&](Index i) { there_in_whole.push_back(there.in_whole(i)); });
          EXPECT_EQ(here_in_whole, there_in_whole);
          // All nodes of the plane that are not constrained, and no others.
          Index free = 0;
          for_each_of(face_nodes(nodes.lattice(), 2 * axis + (mine.neighbor > rank ? 1 : 0)),
                      [&](Index i) {
                        const IndexTriple at = whole.node_position(nodes.in_whole(i));
                        if (!whole.on_faces(at, constrained)) ++free;
                      });
          EXPECT_EQ(static_cast<Index>(here_in_whole.size()), free);
          for (const Index node : here_in_whole) {
            EXPECT_FALSE(whole.on_faces(whole.node_position(node), constrained));
          }
          compared += free;
        }
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(NodesOfParts, AreCopiedToThePartAndOnceBack) {
  std::mt19937 generator(53);
  for (int trial = 0; trial < kTrials; ++trial) {
    const RandomPartition random(generator, 3);
    const int degree = 1 + trial % 3;
    const Index size = NodeLattice(random.mesh, degree).size();
    const std::vector<double> values = random_values(size, 5);
    std::vector<double> gathered(values.size(), std::numeric_limits<double>::quiet_NaN());
    for (int rank = 0; rank < random.partition.rank_count(); ++rank) {
      const PartNodes nodes(random.partition, rank, random.mesh, degree);
      std::vector<double> part(static_cast<std::size_t>(nodes.lattice().size()),
                               std::numeric_limits<double>::quiet_NaN());
      nodes.copy_to_part(values.data(), part.data());
      for (Index i = 0; i < nodes.lattice().size(); ++i) {
        EXPECT_EQ(part[i], values[nodes.in_whole(i)]);
      }
      nodes.copy_owned_to_whole(part.data(), gathered.data());
      std::vector<double> all(values.size(), 0.0);
      nodes.copy_to_whole(part.data(), all.data());
      for (Index i = 0; i < nodes.lattice().size(); ++i) {
        EXPECT_EQ(all[nodes.in_whole(i)], part[i]);
      }
      EXPECT_EQ(std::count_if(all.begin(), all.end(), [](double value) { return value != 0.0; }),
                nodes.lattice().size());
    }
    EXPECT_EQ(gathered, values);
  }
}

}  // namespace
}  // namespace tessera::testing
