// PostgreSQL's headers, and what differs between its versions. No other file includes a header of the server.
#pragma once

extern "C" {
#include <postgres.h>

#include <access/htup_details.h>
#include <access/xact.h>
#include <access/xlog.h>
#include <access/xlogrecovery.h>
#include <common/file_perm.h>
#include <fmgr.h>
#include <funcapi.h>
#include <lib/stringinfo.h>
#include <miscadmin.h>
#include <storage/ipc.h>
#include <storage/lwlock.h>
#include <storage/shmem.h>
#include <utils/builtins.h>
#include <utils/guc.h>
#include <utils/rangetypes.h>
#include <utils/timestamp.h>
#include <utils/uuid.h>
}

// Declares a function that SQL can call, visible whatever -fvisibility says (PostgreSQL 15 leaves that to us).
#define COMB_FUNCTION(name)                                                        \
  extern "C" {                                                                     \
  __attribute__((visibility("default"))) Datum name(PG_FUNCTION_ARGS);             \
  __attribute__((visibility("default"))) const Pg_finfo_record* pg_finfo_##name(); \
  PG_FUNCTION_INFO_V1(name);                                                       \
  }                                                                                \
  Datum name([[maybe_unused]] PG_FUNCTION_ARGS)
