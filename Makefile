# Build, run and test. `make help` lists the targets.

GO      ?= go
BINARY  := bin/causeway
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
DATA    ?= .causeway
TOOL    := $(GO) tool -modfile=tools.mod

READERS  := hledger ledger bean-check xmllint pdftotext sshd pgbackrest
WEB_BROWSER := chromium-headless-shell
ALERTING := prometheus
PYTHON_TOOLS := python3-urllib3 python3-cryptography python3-setuptools python3-venv mypy
PROGRAMS := postgres gcc $(READERS) python3 $(PYTHON_TOOLS) node npm $(WEB_BROWSER) $(ALERTING)

BUILDFLAGS := -ldflags "-w -X main.version=$(VERSION) -X main.commit=$(COMMIT)"

# Go's version-control stamp fails in a work tree of another user. VERSION replaces it. All targets build with the same
# flags, so that each package is compiled once: as the image is built, without C, with which each start of the program spends 15 ms
# more on tables of secp256k1; and without what debuggers read, which takes the compiler a tenth and the linker a third of its time.
# The race detector needs C.
export GOFLAGS += -buildvcs=false -trimpath -gcflags=all=-dwarf=false
export CGO_ENABLED ?= 0

# lint has all checks of vet, which tests would repeat on every package and its dependencies: two minutes of CPU.
TESTFLAGS := -vet=off -timeout 60m

# Packages without goroutines, in themselves and in their tests; the operations, whose tests send one request after the other, but for
# repeated ones, which unit-race tests; the simulation, which lets one goroutine run at a time; and the commands, each of which is a process of its own. The race
# detector makes them five to twenty times slower; it sees their code in the tests of the packages that use them, and what the operations
# and the commands use in its own.
WITHOUT_RACE := ./core/... ./ledger/... ./adapters/documentfiles ./adapters/http/api ./app/internal/simulation ./app/causeway/...

.DEFAULT_GOAL := help

# The groups of the unit and adapter tests.
UNIT := unit-plain unit-clients unit-deploy unit-race

# The compiler, the linter and the tests have memory, and take a tenth less of the processor if they collect garbage less often.
lint $(UNIT) e2e: export GOGC ?= 400

.PHONY: run build clients clients-uncommitted test lint unit $(UNIT) e2e faults failover latest lightning upgrade bench docs fmt clean help announce needs-postgres needs-gcc needs-readers needs-python needs-node needs-clients needs-evm needs-browser needs-prometheus needs-failover screenshots

run: needs-postgres build ## Build, then serve http://localhost:8080 with a private Postgres
	exec $(BINARY) dev --data $(DATA)

build: ## Build bin/causeway
	$(GO) build $(BUILDFLAGS) -o $(BINARY) ./app/causeway

clients: clients-uncommitted ## Generate and build the clients in clients/ from the description of the API
	generator=$$($(TOOL) -n oapi-codegen) && cd clients/go && "$$generator" -config api/config.yaml -o api/api.gen.go ../openapi.json

# What the tests use, without the generated package in Go, which is committed, and of which a test says whether it is current.
clients-uncommitted: build needs-clients
	$(BINARY) openapi >clients/openapi.json
	cp LICENSE clients/typescript/ && cp LICENSE clients/python/
	cd clients/typescript && npm run -s generate ../openapi.json && npm run -s build
	cd clients/python && /usr/bin/python3 generate.py ../openapi.json

test: announce needs-postgres needs-gcc needs-readers needs-python needs-node needs-evm needs-browser needs-prometheus lint unit e2e ## Lint, unit, adapter and end-to-end tests

# With the flags of the tests, so that both compile each package and its tests once.
lint: needs-gcc ## Lint and check the formatting
	linter=$$($(TOOL) -n golangci-lint) && CGO_ENABLED=1 GOFLAGS="$(GOFLAGS) -race" "$$linter" run && cd clients/go && "$$linter" run && \
		cd ../../deploy/check && "$$linter" run

unit: needs-postgres needs-gcc needs-readers needs-evm needs-prometheus ## Unit and adapter tests, with the race detector
	@$(MAKE) --no-print-directory --keep-going $(UNIT)

unit-plain:
	$(GO) test $(TESTFLAGS) $(WITHOUT_RACE)

unit-clients:
	cd clients/go && $(GO) test $(TESTFLAGS) ./...

unit-deploy:
	cd deploy/check && $(GO) test $(TESTFLAGS) ./...

# Most tests wait for Postgres or another process: four packages at once keep two cores busy. Each would sleep for a second at its end.
unit-race:
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) ./adapters/http/api -run Idempotency
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=100 $(GO) test -race $(TESTFLAGS) -p 4 $$($(GO) list ./... | grep -v '^causeway/e2e' | grep -vxF "$$($(GO) list $(WITHOUT_RACE))")

# These tests wait for processes two thirds of the time: eight at once keep two cores busy. Those with a browser compute more, and follow.
e2e: needs-postgres needs-readers needs-python needs-node needs-evm needs-browser needs-prometheus build clients-uncommitted ## Tests that drive the real binary
	cd clients/typescript && npm test -s
	cd clients/python && mypy && PYTHONPATH=src /usr/bin/python3 -m unittest discover -s tests
	CAUSEWAY_BIN=$(abspath $(BINARY)) $(GO) test -count=1 $(TESTFLAGS) -parallel 8 $$($(GO) list ./e2e/... | grep -v '/browser$$')
	CAUSEWAY_BIN=$(abspath $(BINARY)) $(GO) test -count=1 $(TESTFLAGS) -parallel 4 ./e2e/browser

faults: needs-postgres needs-gcc build ## Long tests: payments while things fail, reports of any kind, 100,000 generated requests, a simulation of 1,000,000 steps, the newest generators
	SIMULATION_STEPS=1000000 $(GO) test -count=1 -timeout 30m -v ./app/internal/simulation
	$(GO) test -count=1 -timeout 30m -v ./adapters/rails/bankfile ./adapters/rails/lightning ./adapters/rails/partner -run 'Any|OrderOfFiles' -rapid.checks=1000
	CAUSEWAY_BIN=$(abspath $(BINARY)) FAULT_ROUNDS=20 $(GO) test -count=1 -timeout 60m -v ./e2e/faults
	CAUSEWAY_BIN=$(abspath $(BINARY)) FUZZ_REQUESTS=100000 $(GO) test -count=1 -timeout 60m -v ./e2e -run TestFuzz
	$(MAKE) latest

# openapi-typescript needs TypeScript 5. What is written here is thrown away: the versions that CI runs are in tools.mod and e2e/node.
LATEST := $(abspath bin/latest)

latest: needs-postgres build ## Lint the descriptions and generate clients with the newest releases of the programs for that
	@.ci/need node npm
	rm -rf $(LATEST) && mkdir -p $(LATEST)/node && cp tools.mod tools.sum $(LATEST)/ && cp e2e/node/package*.json $(LATEST)/node/
	$(GO) get -modfile=$(LATEST)/tools.mod -tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@latest
	$(GO) get -modfile=$(LATEST)/tools.mod -tool github.com/ogen-go/ogen/cmd/ogen@latest
	cd $(LATEST)/node && npm install --ignore-scripts --no-audit --no-fund --fetch-retries 5 \
		@redocly/cli@latest @stoplight/spectral-cli@latest openapi-typescript@latest openapi-fetch@latest typescript@5
	CAUSEWAY_BIN=$(abspath $(BINARY)) CAUSEWAY_TEST_TOOLS=$(LATEST)/tools.mod CAUSEWAY_TEST_MODULES=$(LATEST)/node/node_modules \
		$(GO) test -count=1 -timeout 20m -v ./e2e -run 'TestDescription_|TestPartnerDescription_'

# FAILOVER_FAILURES=kill-primary,cut-primary makes these alone, and FAILOVER_SEED repeats a run. As root, each server has a network and
# a disk of its own, which the failures need that other users leave out.
FAILOVER_ROUNDS ?= 10

failover: needs-postgres needs-failover build ## Drill: payments by two processes while three Postgres servers with Patroni fail at random
	CAUSEWAY_BIN=$(abspath $(BINARY)) FAILOVER_ROUNDS=$(FAILOVER_ROUNDS) $(GO) test -count=1 -timeout 60m -v ./e2e/faults -run TestFailover_Drill

# The last commit before the first migration that follows the baseline: a program with the baseline alone. Once there is a
# release, EARLIER=<its tag> runs that one beside this program.
EARLIER ?= $$(git log --diff-filter=A --format=%H -- migrations/00019_versions_of_customers.sql | tail -1)^

# LND builds as a main module from a copy without the lines that replace its own parts by folders. A release has more tags.
LIGHTNING := $(abspath bin/lightning)

lightning: needs-postgres $(LIGHTNING)/lnd $(LIGHTNING)/btcd ## Payments between two nodes of LND on a chain of btcd, which it builds first
	LIGHTNING_PROGRAMS=$(LIGHTNING) $(GO) test -count=1 -timeout 15m -v ./adapters/rails/lightning -run TestSimnet

$(LIGHTNING)/lnd:
	source=$$(mktemp -d) && trap 'chmod -R u+w "$$source"; rm -rf "$$source"' EXIT && \
		cp -r "$$($(GO) mod download -json github.com/lightningnetwork/lnd@v0.18.5-beta | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/." "$$source" && \
		chmod -R u+w "$$source" && cd "$$source" && sed -i '/=> \.\//d' go.mod && \
		CGO_ENABLED=0 $(GO) build -mod=mod -tags invoicesrpc -o $@ ./cmd/lnd

$(LIGHTNING)/btcd:
	GOBIN=$(LIGHTNING) CGO_ENABLED=0 $(GO) install github.com/btcsuite/btcd@v0.24.2

upgrade: needs-postgres build ## Run an earlier release, built from the git history, beside this one; record its data for the upgrade test
	source=$$(mktemp -d) && trap 'rm -rf "$$source"' EXIT && git archive $(EARLIER) | tar -x -C "$$source" && \
		cd "$$source" && $(GO) build -o $(abspath bin/earlier) ./app/causeway
	CAUSEWAY_BIN=$(abspath $(BINARY)) $(GO) test -count=1 -timeout 10m -v ./e2e -run TestUpgrade -earlier $(abspath bin/earlier)

bench: needs-postgres needs-evm build ## Measure the performance and write docs/benchmarks.md
	CAUSEWAY_BIN=$(abspath $(BINARY)) $(GO) run ./e2e/bench

screenshots: needs-postgres needs-node needs-browser build ## Write the pictures of the documentation, docs/images
	CAUSEWAY_SCREENSHOTS=$(abspath docs/images) CAUSEWAY_BIN=$(abspath $(BINARY)) $(GO) test -count=1 ./e2e/browser

docs: ## Write docs/configuration.md from the settings in the code, and docs/packages.md from the comments of the packages
	$(GO) test -count=1 ./app/causeway -run TestConfigurationDoc -update
	$(GO) test -count=1 ./app/causeway/layers -run TestPackagesDoc -update

fmt: ## Format all Go files
	$(TOOL) golangci-lint fmt

clean: ## Remove the build output (not the data)
	rm -rf bin

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

announce:
	@echo "make test takes about twenty minutes on two cores, the first time with its tools to build. It is not interactive."
	@echo "It downloads Go modules and npm packages, and installs these Debian packages if they are missing:"
	@.ci/need --list $(PROGRAMS)

needs-postgres:
	@.ci/need postgres

needs-gcc:
	@.ci/need gcc

# The programs with which the tests of the exports read them, and the SFTP server of those of bank files.
needs-readers:
	@.ci/need $(READERS)

# The sidecar of a partner with which the end-to-end tests move money.
needs-python:
	@.ci/need python3

# The browser in which the tests use the pages of verifications.
needs-browser:
	@.ci/need $(WEB_BROWSER)

# The Prometheus with which the tests try the alerts, with promtool.
needs-prometheus:
	@.ci/need $(ALERTING)

# The programs with which servers of Postgres fail over. Debian may start etcd and HAProxy; the drill starts others, elsewhere.
needs-failover:
	@.ci/need patroni etcd haproxy ip

# The npm packages of the end-to-end tests: linters and generators for the API description,
# the libraries with which webhooks are verified, a client of the Model Context Protocol, and a
# checker of the accessibility of pages.
needs-node: e2e/node/node_modules
	@.ci/need node

# The npm packages of the client in TypeScript, and of its generator and tests; and what that in Python imports.
needs-clients: clients/typescript/node_modules
	@.ci/need node $(PYTHON_TOOLS)

# The node, the compiler and the token contract with which the tests of adapters/rails/evm move stablecoins.
needs-evm: adapters/rails/evm/node/node_modules
	@.ci/need node

%/node_modules: %/package-lock.json
	@.ci/need node npm
	cd $* && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 5
	touch $@
