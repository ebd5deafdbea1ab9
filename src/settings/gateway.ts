// Whether agents ask their models through a gateway of Passrail's, and which other hosts they reach through it.

import { z } from "zod";
import { EGRESS_GROUPS, isEgressHost } from "../core/egress.ts";

/** `required`: an attempt whose program cannot be pointed at the gateway does not start. */
export const GATEWAY_MODES = ["off", "on", "required"] as const;
export type GatewayMode = (typeof GATEWAY_MODES)[number];

const host = z
  .string()
  .max(260)
  .refine((text) => Object.hasOwn(EGRESS_GROUPS, text) || isEgressHost(text), {
    message: `a name such as registry.npmjs.org, *.example.com or box.example:8443, or one of ${Object.keys(EGRESS_GROUPS).join(", ")}; no addresses`,
  });

export const gatewaySchema = z.strictObject({
  mode: z.enum(GATEWAY_MODES).optional(),
  /** Hosts besides those of the models; without it agents go their own way. An empty list allows none. */
  egress: z.array(host).max(200).optional(),
  /** Whether every request and answer is recorded with the attempt. */
  tape: z.enum(["on", "off"]).optional(),
  /** Names that may have an address of a private network. From the user's file only. */
  private: z.array(host).max(50).optional(),
});

export type WrittenGateway = z.infer<typeof gatewaySchema>;

export type GatewaySettings = {
  readonly mode: GatewayMode;
  readonly egress: readonly string[] | null;
  readonly private: readonly string[];
  readonly tape: "on" | "off";
};

/** Off: a further station on the way of every paid request is a choice. The nearer file wins key by key. */
export function gatewaySettings(files: readonly (WrittenGateway | undefined)[], mode: GatewayMode): GatewaySettings {
  const first = <K extends keyof WrittenGateway>(key: K): WrittenGateway[K] =>
    files.map((file) => file?.[key]).find((value) => value !== undefined);
  return { mode, egress: first("egress") ?? null, private: first("private") ?? [], tape: first("tape") ?? "on" };
}
