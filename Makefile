# comb is built with PGXS. `make help` lists what else there is; those targets need only Debian and make.

# The folder of this file. In a VPATH build, `make -f PATH/Makefile`, it is not the folder of the build.
here := $(dir $(lastword $(MAKEFILE_LIST)))
listed = $(patsubst $(here)%,%,$(wildcard $(addprefix $(here),$(1))))

EXTENSION = comb
MODULE_big = comb
# Each folder of src/pg is a room.
rooms = $(patsubst %/,%,$(sort $(dir $(call listed,src/pg/*.cpp src/pg/*/*.cpp))))
OBJS = $(patsubst %.cpp,%.o,$(call listed,$(addsuffix /*.cpp,$(rooms))))
DATA = $(call listed,sql/comb--*.sql)
# comb.control alone has the version.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(here)comb.control)
# The scripts of the SQL flavour, with an update from each earlier version, which has no hyphen in its name.
versions = $(patsubst sql/comb--%.sql,%,$(DATA))
earlier = $(foreach v,$(versions),$(if $(findstring -,$(v)),,$(filter-out $(EXTVERSION),$(v))))
DATA_built = $(addprefix generated/comb,--$(EXTVERSION)-sql.sql --$(EXTVERSION)-sql--$(EXTVERSION)-moving.sql \
  --$(EXTVERSION)-moving--$(EXTVERSION)-moved.sql --$(EXTVERSION)-moved--$(EXTVERSION).sql \
  --$(EXTVERSION)-adopt.sql --$(EXTVERSION)-adopt.control --$(EXTVERSION)-adopt--$(EXTVERSION)-moved.sql \
  $(foreach v,$(earlier),--$(v)-sql--$(EXTVERSION)-sql.sql) -tle.sql .sql)
HEADERS_comb = $(call listed,src/core/comb/*.hpp)
REGRESS = $(patsubst test/sql/%.sql,%,$(call listed,test/sql/*.sql))
EXTRA_CLEAN = generated build test/simulate/run comb_tail comb_tail.1
REGRESS_OPTS = --inputdir=$(here)test --load-extension=comb

PG_CONFIG ?= pg_config
# The server's headers are for C and older C++, so they come in as a system's, for which compilers give no warnings.
PG_CPPFLAGS = -isystem $(shell $(PG_CONFIG) --includedir-server) -I$(here)src/core -I$(here)src/pg \
  -DCOMB_VERSION='"$(EXTVERSION)"'
PG_CXXFLAGS = -std=c++20 -Wall -Wextra -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden
# Paths in debug information and messages start at the source, so that builds in all folders are the same.
short_paths = -ffile-prefix-map=$(abspath $(here))=. -ffile-prefix-map=$(CURDIR)=.
PG_CXXFLAGS += $(short_paths)
# With link-time optimization, as on Ubuntu, the linker compiles too, with these flags.
PG_CFLAGS = $(short_paths)

# comb_tail needs the headers of libpq, of PG_CONFIG or pkg-config, and no server.
tail_files = comb_tail comb_tail.1
libpq_in = $(if $(wildcard $(1)/libpq-fe.h),-I$(1) -L$(2) $(if $(filter /usr/lib%,$(2)),,-Wl,-rpath=$(2)) -lpq)
libpq_folder = $(shell $(PG_CONFIG) --$(1) 2>/dev/null)
libpq_flags := $(call libpq_in,$(call libpq_folder,includedir),$(call libpq_folder,libdir))
libpq_flags := $(or $(libpq_flags),$(shell pkg-config --cflags --libs libpq 2>/dev/null))

# PGXS sets it only if the server was not built in the folder of its source.
VPATH = $(here)
PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))
ifdef PGXS
include $(PGXS)
# PGXS compiles bitcode without PG_CXXFLAGS.
BITCODE_CXXFLAGS += $(PG_CXXFLAGS)

headers = $(HEADERS_comb) $(call listed,$(addsuffix /*.hpp,$(rooms)))
$(OBJS) $(OBJS:.o=.bc): $(addprefix $(here),Makefile $(headers)) | $(addprefix $(CURDIR)/,$(rooms))
$(addprefix $(CURDIR)/,$(rooms)):
	mkdir -p $@

# Without libpq's headers, the library is built alone.
ifneq ($(libpq_flags),)
all: $(tail_files)
install: install-comb_tail
uninstall: uninstall-comb_tail
endif

# One run of the generator writes all of them.
$(firstword $(DATA_built)): $(addprefix $(here)sql/,comb--$(EXTVERSION).sql flavour/generate) \
  $(wildcard $(here)sql/flavour/*.sql) $(addprefix $(here)src/core/comb/,layout.hpp encoding.hpp)
	$(here)sql/flavour/generate $(EXTVERSION) $(@D)
$(wordlist 2,99,$(DATA_built)): $(firstword $(DATA_built)) ;


ifdef VPATH
# pg_regress looks for expected/ where it runs.
installcheck: expected-link
.PHONY: expected-link
expected-link:
	[ -e expected ] || ln -s $(abspath $(here))/expected expected
endif
else
all install installcheck clean:
	@echo "$(PG_CONFIG) names no PostgreSQL server to build for." >&2
	@echo "Install its headers (Debian: postgresql-server-dev-NN), or give PG_CONFIG=/path/to/pg_config." >&2
	@exit 1
endif

# ---- programs that need no server ----------------------------------------------------------------------------------

# The flags of PGXS that are for the library alone are left out.
comb_tail: $(addprefix $(here),$(call listed,src/tail/*pp))
	$(CXX) $(or $(filter-out $(PG_CXXFLAGS),$(CXXFLAGS)),-O2) -std=c++20 -Wall -Wextra $(short_paths) \
	  -DCOMB_VERSION='"$(EXTVERSION)"' $(LDFLAGS) -o $@ $(filter %.cpp,$^) $(or $(libpq_flags),-lpq)
comb_tail.1: $(addprefix $(here)src/tail/,manual help.hpp)
	$^ >$@

bindir ?= /usr/local/bin
mandir ?= /usr/local/share/man
.PHONY: install-comb_tail uninstall-comb_tail
install-comb_tail: $(tail_files) ## installs comb_tail alone, on a machine without a server
	mkdir -p '$(DESTDIR)$(bindir)' '$(DESTDIR)$(mandir)/man1'
	install -m 755 comb_tail '$(DESTDIR)$(bindir)'
	install -m 644 comb_tail.1 '$(DESTDIR)$(mandir)/man1'
uninstall-comb_tail:
	rm -f '$(DESTDIR)$(bindir)/comb_tail' '$(DESTDIR)$(mandir)/man1/comb_tail.1'

# unit_tests FOLDER,FLAGS: the rules for the unit tests, in a folder. GoogleTest is compiled ahead, because reading it
# takes longer than the tests. Those of build/unit-quick are built in the shortest time.
define unit_tests
$(1)/run: $(patsubst test/unit/%.cpp,$(1)/%.o,$(call listed,test/unit/*.cpp))
	$(CXX) $(2) -o $$@ $$^ -lgtest -lgtest_main -pthread
$(1)/%.o: $(here)test/unit/%.cpp $(1)/ahead.hpp.gch
	$(CXX) $(unit_flags) $(2) -MMD -MP -I$(here)src/core -include $(1)/ahead.hpp -c -o $$@ $$<
$(1)/ahead.hpp.gch: $(here)Makefile
	mkdir -p $(1)
	echo '#include <gtest/gtest.h>' >$(1)/ahead.hpp
	$(CXX) $(unit_flags) $(2) -x c++-header -o $$@ $(1)/ahead.hpp
-include $(wildcard $(1)/*.d)
endef
unit_flags = -std=c++20 -Wall -Wextra
$(eval $(call unit_tests,build/unit,-O2 -g))
$(eval $(call unit_tests,build/unit-quick,-Og))
$(eval $(call unit_tests,build/unit-sanitized,-O2 -g -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all))

test/simulate/run: $(addprefix $(here),$(HEADERS_comb) $(call listed,test/simulate/*pp))
	$(CXX) -std=c++20 -O2 -g -Wall -Wextra -U_FORTIFY_SOURCE -I$(here)src/core -o $@ $(filter %.cpp,$^)

# ---- what developers run -------------------------------------------------------------------------------------------

.PHONY: help
help: ## lists the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(here)Makefile | expand -t 16

# tools/install-deps installs what a target needs and the machine lacks; tools/sandbox runs it in a throwaway copy of
# the tree and of the server. With exec, tools/sandbox receives the signal that ends make.
sandbox = @$(here)tools/install-deps $@ $(T) && exec env $(1) $(here)tools/sandbox
.PHONY: demo test soak test-clients bench fuzz
demo: ## shows comb on a table of a million orders (KEEP=1 leaves the server running; ROWS=10000 makes a smaller table)
	$(call sandbox) env KEEP=$(KEEP) ROWS=$(ROWS) tools/demo
# Some tests begin with what the last run built, which `make clean` removes. Those that need no server run in the tree.
test: ## runs all tests, or some: T=shard (test/sql), T=test/t/011_clock.pl, T=unit
ifneq ($(filter-out unit simulate mutants,$(or $(T),all)),)
	$(call sandbox,$(if $(T),REUSE=build/sandbox)) test/suite $(T)
else
	@$(here)tools/install-deps $@ $(T) && cd $(here) && mkdir -p build && SANDBOX=$(abspath $(here))/build test/suite $(T)
endif
# Servers with assertions are kept in build/. 00 and 07 test other things than what the library relies on.
asserts = build/pgsql-$(if $(ASAN),asan,asserts)
asserted = $(notdir $(call listed,test/sql/*.sql test/t/0[1-6]*.pl))
# Processes that end leave memory allocated, PostgreSQL measures the depth of the real stack, and tests preload
# libraries.
asan = ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:verify_asan_link_order=0:abort_on_error=1
options = $(foreach v,SECONDS SEED ROWS QUERIES,$(if $($(v)),$(v)=$($(v))))
.PHONY: test-asserts
test-asserts: ## runs tests on a PostgreSQL with assertions, which it builds (T=shard, ASAN=1: AddressSanitizer)
	@$(here)tools/install-deps $@ $(T) && ASAN=$(ASAN) $(here)tools/assert-server $(here)$(asserts) && \
	  exec env $(asan) PG_CONFIG=$(here)$(asserts)/bin/pg_config REUSE=$(asserts)-sandbox $(here)tools/sandbox \
	  env $(asan) $(options) test/suite $(or $(T),$(asserted))
# The tests that notice most in a room, the fastest first.
mutants_in_watermark = guard watermark 036_watermark_of_tables 026_statements 023_watermark_set_back
mutants_in_changes = log log_rights touch 027_log
mutants_in_order = sequence guard watermark 036_watermark_of_tables 014_sequence_outlives_extension \
  019_order_over_restarts
room = $(firstword $(subst /, ,$(or $(IN),watermark)))
.PHONY: test-mutants
test-mutants: ## runs tests on changes of lines of src/pg (IN=watermark/guard.cpp, N=20 at random, TEXT='if (', T=guard)
	$(call sandbox) env N=$(N) SEED=$(SEED) TEXT='$(TEXT)' \
	  test/mutants src/pg/$(or $(IN),watermark) $(or $(T),$(mutants_in_$(room)))
walks = $(notdir $(call listed,$(patsubst %,test/t/0%_*.pl,16 20 29 34 35 37)))
seconds = $(or $(SECONDS),600)
rows = $(or $(ROWS),1000000)
soak: ## simulates and walks through what can break the order of ids (SECONDS=600, ROWS=1000000, SEED=1 repeats a walk)
	$(call sandbox) env SECONDS=$(seconds) SEED=$(SEED) PREEMPTIONS=3 SIMULATE=$(seconds) HISTORIES=0 ROWS=$(rows) \
	  test/suite simulate mutants $(walks) 072_sql_flavour_watermark 073_sql_flavour_random \
	  079_sql_flavour_tables
	@$(MAKE) --no-print-directory test-asserts SECONDS=$(seconds) ROWS=$(rows) T="$(walks)"
test-clients: ## runs the examples of doc/clients.md with drivers, ORMs and schema tools of Debian and npm (C=pgx: some)
	$(call sandbox) test/clients/run $(C)
fuzz: ## gives the core a minute of random input
	$(call sandbox) test/fuzz/run

.PHONY: test-core
test-core: ## runs the regression tests of PostgreSQL itself without and with comb, and compares the results
	$(call sandbox) tools/core-suite

# The Debian release that has PostgreSQL $(1).
release_of = $(shell sed -n 's/ $(1)$$//p' $(here)tools/releases)

# With PG, in the Debian release that has that version, in a folder; needs root. CACHE=/folder keeps the release for the
# next time. The data is in /var/tmp, because /tmp may be in memory.
bench_release = $(or $(call release_of,$(PG)),\
  $(error No Debian release with PostgreSQL $(PG) is known; tools/releases has those that are))
PAGE ?= benchmarks$(if $(QUICK),-quick)
bench_result = BRING="doc/$(PAGE).md doc/$(PAGE)"
bench: ## measures, and writes doc/benchmarks.md (QUICK=1: a trial of five minutes; PG=18: in a folder, as root)
ifdef PG
	@$(bench_result) $(here)tools/in-release $(bench_release) make bench QUICK=$(QUICK) PAGE=$(PAGE) JUDGE=no
	@$(judge)
else
	$(call sandbox,$(bench_result) TMPDIR=$${TMPDIR:-/var/tmp}) env QUICK=$(QUICK) PAGE=$(PAGE) test/bench/run
	@$(if $(JUDGE),,$(judge))
endif
# The page is there even if a goal is not met.
judge = echo "The page is doc/$(PAGE).md. Goals, and cases that were too noisy:"; cat $(here)doc/$(PAGE)/goals.log; \
  ! grep -q '^not met' $(here)doc/$(PAGE)/goals.log

.PHONY: lint
lint: ## checks the form of the sources with the tools of Debian 12
	@$(here)tools/install-deps $@ && $(here)tools/lint

.PHONY: test-all
test-all: ## runs `make test` on every supported version, each in a Debian release of its own (as root)
	@$(here)tools/all-versions

# The packages are written to packages/CODENAME. PG=17 builds for one version.
deb_releases = $(if $(PG),$(bench_release),$(shell sed -n 's/^\([a-z]*\) [0-9]*$$/\1/p' $(here)tools/releases))
.PHONY: deb
deb: ## builds Debian packages, each in the release of its version, and tries them (as root)
	@mkdir -p packages
	@for release in $(deb_releases); do \
	  BRING=packages/$$release $(here)tools/in-release $$release tools/deb || exit 1; done

.PHONY: test-rpm
test-rpm: ## builds an RPM package for the server of the machine, and tries its files
	$(call sandbox) tools/rpm

.PHONY: test-arm64
test-arm64: ## runs the unit tests and a server with the regression tests on emulated arm64
	@$(here)tools/install-deps $@
	@$(here)tools/emulated aarch64
	@$(here)tools/sandbox tools/arm64

.PHONY: test-container
test-container: ## builds the image of Dockerfile with buildah, and generates an id in it (as root)
	@$(here)tools/container

# The distribution has the same bytes on every machine, so it is neither compressed nor in local time.
distribution = $(EXTENSION)-$(EXTVERSION).0
.PHONY: dist test-dist
dist: ## writes the distribution for PGXN, comb.sql and comb-tle.sql, from the commit that is checked out
	TZ=UTC git -C $(abspath $(here)) archive -0 --format=zip --prefix=$(distribution)/ \
	  -o $(CURDIR)/$(distribution).zip HEAD
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  git -C $(abspath $(here)) archive HEAD sql src | tar -C "$$folder" -xf - && \
	  "$$folder/sql/flavour/generate" $(EXTVERSION) "$$folder" && cp "$$folder"/comb.sql "$$folder"/comb-tle.sql $(CURDIR)
test-dist: dist ## writes it from a clone too and compares, installs, checks and removes it (as root)
	@clone=$$(mktemp -d) && trap 'rm -rf "$$clone"' EXIT && git clone -q $(abspath $(here)) "$$clone" && \
	  TZ=Asia/Tokyo $(MAKE) -s -C "$$clone" dist && cmp "$$clone/$(distribution).zip" $(distribution).zip && \
	  cmp "$$clone/comb.sql" comb.sql && cmp "$$clone/comb-tle.sql" comb-tle.sql
	@$(here)tools/in-release $(firstword $(deb_releases)) tools/dist $(distribution).zip

.PHONY: release-check
release-check: ## goes through the checklist of a release, which tools/release-check begins with (as root)
	@$(here)tools/release-check
