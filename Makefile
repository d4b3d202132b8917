.PHONY: build test
build:
	cmake -S . -B build && cmake --build build -j
test: build
	ctest --test-dir build --output-on-failure
