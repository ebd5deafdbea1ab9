// One try to send one notice to one endpoint: as an HTTP message in the endpoint's format, or to the operator's program.

import type { Resolve } from "./address.ts";
import { runCommand } from "./command.ts";
import type { NoticeDelivery } from "./deliveries.ts";
import type { Endpoint } from "./endpoint.ts";
import { webhookMessage } from "./message.ts";
import { send, type SendOutcome } from "./send.ts";
import { headersOf } from "./sign.ts";

export type NoticeSending = {
  /** The page that shows the subject of the notice. */
  readonly link: string | null;
  readonly nowMs: number;
  readonly resolve: Resolve;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

export function sendNotice(
  endpoint: Endpoint,
  { id, notice, queuedAt }: Pick<NoticeDelivery, "id" | "notice" | "queuedAt">,
  { link, nowMs, resolve, timeoutMs, signal }: NoticeSending,
): Promise<SendOutcome> {
  if (endpoint.format === "command") return runCommand(endpoint.argv, { ...notice, link }, { timeoutMs, signal });
  const { url, body } = webhookMessage(endpoint, notice, { at: queuedAt, link });
  const headers = headersOf(endpoint, id, body, nowMs);
  return send({ url, headers, body, permissions: endpoint, ca: endpoint.ca }, { resolve, timeoutMs, signal });
}
