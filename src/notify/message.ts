// Formats a notice for Standard Webhooks, Slack or ntfy. Pure. Its words may come from an agent: they are sent as text, never as markup,
// and cut to the receivers' limits.

import { topicOf, type WebhookEndpoint } from "./endpoint.ts";
import type { Notice } from "./notify.ts";

export type WebhookMessage = { readonly url: string; readonly body: string };

/** Receivers may refuse more. */
const MAX_PAYLOAD_BYTES = 20_000;
/** Five bytes each at most, with Slack's escapes; ntfy turns more than 4096 into a file. */
const MAX_TEXT = 3000;
const MAX_NAME = 100;
const MAX_LINK = 1000;

/** The engine's names -> names that make sense without knowing the run. */
const EVENT_TYPES: Readonly<Record<string, string>> = {
  gate: "run.gate.requested",
  question: "run.question.asked",
  choice: "run.choice.requested",
  escalation: "run.escalation.raised",
  request: "run.answer.requested",
  budget: "run.budget.reached",
  "budget.low": "run.budget.neared",
  stopped: "run.stopped",
  completed: "run.completed",
  merge: "run.merge.awaited",
  blocked: "ticket.blocked",
  file: "project.file.broken",
  trust: "project.trust.awaited",
  report: "passrail.report",
  test: "passrail.test",
};

/** A flow's own word becomes `run.notice.<word>`. */
export function eventType(event: string): string {
  if (Object.hasOwn(EVENT_TYPES, event)) return EVENT_TYPES[event] ?? "";
  const word = event
    .slice(0, 60)
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, "_");
  return `run.notice.${word}`;
}

export function webhookMessage(
  endpoint: Pick<WebhookEndpoint, "format" | "url">,
  notice: Notice,
  { at, link: given }: { readonly at: string; readonly link: string | null },
): WebhookMessage {
  const text = plain(notice.text);
  const link = given === null || given.length > MAX_LINK ? null : given;
  const { url } = endpoint;
  switch (endpoint.format) {
    case "standard": {
      const { runId, to, event, item } = notice;
      const data = { run_id: runId, to: plain(to, MAX_NAME), event: plain(event, MAX_NAME), item, text, link };
      return { url, body: sized({ type: eventType(event), timestamp: at, data }) };
    }
    case "slack": {
      // An escaped text cannot call a channel or hide a link; without unfurling, Slack shows no preview that an agent chose.
      const words = link === null ? escapeForSlack(text) : `${escapeForSlack(text)}\n<${escapeForSlack(link)}>`;
      return { url, body: sized({ text: words, unfurl_links: false, unfurl_media: false }) };
    }
    case "ntfy": {
      const target = new URL(url);
      // As JSON to the root: headers would need encoding for line breaks and accents.
      const topic = topicOf(target) ?? "";
      const message = {
        topic,
        title: titleOf(notice),
        message: text,
        priority: notice.item === null ? 3 : 4,
        tags: [eventType(notice.event)],
        ...(link === null ? {} : { click: link }),
      };
      return { url: new URL("/", target).href, body: sized(message) };
    }
  }
}

function titleOf({ event, to, item }: Notice): string {
  const what = plain(event, MAX_NAME);
  return item === null ? `Passrail: ${what}` : `Passrail: ${what}, waiting for ${plain(to, MAX_NAME)}`;
}

function sized(payload: object): string {
  const body = JSON.stringify(payload);
  if (Buffer.byteLength(body) >= MAX_PAYLOAD_BYTES) throw new Error("A notice is larger than a webhook may be.");
  return body;
}

function escapeForSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** No colour codes, no characters that hide or reorder others; short enough. */
function plain(text: string, length: number = MAX_TEXT): string {
  const kept = text
    .slice(0, length * 2)
    .replaceAll("\r\n", "\n")
    .replaceAll(/\p{Cc}\[[0-9;:]{0,30}m/gu, "")
    .replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\ufffd")
    .toWellFormed();
  return kept.length <= length ? kept : `${kept.slice(0, length - 1).toWellFormed()}…`;
}
