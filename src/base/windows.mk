# The program for Windows, cross-compiled with mingw-w64 (src/doc/windows.md).
#: make windows      the program for Windows (build/mingw/onnxcost.exe), cross-compiled; windows-check runs it under wine

MINGW_LIB := build/mingw/lib
# headers that Windows lacks, empty: src/base/os_libc.h has what is used of them
MINGW_HEADERS := $(addprefix $(MINGW_LIB)/include/,dirent.h glob.h langinfo.h poll.h sys/ioctl.h sys/mman.h sys/wait.h)
.PHONY: windows windows-files windows-check
WINDOWS_UNIT := base shape model ops analyze

windows:
	@.ci/setup windows
	@+$(MAKE) --no-print-directory $(PARALLEL) $(MINGW_LIB)/copyright
	@+$(MAKE) --no-print-directory $(PARALLEL) MODE=mingw windows-files

# in MODE=mingw
windows-files: build/mingw/onnxcost.exe $(WINDOWS_UNIT:%=build/mingw/unit/%/tests)
$(MINGW_HEADERS): Makefile
	@mkdir -p $(@D) && touch $@
ifeq ($(MODE),mingw)
$(call obj,$(LIB_SRC) $(CLI_SRC) $(ZOO_SRC) $(SUPPORT_SRC) $(UNIT_SRC)): | $(MINGW_HEADERS)
endif

windows-check: all windows
	@BUILD=$(BUILD) tests/check_windows.sh
