FUZZTIME ?= 30s
PKG      ?= .
RUN      ?= .
N        ?= 10
BUSY     ?= 16
LINT     := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# each runs a command in every module without the workspace, as for those who import the module.
MODULES := $(sort $(dir $(shell find . -name go.mod)))
each     = for dir in $(MODULES); do echo "$$dir: $(1)"; (cd $$dir && export GOWORK=off && $(1)) || exit 1; done

.PHONY: help test test-long test-servers stress check lint test-386 fuzz bench bench-quick release-check release needs

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile

test: ## test every module on real databases with the race detector, in about 12 minutes; installs what is missing
	@go run ./internal/tools/testrun $(TESTRUN)

test-long: ## the tests that take long: hundreds of kills, random databases, long simulations; about 18 minutes
	@go run ./internal/tools/testrun -long

test-servers: ## the tests of databases on MySQL, newer MariaDB and PostgreSQL, PgBouncer and Galera; SNOW_TEST_SERVERS chooses some
	@go run ./internal/tools/testrun -servers

stress: export RUN := $(RUN)
stress: needs ## run the tests RUN of the folder PKG as often as N says, beside BUSY busy processes and a busy disk
	@red=0; for i in $$(seq $(N)); do \
		go run ./internal/tools/busy -n $(BUSY) sh -c 'cd $(PKG) && GOWORK=off SNOW_REQUIRE_DB=1 go test -race -count=1 -timeout=60m -run "$$RUN" .' || red=$$((red + 1)); \
	done; echo "$$red of $(N) runs failed"; [ $$red = 0 ]

check: ## the same without databases, the race detector and installing anything
	@$(call each,go vet ./... && SNOW_REQUIRE_DB= go test -short ./...)

lint: ## check the format and the rules of .golangci.yml in every module
	@unformatted=$$(gofmt -l .) && [ -z "$$unformatted" ] || { echo "gofmt is needed on:" $$unformatted; exit 1; }
	GOARCH=386 go vet . ./gormsnow ./internal/dbserver ./internal/protocol ./internal/registry ./internal/versioned ./sqlsnow/...
	GOOS=windows go vet ./...
	cd merge && export GOWORK=off && GOARCH=386 go vet ./... && GOOS=windows go vet ./...
	@$(call each,$(LINT) run)

test-386: ## the tests without databases where an int has 32 bits, in about 20 seconds
	GOARCH=386 go test -short . ./gormsnow/... ./internal/dbserver ./internal/protocol ./internal/registry ./internal/versioned ./sqlsnow/... ./httpsnow/... ./migrations/...
	cd merge && GOWORK=off GOARCH=386 go test -short ./...

fuzz: ## run each fuzz target for FUZZTIME
	@for file in $$(grep -rl --include='*_test.go' '^func Fuzz' .); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$file); do \
			(cd $$(dirname $$file) && GOWORK=off go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done; \
	done

bench: ## measure generators and primary keys beside others, in about 10 minutes; writes bench/RESULTS.md
	cd bench && GOWORK=off go run .

bench-quick: ## the same in a minute
	cd bench && GOWORK=off go run . -quick

release-check: ## look for what must not be in a release; FRESH=no leaves out the README's commands in a bare Debian (20 minutes)
	go run ./internal/tools/releasecheck
	@[ "$(FRESH)" = no ] || .ci/fresh-clone

release: ## build what a release of the command is downloaded as, into dist: archives, SBOMs, checksums
	go run ./internal/tools/release -out dist

needs: ## install the Debian packages that the tests need and that are missing
	@internal/testkit/dbtest/install.sh
