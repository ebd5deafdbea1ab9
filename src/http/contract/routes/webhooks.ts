// The log of sent notices, and their endpoints. Inbound deliveries are signed and not in this table.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { limit } from "../schemas/common.ts";
import {
  deliveriesSchema,
  deliveryId,
  deliverySchema,
  endpointName,
  endpointSchema,
  endpointsSchema,
} from "../schemas/delivery.ts";

const none = z.strictObject({});
const endpoint = z.strictObject({ endpoint: endpointName });

export const WEBHOOK_ROUTES = {
  listDeliveries: {
    method: "get",
    path: "/api/deliveries",
    scope: "read",
    tag: "notifications",
    summary: "Notifications that were sent, newest first",
    query: z.strictObject({ limit, endpoint: endpointName.optional() }),
    answer: json(deliveriesSchema, "the last of them"),
    problems: ["invalid_query"],
  },
  redeliver: {
    method: "post",
    path: "/api/deliveries/{delivery}/redeliver",
    scope: "operate",
    tag: "notifications",
    summary: "Send a notification again with the same id",
    params: z.strictObject({ delivery: deliveryId }),
    body: none,
    headers: ["Idempotency-Key"],
    repeat: "refuse",
    answer: json(deliverySchema, "it is sent soon", 202),
    problems: [
      "delivery_not_found",
      "delivery_running",
      "endpoint_not_found",
      "endpoint_disabled",
      "idempotency_key_reused",
      "idempotency_key_spent",
    ],
  },
  listEndpoints: {
    method: "get",
    path: "/api/endpoints",
    scope: "read",
    tag: "notifications",
    summary: "Endpoints of notifications, and whether deliveries arrive",
    answer: json(endpointsSchema, "all of them"),
    problems: [],
  },
  testEndpoint: {
    method: "post",
    path: "/api/endpoints/{endpoint}/test",
    scope: "operate",
    tag: "notifications",
    summary: "Send a test notification",
    params: endpoint,
    body: none,
    headers: ["Idempotency-Key"],
    repeat: "refuse",
    answer: json(deliverySchema, "it is sent soon", 202),
    problems: ["endpoint_not_found", "endpoint_disabled", "idempotency_key_reused", "idempotency_key_spent"],
  },
  enableEndpoint: {
    method: "post",
    path: "/api/endpoints/{endpoint}/enable",
    scope: "operate",
    tag: "notifications",
    summary: "Enable an endpoint again that answered 410",
    params: endpoint,
    body: none,
    headers: ["Idempotency-Key"],
    answer: json(endpointSchema, "how it is now"),
    problems: ["endpoint_not_found", "idempotency_key_reused"],
  },
} as const satisfies ApiRoutes;
