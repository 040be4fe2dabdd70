#include "daemon/dealing/topology.h"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"

namespace ringdeal {
namespace {

Topology Synthetic(const std::string& description) {
  auto topology = Topology::Read("synthetic:" + description);
  EXPECT_TRUE(topology.ok()) << topology.error();
  return topology.ok() ? *topology : Topology();
}

int RingOf(const Topology& topology, int a, int b) {
  return topology.Distance(topology.PlaceOf(a).value(), topology.PlaceOf(b).value());
}

// Of CPU 0 to all, in their order.
std::string RingsFromFirst(const Topology& topology) {
  std::string rings;
  for (const int cpu : topology.objects()[kAnywhere].cpus) {
    rings += std::to_string(RingOf(topology, topology.objects()[kAnywhere].cpus[0], cpu));
  }
  return rings;
}

TEST(Topology, DoesNotMistakeOneRingForAnother) {
  EXPECT_EQ(RingsFromFirst(Synthetic("pack:2 l3:2 core:2 pu:2")), "0122333344444444");
}

TEST(Topology, DoesNotTakeACacheOfOneCoreForACacheGroup) {
  EXPECT_EQ(RingsFromFirst(Synthetic("pack:2 l3:1 l2:2 core:1 pu:2")), "01224444");
  EXPECT_EQ(RingsFromFirst(Synthetic("pack:2 l2:2 core:1 pu:2")), "01334444");
}

TEST(Topology, DoesNotOverlookALastLevelThatIsNoL3) {
  EXPECT_EQ(RingsFromFirst(Synthetic("pack:2 l2:2 core:2 pu:1")), "02334444");
}

TEST(Topology, DoesNotTakeAnInnerCacheForTheLastLevel) {
  const Topology topology = Synthetic("pack:1 l3:2 l2:2 core:2 pu:1");
  EXPECT_EQ(RingsFromFirst(topology), "02223333");
  const std::vector<int> pair{0, 1};  // the inner cache is still the nearer place
  EXPECT_EQ(topology.objects()[topology.Covering(pair)].cpus, pair);
}

TEST(Topology, DoesNotNeedWhatAMachineDoesNotTell) {
  EXPECT_EQ(RingsFromFirst(Synthetic("pack:2 core:2 pu:2")), "01334444");
  EXPECT_EQ(RingsFromFirst(Synthetic("core:2 pu:2")), "0133");
  EXPECT_EQ(RingsFromFirst(Synthetic("pu:3")), "033");
  EXPECT_EQ(RingsFromFirst(Synthetic("pu:1")), "0");
  EXPECT_EQ(RingsFromFirst(Synthetic("core:1 pu:2")), "01");
  EXPECT_EQ(RingsFromFirst(Topology()), "0");
}

TEST(Topology, DoesNotOverlookNumaNodesInAPackageOrAroundSome) {
  EXPECT_EQ(RingsFromFirst(Synthetic("pack:1 numa:2 l3:2 core:2 pu:1")), "02333333");
  EXPECT_EQ(RingsFromFirst(Synthetic("numa:2 pack:2 core:2 pu:1")), "03334444");
  EXPECT_EQ(RingsFromFirst(Synthetic("numa:2 core:2 pu:1")), "0344");
}

// As on a machine of two sockets that interleaves its memory.
TEST(Topology, DoesNotLetTheOnlyNumaNodeJoinPackages) {
  EXPECT_EQ(RingsFromFirst(Synthetic("pack:2 core:2 pu:1")), "0344");
}

TEST(Topology, DoesNotGiveAGroupARingOfItsOwn) {
  EXPECT_EQ(RingsFromFirst(Synthetic("group:2 pack:2 core:2 pu:1")), "03444444");
  EXPECT_EQ(RingsFromFirst(Synthetic("pack:1 l3:1 group:2 core:2 pu:1")), "0222");
}

TEST(Topology, DoesNotNumberCpusByTheirOrder) {
  const Topology topology = Synthetic("pack:2 core:2 pu:2(indexes=0,32,1,33,8,40,9,41)");
  EXPECT_EQ(topology.objects()[kAnywhere].cpus, (std::vector<int>{0, 1, 8, 9, 32, 33, 40, 41}));
  EXPECT_EQ(RingOf(topology, 0, 32), 1);
  EXPECT_EQ(RingOf(topology, 0, 33), 3);
  EXPECT_EQ(RingOf(topology, 33, 40), 4);
  for (const int cpu : {-1, 2, 7, 31, 42, 100000}) EXPECT_FALSE(topology.PlaceOf(cpu)) << cpu;
}

TEST(Topology, HasNoObjectTwiceAndNoParentAfterItsChild) {
  for (const char* description :
       {"pack:2 l3:2 l2:2 core:1 pu:2", "core:1 pu:1", "numa:2 pack:1 l3:1 core:2 pu:1"}) {
    const Topology topology = Synthetic(description);
    const auto objects = topology.objects();
    for (Place place = 1; place < objects.size(); ++place) {
      EXPECT_LT(objects[place].parent, place);
      EXPECT_LE(objects[place].ring, objects[objects[place].parent].ring);
      EXPECT_FALSE(objects[place].cpus.empty());
      for (Place other = 1; other < place; ++other) {
        EXPECT_NE(objects[place].cpus, objects[other].cpus) << description;
      }
    }
  }
}

TEST(Topology, DoesNotCoverMoreThanItMust) {
  const Topology topology = Synthetic("pack:2 l3:2 core:2 pu:2");
  const auto covered = [&](std::vector<int> cpus) {
    return topology.objects()[topology.Covering(cpus)].cpus.size();
  };
  EXPECT_EQ(covered({5}), 1u);
  EXPECT_EQ(covered({5, 4}), 2u);
  EXPECT_EQ(covered({0, 3}), 4u);
  EXPECT_EQ(covered({0, 4}), 8u);
  EXPECT_EQ(covered({0, 15}), 16u);
  EXPECT_EQ(covered({5, 99, -1}), 1u);  // of those that exist
  EXPECT_EQ(topology.Covering({}), kAnywhere);
  EXPECT_EQ(topology.Covering(std::vector<int>{99}), kAnywhere);
}

TEST(Topology, MeasuresFromACpuToASet) {
  const Topology topology = Synthetic("pack:2 l3:2 core:2 pu:2");
  const Place group = topology.Covering(std::vector<int>{0, 3});
  EXPECT_EQ(topology.Distance(topology.PlaceOf(1).value(), group), 2);
  EXPECT_EQ(topology.Distance(topology.PlaceOf(7).value(), group), 3);
  EXPECT_EQ(topology.Distance(topology.PlaceOf(8).value(), group), 4);
  EXPECT_EQ(topology.Distance(kAnywhere, group), 4);
}

TEST(Topology, DoesNotFailOnTheMachineThatItRunsOn) {
  const auto topology = Topology::Read("");
  ASSERT_TRUE(topology.ok()) << topology.error();
  const auto& cpus = topology->objects()[kAnywhere].cpus;
  ASSERT_FALSE(cpus.empty());
  for (const int cpu : cpus) EXPECT_EQ(topology->objects()[*topology->PlaceOf(cpu)].ring, 0);
  EXPECT_EQ(topology->objects()[topology->Covering(cpus)].cpus, cpus);
  EXPECT_EQ(*topology, *Topology::Read(""));
}

TEST(Topology, DoesNotTakeCpusThatMayNotBeUsed) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "machine.xml") << R"(<?xml version="1.0" encoding="UTF-8"?>
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" allowed_cpuset="0xb"
   nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
  <object type="NUMANode" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1"
    complete_nodeset="0x1" gp_index="2"/>
  <object type="Package" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
    complete_nodeset="0x1" gp_index="3">
   <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
     complete_nodeset="0x1" gp_index="4"/>
   <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
     complete_nodeset="0x1" gp_index="5"/>
  </object>
  <object type="Package" os_index="1" cpuset="0xc" complete_cpuset="0xc" nodeset="0x1"
    complete_nodeset="0x1" gp_index="6">
   <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x1"
     complete_nodeset="0x1" gp_index="7"/>
   <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x1"
     complete_nodeset="0x1" gp_index="8"/>
  </object>
 </object>
</topology>
)";
  const auto topology = Topology::Read(directory / "machine.xml");
  ASSERT_TRUE(topology.ok()) << topology.error();
  EXPECT_EQ(topology->objects()[kAnywhere].cpus, (std::vector<int>{0, 1, 3}));
  EXPECT_FALSE(topology->PlaceOf(2));
  EXPECT_EQ(RingsFromFirst(*topology), "034");
}

TEST(Topology, DoesNotAcceptBadInputOrComplainInManyLines) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "empty.xml");
  std::ofstream(directory / "half.xml") << "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n";
  for (const std::string& source :
       {std::string("synthetic:"), std::string("synthetic:pack"),
        std::string("synthetic:core:x pu:1"), directory / "empty.xml", directory / "half.xml",
        directory / "none.xml", directory.path()}) {
    const auto topology = Topology::Read(source);
    ASSERT_FALSE(topology.ok()) << source;
    EXPECT_NE(topology.error().find(source), std::string::npos) << topology.error();
    EXPECT_EQ(topology.error().find('\n'), std::string::npos) << topology.error();
  }
  EXPECT_NE(Topology::Read(directory / "none.xml").error().find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace ringdeal
