// What the server knows of whoever sends notices: the log, and what can be done about it.

import type { Result } from "../core/result.ts";

export type SentDelivery = {
  readonly id: string;
  readonly endpoint: string;
  readonly queuedAt: string;
  readonly notice: {
    readonly runId: string;
    readonly event: string;
    readonly text: string;
    readonly item: string | null;
  };
  readonly tries: number;
  readonly history: readonly { readonly at: string; readonly result: string }[];
  readonly state:
    | { readonly status: "pending"; readonly dueAt: string }
    | { readonly status: "delivered" | "failed" | "withdrawn" };
};

export type DeliveryLog = {
  /** Oldest first. */
  deliveries(): readonly SentDelivery[];
  endpoints(): readonly {
    readonly name: string;
    readonly format: "standard" | "slack" | "ntfy" | "command";
    readonly disabled: boolean;
    readonly pending: number;
    readonly failing: string | null;
  }[];
  redeliver(id: string): Promise<Result<SentDelivery>>;
  sendTest(endpoint: string): Promise<Result<SentDelivery>>;
  enable(endpoint: string): Promise<Result<null>>;
};
