/* SPDX-License-Identifier: BSD-3-Clause */
/* Query pools: timestamps. */
#include <stdlib.h>
#include <string.h>

#include "nulldriver/instance.h"
#include "nulldriver/queue.h"

VkResult nd_CreateQueryPool(VkDevice device, const VkQueryPoolCreateInfo *info, const VkAllocationCallbacks *host,
                            VkQueryPool *out) {
  (void)host;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_CreateQueryPool, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  if (info->queryType != VK_QUERY_TYPE_TIMESTAMP || info->queryCount == 0) {
    nd_violation(call.name, "%u queries of type %d; this driver knows timestamps", info->queryCount,
                 (int)info->queryType);
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  nd_query *const queries = calloc(info->queryCount, sizeof(*queries));
  nd_query_pool *const pool =
      d == NULL || queries == NULL ? NULL : nd_object_create(NULLDRIVER_QUERY_POOL, sizeof(*pool), d);
  if (pool == NULL) {
    free(queries);
    return nd_leave(&call, VK_ERROR_OUT_OF_HOST_MEMORY);
  }
  pool->count = info->queryCount;
  pool->queries = queries;
  *out = ND_HANDLE(VkQueryPool, pool);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_query_pool_finish(nd_query_pool *pool) {
  free(pool->queries);
}

void nd_DestroyQueryPool(VkDevice device, VkQueryPool pool, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_DestroyQueryPool, device, NULLDRIVER_QUERY_POOL, ND_NUMBER(pool));
}

void nd_ResetQueryPool(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count) {
  nd_call call;
  (void)nd_enter(&call, ND_ResetQueryPool, 0, 0);
  const nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_query_pool *const p = nd_object_find(call.name, NULLDRIVER_QUERY_POOL, ND_NUMBER(pool));
  if (d != NULL && !d->host_query_reset) {
    nd_violation(call.name, "the device was made without hostQueryReset");
  }
  if (p != NULL && (first >= p->count || count > p->count - first)) {
    nd_violation(call.name, "%u queries from %u of a pool of %u", count, first, p->count);
  } else if (p != NULL) {
    for (uint32_t i = first; i < first + count; ++i) {
      if (p->queries[i].in_flight != 0) {
        nd_violation(call.name, "query %u is reset in flight", i);
      } else {
        p->queries[i].state = ND_QUERY_RESET;
      }
    }
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

/* Queries that are asked for. */
typedef struct range {
  const nd_query_pool *pool;
  uint32_t first, count;
} range;

static bool all_written(void *context) {
  const range *const r = context;
  for (uint32_t i = 0; i < r->count; ++i) {
    if (r->pool->queries[r->first + i].state != ND_QUERY_WRITTEN) {
      return false;
    }
  }
  return true;
}

/* Writes one query's value, or its availability. */
static void put(unsigned char *to, uint64_t value, VkQueryResultFlags flags) {
  const uint32_t narrow = (uint32_t)value;
  if ((flags & VK_QUERY_RESULT_64_BIT) != 0) {
    memcpy(to, &value, sizeof(value));
  } else {
    memcpy(to, &narrow, sizeof(narrow));
  }
}

VkResult nd_GetQueryPoolResults(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count, size_t size,
                                void *out, VkDeviceSize stride, VkQueryResultFlags flags) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_GetQueryPoolResults, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_query_pool *const p = nd_object_find(call.name, NULLDRIVER_QUERY_POOL, ND_NUMBER(pool));
  if (d == NULL || p == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  const size_t width = (flags & VK_QUERY_RESULT_64_BIT) != 0 ? 8 : 4;
  const size_t each = (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT) != 0 ? 2 * width : width;
  range asked = {.pool = p, .first = first, .count = count};
  if (count == 0 || first >= p->count || count > p->count - first || size < (count - 1) * stride + each) {
    nd_violation(call.name, "%u queries from %u of a pool of %u, into %zu bytes", count, first, p->count, size);
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  for (uint32_t i = first; i < first + count; ++i) {
    if (p->queries[i].state == ND_QUERY_UNKNOWN) {
      nd_violation(call.name, "query %u was never reset", i);
    }
  }
  if ((flags & VK_QUERY_RESULT_WAIT_BIT) != 0) {
    nd_object_use(&p->object);
    const VkResult waited = nd_wait(d, all_written, &asked, UINT64_MAX);
    nd_object_unuse(&p->object);
    if (waited != VK_SUCCESS) {
      return nd_leave(&call, waited);
    }
  } else {
    nd_look(d);
  }
  if (d->lost) {
    return nd_leave(&call, nd_device_lost(d));
  }
  for (uint32_t i = 0; i < count; ++i) {
    const nd_query *const query = &p->queries[first + i];
    unsigned char *const to = (unsigned char *)out + i * stride;
    const bool written = query->state == ND_QUERY_WRITTEN;
    if (written) {
      put(to, query->value, flags);
    }
    if ((flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT) != 0) {
      put(to + width, written ? 1 : 0, flags);
    }
  }
  return nd_leave(&call, all_written(&asked) ? VK_SUCCESS : VK_NOT_READY);
}
