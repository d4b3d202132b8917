# Two commands to start with, on a fresh Debian machine:
#     make demo    installs missing packages, builds, solves two bundled instances and draws them
#     make test    the same, then runs every test: release, sanitizers, second compiler, fuzzers
# Then: make install [PREFIX=/usr/local] [DESTDIR=]   make package   make wheel   make format   make clean
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)

MAKEFLAGS += --no-print-directory

.PHONY: all build demo test quick install package wheel format clean
all: build

$(BUILD)/CMakeCache.txt:
	@scripts/setup build
	@cmake -S . -B $(BUILD) --log-level=WARNING -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DINVIT_TESTS=OFF

build: $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) -j $(JOBS)

demo: build
	@scripts/demo $(BUILD)/invit

test:
	@scripts/setup test
	@JOBS=$(JOBS) scripts/test all

# The release tests alone, in a minute.
quick:
	@scripts/setup test
	@JOBS=$(JOBS) scripts/test release

install:
	@scripts/setup build
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)

package:
	@scripts/setup package
	@cmake -S . -B $(BUILD)-package --log-level=WARNING -DCMAKE_INSTALL_PREFIX=/usr -DINVIT_TESTS=OFF -DINVIT_MPI=OFF
	@cmake --build $(BUILD)-package -j $(JOBS)
	@cd $(BUILD)-package && cpack -G DEB && ls -l invit_*.deb

# The Python package with the library inside, for this kind of machine.
wheel:
	@scripts/setup wheel
	@cmake -S . -B $(BUILD)-wheel --log-level=WARNING -DINVIT_TESTS=OFF -DINVIT_MPI=OFF
	@cmake --build $(BUILD)-wheel -j $(JOBS) --target invit_shared
	@rm -rf $(BUILD)-wheel/python && cp -r python $(BUILD)-wheel/python
	@cp -L $(BUILD)-wheel/libinvit.so $(BUILD)-wheel/python/invit/
	@cd $(BUILD)-wheel && python3 -m pip wheel --quiet --no-deps --no-build-isolation -w . \
	    --config-settings=--build-option=--plat-name=linux_$$(uname -m) ./python && ls -l invit-*.whl

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf $(BUILD) $(BUILD)-*
