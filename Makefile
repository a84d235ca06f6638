# Build, run and test. `make help` lists what there is.

GO      ?= go
BINARY  := bin/causeway
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
DATA    ?= .causeway
TOOL    := $(GO) tool -modfile=tools.mod

BUILDFLAGS := -trimpath -ldflags "-X main.version=$(VERSION)"

# No version-control stamp by Go: it fails in a work tree that another user owns,
# and the version above says as much.
export GOFLAGS += -buildvcs=false

.DEFAULT_GOAL := help
.PHONY: run build test lint unit e2e bench fmt clean help needs-postgres needs-gcc needs-readers

run: needs-postgres build ## Build, then serve on http://localhost:8080 with a Postgres of its own
	exec $(BINARY) dev --data $(DATA)

build: ## Build bin/causeway
	$(GO) build $(BUILDFLAGS) -o $(BINARY) ./app/causeway

test: lint unit e2e ## Everything that must hold: lint, unit, adapter and end-to-end tests

lint: ## Vet, lint and check the formatting
	$(TOOL) golangci-lint run

unit: needs-postgres needs-gcc needs-readers ## Unit and adapter tests, with the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 10m $$($(GO) list ./... | grep -v '^causeway/e2e')

e2e: needs-postgres build ## Tests that drive the real binary
	CAUSEWAY_BIN=$(abspath $(BINARY)) $(GO) test -count=1 -timeout 10m ./e2e/...

bench: needs-postgres build ## Measure the service beside pgbench, and write docs/benchmarks.md
	CAUSEWAY_BIN=$(abspath $(BINARY)) $(GO) run ./e2e/bench

fmt: ## Format all Go files
	$(TOOL) golangci-lint fmt

clean: ## Remove what was built (data stays)
	rm -rf bin

help: ## This list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

needs-postgres:
	@.ci/need postgres

needs-gcc:
	@.ci/need gcc

# What other programs make of our exports, those programs say.
needs-readers:
	@.ci/need hledger ledger bean-check xmllint pdftotext
