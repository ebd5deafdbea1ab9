// Sent notices and the outcome of each delivery.

import { z } from "zod";
import { time } from "./common.ts";

export const endpointName = z.string().regex(/^[a-z][a-z0-9-]{0,47}$/, "expected an endpoint's name");
export const deliveryId = z.string().regex(/^msg_[A-Za-z0-9_-]{10,40}$/, "expected a delivery's id");

export const deliverySchema = z
  .object({
    id: z.string().meta({ description: "the same at every try, and the webhook-id that the receiver sees" }),
    endpoint: z.string(),
    queuedAt: time,
    event: z.string(),
    runId: z.string(),
    item: z.string().nullable().meta({ description: "the inbox item that it is about" }),
    text: z.string(),
    status: z.enum(["pending", "delivered", "failed", "withdrawn"]),
    dueAt: time.nullable().meta({ description: "of the next try" }),
    tries: z.int(),
    history: z.array(z.object({ at: time, result: z.string() })).meta({ description: "the last tries, oldest first" }),
  })
  .meta({ id: "Delivery" });

export const deliveriesSchema = z.object({ deliveries: z.array(deliverySchema) });

export const endpointSchema = z
  .object({
    name: z.string(),
    format: z.enum(["standard", "slack", "ntfy", "command"]),
    disabled: z.boolean().meta({ description: "it answered 410; nothing is sent until it is enabled" }),
    pending: z.int(),
    failing: z.string().nullable().meta({ description: "why the last try failed" }),
  })
  .meta({ id: "Endpoint" });

export const endpointsSchema = z.object({ endpoints: z.array(endpointSchema) });
