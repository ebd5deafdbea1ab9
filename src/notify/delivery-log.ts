// The port of the delivery log for the server: the deliveries as the API shows them, and the operations on them.

import type { Result } from "../core/result.ts";

export type SentDelivery = {
  /** The same at every try, and the webhook-id that the receiver sees. */
  readonly id: string;
  readonly endpoint: string;
  readonly queuedAt: string;
  readonly event: string;
  readonly runId: string;
  /** The inbox item that it is about. */
  readonly item: string | null;
  readonly text: string;
  readonly status: "pending" | "delivered" | "failed" | "withdrawn";
  /** Time of the next try. */
  readonly dueAt: string | null;
  readonly tries: number;
  /** The last tries, oldest first. */
  readonly history: { readonly at: string; readonly result: string }[];
};

export type EndpointStatus = {
  readonly name: string;
  readonly format: "standard" | "slack" | "ntfy" | "command";
  /** It answered 410; Passrail sends nothing until a person enables it. */
  readonly disabled: boolean;
  readonly pending: number;
  /** Why the last try failed. */
  readonly failing: string | null;
};

export type DeliveryLog = {
  /** Newest first. */
  deliveries(): readonly SentDelivery[];
  endpoints(): readonly EndpointStatus[];
  redeliver(id: string): Promise<Result<SentDelivery>>;
  sendTest(endpoint: string): Promise<Result<SentDelivery>>;
  enable(endpoint: string): Promise<Result<null>>;
};
