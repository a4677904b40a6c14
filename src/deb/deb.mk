#: make deb          Debian packages in build/deb; deb-check tests them in a clean chroot (needs root and network)
#: make reproducible  two builds in two folders and environments give identical programs, libraries and packages
#: make cross ARCH=arm64|s390x|ppc64el|musl  unit tests on another platform, in a clean chroot under qemu-user (needs root, network)

# `make check` tests the tree; here only the packages are tested
deb:
	@.ci/setup deb
	@DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS:-nocheck parallel=$(JOBS)}" DEB_BUILD_PROFILES="$${DEB_BUILD_PROFILES:-nocheck}" \
	    src/deb/make_deb.sh build/deb
	@lintian --allow-root --fail-on error,warning build/deb/onnxcost_*.changes

# two builds in two folders give the same files
reproducible:
	@.ci/setup deb
	@MAKE='$(MAKE)' tests/chroot/check_reproducible.sh

cross: $(BIN) $(ZOO)
	@.ci/setup deb
	@tests/chroot/check_cross.sh '$(ARCH)'

deb-check: all
	@.ci/setup deb
	@[ -d build/deb ] || $(MAKE) --no-print-directory deb
	@tests/chroot/check_deb.sh
