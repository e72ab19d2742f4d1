FUZZTIME ?= 30s
LINT     := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
SUDO     := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: help test check lint fuzz needs

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

test: needs ## vet and test every module with databases and the race detector; installs what is missing
	go vet work
	SNOW_REQUIRE_DB=1 go test -race work

check: ## the same without databases, the race detector and installing anything
	go vet work
	SNOW_REQUIRE_DB= go test -short work

lint: ## check the format and the rules of .golangci.yml in every module
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt is needed on:" $$unformatted; exit 1; }
	@bad=0; for dir in $$(go list -m -f '{{.Dir}}'); do echo "lint $$dir"; (cd "$$dir" && $(LINT) run) || bad=1; done; exit $$bad

fuzz: ## run each fuzz target for FUZZTIME
	@for package in $$(go list work); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

needs: ## install the Debian packages that the tests need and that are missing
	@PATH="$$PATH:/usr/sbin"; packages=; \
	{ command -v mariadbd && command -v mariadb-install-db; } >/dev/null || packages="$$packages mariadb-server-core"; \
	command -v mariadb >/dev/null || packages="$$packages mariadb-client-core"; \
	echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1 || packages="$$packages gcc libc6-dev"; \
	[ -n "$$packages" ] || exit 0; \
	command -v apt-get >/dev/null || { echo "Please install what Debian has in:$$packages"; exit 1; }; \
	echo "Installing what the tests need:$$packages"; \
	$(SUDO) apt-get update -q && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$packages
