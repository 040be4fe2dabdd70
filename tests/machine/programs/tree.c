// tree: what hwloc sees of the machine, one line of JSON for each PU.
#include <hwloc.h>
#include <stdio.h>

static unsigned Above(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, object);
  return found != NULL ? found->logical_index : 999;
}

int main(void) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0) {
    perror("hwloc");
    return 1;
  }
  hwloc_obj_t pu = NULL;
  while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL) {
    printf("{\"pu\":%u,\"package\":%u,\"cache\":%u,\"core\":%u,\"node\":%d}\n", pu->os_index,
           Above(topology, HWLOC_OBJ_PACKAGE, pu), Above(topology, HWLOC_OBJ_L3CACHE, pu),
           Above(topology, HWLOC_OBJ_CORE, pu), hwloc_bitmap_first(pu->nodeset));
  }
  hwloc_topology_destroy(topology);
}
