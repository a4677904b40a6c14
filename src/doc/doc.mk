#: make gallery      the pictures of the README
#: make readme-check  every command of the README and the tutorials, in a clean chroot

# the pictures of the README
gallery: all browser
	@BUILD=$(BUILD) src/doc/make_gallery.sh

readme-check:
	@.ci/setup deb
	@tests/chroot/check_readme.sh
