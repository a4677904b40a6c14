# The files of a release (src/doc/release.md). `make dist` needs root and a mirror: it compiles in a chroot.
.PHONY: musl musl-files dist dist-check

# the program alone in one file, for every Linux system with that processor
musl:
	@.ci/setup musl
	@+$(MAKE) --no-print-directory $(PARALLEL) build/musl/lib/copyright
	@+$(MAKE) --no-print-directory $(PARALLEL) MODE=musl musl-files

# in MODE=musl
musl-files: $(BIN)

dist:
	@JOBS='$(JOBS)' src/dist/make_dist.sh build/dist build/dist-work

dist-check: all $(BUILD)/fake_ort.so
	@JOBS='$(JOBS)' BUILD=$(BUILD) tests/chroot/check_dist.sh
