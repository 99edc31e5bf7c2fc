# programs.mk - libraries, programs and images, and their parts.

# The provider needs libfabric's headers, the virtual clock over MPI Open MPI, images their compilers.
LIBFABRIC := $(shell pkg-config --exists libfabric 2>/dev/null && echo yes)
LIBFABRIC_PROVIDER := $(if $(LIBFABRIC),$(if $(SANITIZE),,$(BUILD)/libhxmesh-fi.so))
VIRTUAL_MPI := $(if $(MPICC),$(BUILD)/hxmesh-virtual-mpi)
IMAGE_RISCV := $(if $(RISCV),$(if $(SANITIZE),,$(BUILD)/hx-node-riscv64.elf))
PROGRAMS := $(IMAGE_RISCV) $(BUILD)/hxmesh $(if $(DPDK),$(BUILD)/hxmesh-dpdk) $(BUILD)/hxmesh-virtual $(TOOLS:tools/%.c=$(BUILD)/%)

.PHONY: all
all: $(PROGRAMS) $(BUILD)/libhxmesh.a $(BUILD)/libhxmesh-program.a $(BUILD)/libhxmesh-sim.so $(LIBFABRIC_PROVIDER) $(VIRTUAL_MPI) ## build hxmesh and its tools (needs no DPDK)
	@:

# $(call objects,PLATFORM,SOURCES)
objects = $(addprefix $(BUILD)/$(1)/,$(addsuffix .o,$(basename $(2))))

# PLAIN: the folder of another build. Its libraries of code that has no platform, and so one thread, are linked here.
PLAIN ?=
OF_PLAIN := $(or $(PLAIN),$(BUILD))
LIB_SHM      := $(BUILD)/libhx-shm.a
LIB_LOOPBACK := $(BUILD)/libhx-loopback.a
LIB_HOST     := $(OF_PLAIN)/libhxmesh-host.a
LIB_VIRTUAL  := $(BUILD)/libhx-virtual.a
LIB_DPDK     := $(BUILD)/libhx-dpdk.a
LIB_LIVE     := $(BUILD)/libhx-live.a
LIB_DPDK_NODE := $(BUILD)/libhx-dpdk-node.a
LIB_VIRTUAL_EMULATOR := $(BUILD)/libhx-virtual-emulator.a
LIB_EMULATOR := $(OF_PLAIN)/libhx-emulator.a
LIB_WORKLOAD := $(BUILD)/libhx-workload.a
LIB_TOOLS    := $(OF_PLAIN)/libhx-tools.a
# Installed library: the parts of the firmware that need no platform.
LIB_FIRMWARE := $(BUILD)/libhxmesh.a
LIB_SIM      := $(BUILD)/libhxmesh-sim.so
LIB_PROGRAM  := $(OF_PLAIN)/libhxmesh-program.a

$(LIB_FIRMWARE): $(call objects,plain,$(FIRMWARE_PURE))
$(LIB_SHM):      $(call objects,shm,$(FIRMWARE) $(HAL_CABLE) $(HAL_SIMD) $(HAL_SHM))
$(LIB_LOOPBACK): $(call objects,loopback,$(FIRMWARE) $(HAL_CABLE) $(HAL_LOOPBACK))
$(LIB_VIRTUAL):  $(call objects,virtual,$(FIRMWARE) $(HAL_SIMD) $(HAL_VIRTUAL))
$(LIB_DPDK):     $(call objects,dpdk,$(FIRMWARE) $(HAL_CABLE) $(HAL_SIMD) $(HAL_DPDK) hal/wire/interface.c)
$(LIB_LIVE):     $(call objects,shm,$(LIVE))
$(LIB_DPDK_NODE): $(call objects,dpdk,$(filter-out nodes/dpdk/main.c,$(DPDK_NODE)))
$(LIB_VIRTUAL_EMULATOR): $(call objects,virtual,$(VIRTUAL))
$(LIB_WORKLOAD): $(call objects,plain,$(WORKLOAD) $(HAL_PROGRAM))
ifeq ($(PLAIN),)
$(LIB_HOST):     $(call objects,plain,$(HOST))
$(LIB_EMULATOR): $(call objects,plain,$(EMULATOR))
$(LIB_TOOLS):    $(call objects,plain,$(TOOLS_SHARED))
$(LIB_PROGRAM):  $(call objects,plain,$(PROGRAM) $(HAL_PROGRAM) hal/wire/passing.c)
endif

# Libraries come before those they depend on: a dependency in the other direction does not link.
$(BUILD)/hxmesh: $(LIB_LIVE) $(LIB_EMULATOR) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_SHM)
	$(LINK)

$(BUILD)/hxmesh-virtual $(BUILD)/hxmesh-virtual-mpi $(BUILD)/test-virtual: LDLIBS += -lmetis
$(BUILD)/hxmesh-virtual: LDFLAGS += $(WHOLE) $(OPTIMIZE_FAST)
$(BUILD)/hxmesh-virtual: $(LIB_VIRTUAL_EMULATOR) $(LIB_EMULATOR) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_VIRTUAL)
	$(LINK)

# The virtual clock as a library. Calls of its code for memory go by fabric-emu/library/owned.c.
SIM_SO := libhxmesh-sim.so.0
LIB_SIM_OBJECTS := $(call objects,shared-virtual,$(LIBRARY) $(filter-out fabric-emu/virtual/main.c,$(VIRTUAL)) $(FIRMWARE) $(HAL_SIMD) $(HAL_VIRTUAL)) \
    $(call objects,shared,$(EMULATOR) $(WORKLOAD) $(HAL_PROGRAM) $(HOST))
$(BUILD)/libhx-sim.a: $(LIB_SIM_OBJECTS)
$(LIB_SIM): LDFLAGS += -shared -Wl,-soname,$(SIM_SO) -Wl,-z,defs -Wl,--exclude-libs,ALL $(WHOLE) $(OPTIMIZE_FAST) \
    $(foreach call,malloc calloc realloc reallocarray strdup strndup free mmap munmap,-Wl,--wrap=$(call))
$(LIB_SIM): LDLIBS += -lmetis
$(LIB_SIM): $(call objects,shared-virtual,$(LIBRARY)) $(BUILD)/libhx-sim.a
	$(LINK)
	@ln -sf $(@F) $(BUILD)/$(SIM_SO)

# The same over MPI, if that is installed: its channel comes before the one of the library.
CHANNEL_MPI := $(call objects,virtual,$(wildcard hal/virtual/*_mpi.c))
$(CHANNEL_MPI): private CPPFLAGS += $(OPEN_MPI)
$(BUILD)/hxmesh-virtual-mpi: LDFLAGS += $(WHOLE) $(OPTIMIZE_FAST)
$(BUILD)/hxmesh-virtual-mpi: LDLIBS += $(shell $(MPICC) --showme:link)
$(BUILD)/hxmesh-virtual-mpi: $(CHANNEL_MPI) $(LIB_VIRTUAL_EMULATOR) $(LIB_EMULATOR) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_VIRTUAL)
	$(LINK)

$(BUILD)/hxmesh-dpdk: LDLIBS += $(DPDK_LIBS)
$(BUILD)/hxmesh-dpdk: $(BUILD)/dpdk/nodes/dpdk/main.o $(LIB_DPDK_NODE) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_DPDK)
	$(LINK)

$(BUILD)/hxmesh-train $(BUILD)/hxmesh-plan: $(BUILD)/hxmesh-%: $(BUILD)/plain/tools/hxmesh-%.o $(LIB_TOOLS) $(LIB_EMULATOR) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_LOOPBACK)
	$(LINK)

$(BUILD)/hxmesh-top: LDLIBS += -lncursesw
$(BUILD)/hxmesh-%: $(BUILD)/plain/tools/hxmesh-%.o $(LIB_TOOLS) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_LOOPBACK)
	$(LINK)

$(BUILD)/libhxmesh-fi.so: LDFLAGS += -shared -Wl,--exclude-libs,ALL
$(BUILD)/libhxmesh-fi.so: LDLIBS := -lfabric
$(BUILD)/libhxmesh-fi.so: $(call objects,plain,$(PROVIDER)) $(LIB_PROGRAM)
	$(LINK)

# Wires and steps of hal/loopback without its conformance world; devices fill and empty the wires.
BARE_FIRMWARE := $(FIRMWARE) $(HAL_CABLE) $(filter-out %/conformance_port.c,$(HAL_LOOPBACK)) $(BARE)
$(BUILD)/hx-node-riscv64.elf: hal/riscv-virt/link.ld $(call objects,riscv-virt,$(BARE_FIRMWARE) $(RISCV_VIRT) $(BARE_NODE) \
    lib/workload/payload.c hal/riscv-virt/start.S)
	$(call link_image,$(RISCV),$(FOR_RISCV))

IMAGE_CORTEX_M := $(if $(CORTEX_M),$(if $(SANITIZE),,$(BUILD)/tests/kit-cortex-m7.elf))
$(BUILD)/tests/kit-cortex-m7.elf: hal/mps2/link.ld $(call objects,mps2,$(FIRMWARE) $(HAL_CABLE) $(HAL_LOOPBACK) $(BARE) $(MPS2) $(MPS2_NODE) \
    $(filter-out %/main.c,$(KIT)) lib/workload/payload.c)
	$(call link_image,$(CORTEX_M),$(FOR_CORTEX_M))
