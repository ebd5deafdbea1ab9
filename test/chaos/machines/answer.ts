// A person who answers whatever waits, on one node: approves gates, accepts escalations.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ClusterNode } from "./cluster.ts";

/** False if the node did not say what waits. */
export async function answerOn(node: ClusterNode, which: (stage: string) => boolean = () => true): Promise<boolean> {
  const token = readFileSync(join(node.home, "operator.token"), "utf8").trim();
  const ask = (
    path: string,
    more: { method?: string; body?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> =>
    fetch(`${node.url}${path}`, {
      ...more,
      signal: AbortSignal.timeout(3000),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...more.headers },
    });
  const inbox = (await (await ask("/api/inbox")).json()) as { items?: { id: string; kind: string; stage: string }[] };
  for (const { id, kind, stage } of inbox.items ?? []) {
    if (!which(stage)) continue;
    const shown = await ask(`/api/inbox/${id}`);
    const version = shown.headers.get("etag") ?? "";
    const answer = kind === "gate" ? "approve" : kind === "escalation" ? "accept" : "";
    const body = JSON.stringify({ answer, text: "go on" });
    await ask(`/api/inbox/${id}/answer`, { method: "POST", headers: { "if-match": version }, body });
  }
  return inbox.items !== undefined;
}
