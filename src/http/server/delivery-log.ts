// What the server knows of whoever sends notices: the log as the wire shows it, and what can be done about it.

import type { z } from "zod";
import type { deliverySchema, endpointSchema } from "../contract/schemas/delivery.ts";
import type { Result } from "../../core/result.ts";

export type SentDelivery = Readonly<z.infer<typeof deliverySchema>>;
export type EndpointState = Readonly<z.infer<typeof endpointSchema>>;

export type DeliveryLog = {
  /** Newest first. */
  deliveries(): readonly SentDelivery[];
  endpoints(): readonly EndpointState[];
  redeliver(id: string): Promise<Result<SentDelivery>>;
  sendTest(endpoint: string): Promise<Result<SentDelivery>>;
  enable(endpoint: string): Promise<Result<null>>;
};
