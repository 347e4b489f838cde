// Simulates Intel's GPUs for Mesa's driver ANV, which then compiles pipelines without a device. LD_PRELOAD loads this library (intel.mjs). It
// replaces the functions of libdrm that find devices, and answers the kernel's requests for the driver i915 that ANV sends when a device
// starts. Layouts and numbers of requests are those of Linux's interface (include/uapi/drm/i915_drm.h). Submitted work does nothing.
//
// The node of the device is /dev/zero, so opening and mapping it works without help; ioctl recognises requests by their type, 'd'.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

struct Chip {
  const char* name;
  uint16_t device_id;
  int cores;  // "dual subslices" of the kernel, Xe cores
  int units;  // execution units of a core
  int has_memory;
};

static const struct Chip kChips[] = {
    {"adl", 0x46a6, 6, 16, 0},   // Iris Xe, 96 units
    {"dg2", 0x56a0, 32, 16, 1},  // Arc A770
    {"lnl", 0x64a0, 8, 8, 0},    // Arc 140V
    {"bmg", 0xe20b, 20, 8, 1},   // Arc B580
};

static const struct Chip* TheChip(void) {
  const char* name = getenv("PERUSE_INTEL_GPU");
  for (size_t i = 0; name && i < sizeof kChips / sizeof *kChips; i++) {
    if (strcmp(kChips[i].name, name) == 0) return &kChips[i];
  }
  fprintf(stderr, "intel_gpu.c: set PERUSE_INTEL_GPU to adl, dg2, lnl or bmg\n");
  exit(1);
}

// Part of libdrm's interface (xf86drm.h).
enum { kPrimaryNode, kControlNode, kRenderNode, kNodes };

struct PciBus {
  uint16_t domain;
  uint8_t bus, device, function;
};

struct PciDevice {
  uint16_t vendor, device, subvendor, subdevice;
  uint8_t revision;
};

struct Device {
  char** nodes;
  int available_nodes;
  int bus_type;  // 0 is PCI
  struct PciBus* bus;
  struct PciDevice* device;
};

struct Version {
  int major, minor, patch;
  int name_length;
  char* name;
  int date_length;
  char* date;
  int description_length;
  char* description;
};

static struct Device* TheDevice(void) {
  static char node[] = "/dev/zero";
  static char* nodes[kNodes] = {[kPrimaryNode] = node, [kRenderNode] = node};
  static struct PciBus bus = {.device = 2};
  static struct PciDevice pci = {.vendor = 0x8086};
  static struct Device device = {nodes, 1 << kRenderNode | 1 << kPrimaryNode, 0, &bus, &pci};
  pci.device = TheChip()->device_id;
  return &device;
}

int drmGetDevices2(uint32_t flags, struct Device* devices[], int most) {
  (void)flags;
  if (devices && most > 0) devices[0] = TheDevice();
  return 1;
}

int drmGetDevice2(int fd, uint32_t flags, struct Device** device) {
  (void)fd, (void)flags;
  *device = TheDevice();
  return 0;
}

void drmFreeDevice(struct Device** device) { *device = NULL; }

void drmFreeDevices(struct Device* devices[], int count) { memset(devices, 0, (size_t)count * sizeof *devices); }

struct Version* drmGetVersion(int fd) {
  (void)fd;
  static char name[] = "i915";
  static char empty[] = "";
  static struct Version version = {1, 6, 0, sizeof name - 1, name, 0, empty, 0, empty};
  return &version;
}

void drmFreeVersion(struct Version* version) { (void)version; }

// Answers of the kernel. Every handle is a new number.
static uint32_t NewHandle(void) {
  static uint32_t last = 0;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

struct Answer {
  size_t size;
  uint8_t bytes[512];
};

static void Append(struct Answer* answer, const void* bytes, size_t size) {
  memcpy(answer->bytes + answer->size, bytes, size);
  answer->size += size;
}

// One slice with all cores, as i915 reports every chip.
static struct Answer Topology(const struct Chip* chip) {
  const uint16_t core_bytes = (uint16_t)((chip->cores + 7) / 8);
  const uint16_t unit_bytes = (uint16_t)((chip->units + 7) / 8);
  const uint16_t header[] = {0, 1,          (uint16_t)chip->cores,      (uint16_t)chip->units,
                             1, core_bytes, (uint16_t)(1 + core_bytes), unit_bytes};
  const uint8_t slice = 1;
  const uint64_t cores = (1ull << chip->cores) - 1;
  const uint64_t units = (1ull << chip->units) - 1;
  struct Answer answer = {0};
  Append(&answer, header, sizeof header);
  Append(&answer, &slice, 1);
  Append(&answer, &cores, core_bytes);
  for (int core = 0; core < chip->cores; core++) Append(&answer, &units, unit_bytes);
  return answer;
}

// One engine, which renders and computes.
static struct Answer Engines(void) {
  const uint32_t count[4] = {1};
  const uint8_t engine[56] = {0};
  struct Answer answer = {0};
  Append(&answer, count, sizeof count);
  Append(&answer, engine, sizeof engine);
  return answer;
}

static struct Answer MemoryRegions(const struct Chip* chip) {
  struct Answer answer = {0};
  const uint32_t count[4] = {chip->has_memory ? 2 : 1};
  Append(&answer, count, sizeof count);
  for (uint32_t kind = 0; kind < count[0]; kind++) {  // 0: the system's memory, 1: the device's
    const uint64_t size = 8ull << 30;
    const uint64_t region[11] = {kind, size, size, size, size};
    Append(&answer, region, sizeof region);
  }
  return answer;
}

struct QueryItem {
  uint64_t id;
  int32_t length;
  uint32_t flags;
  uint64_t data;
};

static void Query(struct QueryItem* item) {
  enum { kTopology = 1, kEngines = 2, kMemoryRegions = 4, kGeometry = 6 };
  struct Answer answer = {0};
  if (item->id == kTopology || item->id == kGeometry) answer = Topology(TheChip());
  if (item->id == kEngines) answer = Engines();
  if (item->id == kMemoryRegions) answer = MemoryRegions(TheChip());
  if (answer.size == 0 || (item->length != 0 && item->length < (int32_t)answer.size)) {
    item->length = -EINVAL;
    return;
  }
  if (item->length != 0) memcpy((void*)(uintptr_t)item->data, answer.bytes, answer.size);
  item->length = (int32_t)answer.size;
}

static int Parameter(int32_t parameter) {
  enum { kChipset = 4, kRevision = 32, kMmapGttVersion = 40, kCommandTimestamps = 51, kObservationTimestamps = 57 };
  switch (parameter) {
    case kChipset:
      return TheChip()->device_id;
    case kRevision:
      return 0;
    case kMmapGttVersion:
      return 4;
    case kCommandTimestamps:
    case kObservationTimestamps:
      return 19200000;
    default:
      return 1;  // a feature is present
  }
}

static int Answer(unsigned number, void* data) {
  enum {
    kGetCapability = 0x0c,
    kSyncCreate = 0xbf,
    kGetParameter = 0x46,
    kCreate = 0x5b,
    kMapOffset = 0x64,
    kAperture = 0x63,
    kContextCreate = 0x6d,
    kUserPointer = 0x73,
    kContextGetParameter = 0x74,
    kQuery = 0x79,
    kSpaceCreate = 0x7a,
    kCreateWith = 0x7c,
  };
  uint32_t* words = data;
  uint64_t* longs = data;
  switch (number) {
    case kGetCapability:
      longs[1] = 1;
      return 0;
    case kSyncCreate:
    case kContextCreate:
      words[0] = NewHandle();
      return 0;
    case kCreate:
    case kCreateWith:
      words[2] = NewHandle();
      return 0;
    case kSpaceCreate:
      words[3] = NewHandle();
      return 0;
    case kUserPointer:
      words[5] = NewHandle();
      return 0;
    case kMapOffset:
      longs[1] = 0;
      return 0;
    case kAperture:
      longs[0] = longs[1] = 4ull << 30;
      return 0;
    case kContextGetParameter: {
      const uint64_t kAddressSpace = 3;
      longs[2] = longs[1] == kAddressSpace ? 1ull << 48 : 1;
      return 0;
    }
    case kGetParameter: {
      int* value;
      memcpy(&value, &longs[1], sizeof value);
      *value = Parameter((int32_t)words[0]);
      return 0;
    }
    case kQuery: {
      struct QueryItem* items = (struct QueryItem*)(uintptr_t)longs[1];
      for (uint32_t i = 0; i < words[0]; i++) Query(&items[i]);
      return 0;
    }
    default:
      return 0;  // for example a wait for work, which has always ended
  }
}

int ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* data = va_arg(arguments, void*);
  va_end(arguments);
  if (_IOC_TYPE(request) == 'd') return Answer(_IOC_NR(request), data);
  int (*next)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
  return next(fd, request, data);
}
