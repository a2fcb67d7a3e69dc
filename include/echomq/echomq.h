// SPDX-License-Identifier: MIT
// Everything but the optional parts (echomq/json.h).
#pragma once

#include "echomq/acl.h"
#include "echomq/bulk.h"
#include "echomq/client.h"
#include "echomq/codec.h"
#include "echomq/connection.h"
#include "echomq/embedded.h"
#include "echomq/events.h"
#include "echomq/fence.h"
#include "echomq/id.h"
#include "echomq/job.h"
#include "echomq/keyspace.h"
#include "echomq/logs.h"
#include "echomq/options.h"
#include "echomq/page.h"
#include "echomq/queue.h"
#include "echomq/result.h"
#include "echomq/signals.h"
#include "echomq/version.h"
#include "echomq/worker.h"
#include "echomq/worker_info.h"
