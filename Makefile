# The chores of the project. `make` alone lists them.
#
# What is built lies outside the clone, so that the next clone on the same machine finds it:
# $BASALT_TARGET_DIR, or $BASALT_CACHE/target, or ~/.cache/basalt/target.

SHELL := /bin/bash
BASALT_CACHE ?= $(HOME)/.cache/basalt
BASALT_TARGET_DIR ?= $(BASALT_CACHE)/target
CARGO_TARGET_DIR ?= $(BASALT_TARGET_DIR)
export BASALT_CACHE CARGO_TARGET_DIR

# One profile and one set of features for everything: DataFusion is compiled once.
BUILD := --release --workspace
# `make -s` stays silent while it builds, too.
QUIET := $(if $(findstring s,$(firstword -$(MAKEFLAGS))),--quiet)
BINARY = $(abspath $(CARGO_TARGET_DIR))/release/basalt

.DEFAULT_GOAL := help
.PHONY: help binary demo test check fmt tidy clippy aarch64 without-llvm bench record fuzz build require-rust

help: ## list these targets
	@echo 'make demo is the first thing to try. All targets:'
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo 'Compiled code goes to $(CARGO_TARGET_DIR) (set BASALT_TARGET_DIR to change it).'

demo: build ## build, generate 10 million taxi trips and 1 million page views, query them
	@demo/run.sh '$(BINARY)'

test: require-rust ## run all tests
	if crates/jit/install_llvm.sh; then export BASALT_REQUIRE_LLVM=1; fi; cargo test $(BUILD) $(QUIET)

check: fmt tidy clippy aarch64 without-llvm ## check format, house rules and lints, changing nothing

binary: build ## build the release binary if needed; the last line is its path
	@echo '$(BINARY)'

build: require-rust
	@cargo build $(BUILD) --bins $(QUIET)

bench: build ## run the benchmark queries beside the peers; BENCH='--rows 1' and so on
	benchmarks/setup.sh
	benchmarks/run.py '$(BINARY)' $(BENCH)

record: require-rust ## take the expected output of the SQL tests from ClickHouse again
	cargo xtask record $(FILES)

fuzz: require-rust ## fuzz the front end and the codecs for FUZZ_SECONDS a target (60), with cargo-fuzz
	@fuzz/run.sh $(or $(FUZZ_SECONDS),60)

fmt: require-rust
	cargo fmt --all --check

tidy: require-rust
	cargo xtask tidy

clippy: require-rust
	cargo clippy $(BUILD) --all-targets $(QUIET) -- -D warnings

# Crates with instructions of x86-64 that compile for another processor without a C compiler for it.
aarch64: TARGET := aarch64-unknown-linux-gnu
aarch64: require-rust
	@if ! command -v rustup >/dev/null; then \
		echo 'rustup is missing: not checked for aarch64'; \
	elif ! { rustup target list --installed | grep -qx $(TARGET) || rustup target add $(TARGET); }; then \
		echo 'rustup has no $(TARGET) here: not checked for aarch64'; \
	else \
		cargo clippy --release --target $(TARGET) -p basalt-adapt -p basalt-kernels -p basalt-hashtable --all-targets $(QUIET) -- -D warnings; \
	fi

# Nothing else is built without it, as DataFusion would be compiled once more.
without-llvm: require-rust
	cargo check --release -p basalt-jit --no-default-features --all-targets $(QUIET)

require-rust:
	@command -v cargo >/dev/null || { echo 'cargo is missing: install the Rust toolchain from https://rustup.rs' >&2; exit 1; }
	@command -v cc >/dev/null || { echo 'cc is missing: install a C compiler (Debian: apt-get install gcc)' >&2; exit 1; }
