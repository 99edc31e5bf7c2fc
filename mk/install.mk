# install.mk - installation, packages, and documents that programs write.

.PHONY: install uninstall install-parts deb docs docs-figures
install: install-parts ## install programs, library, headers, manuals and sources for ports below PREFIX; DESTDIR is respected
	@DESTDIR=$(DESTDIR) mk/install.sh install $(BUILD) $(PREFIX) $(LIBDIR)

uninstall: install-parts ## remove what install put there
	@DESTDIR=$(DESTDIR) mk/install.sh uninstall $(BUILD) $(PREFIX) $(LIBDIR)

deb: ## make Debian packages of what install installs, in build/deb
	@mk/setup.sh build deb
	@$(MAKE) $(SYNC) install-parts
	@mk/deb.sh $(BUILD) $(BUILD)/deb "$(CC)"

install-parts: all
	@mk/man.sh $(BUILD)

docs: all ## write docs/options.md, and the keys in docs/report.md, from the programs' own tables
	@mk/docs.sh $(BUILD) >docs/options.md
	@mk/docs.sh $(BUILD) docs/report.md >$(BUILD)/report.md
	@mv $(BUILD)/report.md docs/report.md

# FIGURE: names in docs/figures; none: all, which takes some hours of processor time.
FIGURE ?=
docs-figures: all bench-programs ## draw the measured figures of README.md and docs/ again (FIGURE=NAME; mk/docs-figures.sh)
	@BUILD=$(BUILD) mk/docs-figures.sh $(FIGURE)
