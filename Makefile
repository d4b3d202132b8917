# Two commands to start with, on a fresh Debian machine:
#     make demo    installs missing packages, builds, solves two bundled instances and draws them
#     make test    installs what that needs, then every test: style, release, sanitizers, second compiler, interface, packages, browser, fuzzers
# Then: make install [PREFIX=/usr/local] [DESTDIR=]   make package   make wheel   make web   make torture   make soak   make format   make clean
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
PYTHON  ?= $(firstword $(wildcard /usr/bin/python3) python3)
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)

MAKEFLAGS += --no-print-directory
# The time in packages is that of the last commit: two builds of it give the same bytes.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1700000000)

.PHONY: all build demo test torture soak check quick install portable package wheel web format clean
all: build

# Only demo and test install packages; what a build misses, CMake names.
$(BUILD)/CMakeCache.txt:
	@cmake -S . -B $(BUILD) --log-level=WARNING -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DINVIT_TESTS=OFF || \
	    { echo "On Debian, scripts/setup installs what is missing."; rm -f $(BUILD)/CMakeCache.txt; exit 1; }

build: $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) -j $(JOBS)

demo:
	@scripts/setup build
	@$(MAKE) build
	@scripts/demo $(BUILD)/invit

test:
	@scripts/setup test
	@JOBS=$(JOBS) scripts/test all

# Every allocation and every write fails once, in turn, and long commands are killed: hours. docs/reliability.md
torture:
	@scripts/setup test
	@JOBS=$(JOBS) scripts/test torture

# An hour of hostile clients against a server, or SOAK_SECONDS: memory and descriptors stay flat. docs/reliability.md
soak: build
	@scripts/soak --build $(BUILD) --seconds $(or $(SOAK_SECONDS),3600)

# The tests of the release build alone, in a few minutes; quick is its old name.
check quick:
	@JOBS=$(JOBS) scripts/test release faults

install: $(BUILD)/CMakeCache.txt
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)

# What others get does not depend on MPI, and not on where it was built.
portable:
	@cmake --preset package --log-level=WARNING -B $(BUILD)-package

package: portable
	@cmake --build $(BUILD)-package -j $(JOBS)
	@cd $(BUILD)-package && cpack -G DEB && ls -l invit_*.deb

# The Python package with libraries and models inside, for this kind of machine.
wheel: portable
	@cmake --build $(BUILD)-package -j $(JOBS) --target invit_shared invit_lab_shared
	@PYTHON=$(PYTHON) scripts/make-wheel $(BUILD)-package

# The page without a server, as a folder for any static host: python3 -m http.server -d build-web
web:
	@scripts/setup web
	@JOBS=$(JOBS) scripts/make-web build-web

format:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cpp')

clean:
	rm -rf $(BUILD) $(BUILD)-*
