# comb is built with PGXS. `make demo` and `make test` need nothing but Debian and make: they set up all else.

# The folder of this file: elsewhere than the build when it is run as `make -f PATH/Makefile` (a VPATH build).
here := $(dir $(lastword $(MAKEFILE_LIST)))
listed = $(patsubst $(here)%,%,$(wildcard $(here)$(1)))

EXTENSION = comb
MODULE_big = comb
OBJS = $(patsubst %.cpp,%.o,$(call listed,src/pg/*.cpp))
DATA = $(call listed,sql/comb--*.sql)
HEADERS_comb = $(call listed,src/core/comb/*.hpp)
REGRESS = $(patsubst test/sql/%.sql,%,$(call listed,test/sql/*.sql))
REGRESS_OPTS = --inputdir=$(here)test --load-extension=comb

# comb.control alone has the version.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(here)comb.control)

PG_CONFIG ?= pg_config
# The server's headers are for C and older C++, so they come in as a system's, for which compilers give no warnings.
PG_CPPFLAGS = -isystem $(shell $(PG_CONFIG) --includedir-server) -I$(here)src/core -DCOMB_VERSION='"$(EXTVERSION)"'
PG_CXXFLAGS = -std=c++20 -Wall -Wextra -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden
# Every folder gives the same library: paths in debug information and messages start at the source.
PG_CXXFLAGS += -ffile-prefix-map=$(abspath $(here))=. -ffile-prefix-map=$(CURDIR)=.

PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))
ifdef PGXS
include $(PGXS)
# PGXS compiles bitcode without PG_CXXFLAGS.
BITCODE_CXXFLAGS += $(PG_CXXFLAGS)

$(OBJS) $(OBJS:.o=.bc): $(addprefix $(here),$(HEADERS_comb) $(call listed,src/pg/*.hpp)) | $(CURDIR)/src/pg
$(CURDIR)/src/pg:
	mkdir -p $@

test/unit/run test/unit/run-sanitized: $(addprefix $(here),$(HEADERS_comb) $(call listed,test/unit/*.cpp))
	$(CXX) -std=c++20 -O2 -g $(SANITIZE) -Wall -Wextra -I$(here)src/core -o $@ $(filter %.cpp,$^) -lgtest -lgtest_main -pthread
test/unit/run-sanitized: SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all
EXTRA_CLEAN = test/unit/run test/unit/run-sanitized

ifdef VPATH
# pg_regress looks for expected/ where it runs.
installcheck: expected-link
.PHONY: expected-link
expected-link:
	[ -e expected ] || ln -s $(abspath $(here))/expected expected
endif
else
all install installcheck clean:
	@echo "$(PG_CONFIG) names no PostgreSQL server to build for. Install its headers (Debian: postgresql-server-dev-NN)," >&2
	@echo "or give PG_CONFIG=/path/to/pg_config." >&2
	@exit 1
endif

# On a throwaway copy of the server, removed at the end; test/sandbox installs what is missing.
.PHONY: demo test bench fuzz
demo test fuzz:
	@$(here)test/sandbox $@

# `make bench PG=18` runs in the Debian release that has that version, in a folder; needs root. CACHE=/folder
# keeps the release for the next time.
bench_release = $(or $(release_$(PG)),$(error No Debian release with PostgreSQL $(PG) is known; PG can be 15, 17 or 18))
release_15 = bookworm
release_17 = trixie
release_18 = forky
bench_page = benchmarks$(PG:%=-%)$(if $(QUICK),-quick)
bench:
ifdef PG
	@BRING="doc/$(bench_page).md doc/$(bench_page)" $(here)test/in-release $(bench_release) make bench QUICK=$(QUICK) PAGE=$(bench_page)
else
	@PAGE=$(or $(PAGE),$(bench_page)) $(here)test/sandbox bench
endif

# `make test` on every supported version, each in a Debian release of its own; needs root.
.PHONY: test-all
test-all:
	@$(here)test/all-versions

# Debian packages for every supported release, built and tried in a folder of its own; needs root. They are written to
# packages/CODENAME. `make deb PG=17` builds for one.
deb_releases = $(if $(PG),$(bench_release),$(release_15) $(release_17) $(release_18))
.PHONY: deb
deb:
	@mkdir -p packages
	@for release in $(deb_releases); do BRING=packages/$$release $(here)test/in-release $$release test/deb || exit 1; done

# Unit tests, and a whole server with the regression tests, on emulated arm64. Packages that are missing are installed.
.PHONY: test-arm64
test-arm64:
	@$(here)test/emulated aarch64
	@$(here)test/sandbox arm64

# The distribution for PGXN, from the commit that is checked out: the same bytes on every machine, so neither compressed
# nor in local time. `make test-dist` writes it
# from a clone as well and compares, and installs it with PGXN's client in a Debian release; needs root.
distribution = $(EXTENSION)-$(EXTVERSION).0
.PHONY: dist test-dist
dist:
	TZ=UTC git -C $(abspath $(here)) archive -0 --format=zip --prefix=$(distribution)/ -o $(CURDIR)/$(distribution).zip HEAD
test-dist: dist
	@clone=$$(mktemp -d) && trap 'rm -rf "$$clone"' EXIT && git clone -q $(abspath $(here)) "$$clone" && \
	  TZ=Asia/Tokyo $(MAKE) -s -C "$$clone" dist && cmp "$$clone/$(distribution).zip" $(distribution).zip
	@$(here)test/in-release $(release_15) test/dist $(distribution).zip
