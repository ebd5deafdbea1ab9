// Removes secrets from programs' texts before they are stored: events, live stream, later prompts, notices and pull
// requests get them from there. A person's own words, the ticket and the request of a run stay as they were written.

import type { Report } from "../flow/outcome.ts";
import { redactJson } from "../secrets/redact-json.ts";
import { stripAnsi } from "../secrets/strip-ansi.ts";
import type { OutwardSight } from "./outward-act.ts";
import type { SignalBody } from "./signal.ts";

export function cleanSignal(body: SignalBody, redact: (text: string) => string): SignalBody {
  if (body.type === "attempt.finished") return { ...body, report: cleanReport(body.report, redact) };
  if (body.type === "attempt.interrupted" || body.type === "attempt.held")
    return { ...body, cause: redact(body.cause) };
  if (body.type === "attempt.spent") return { ...body, reported: redactJson(body.reported, redact) };
  if (body.type === "permission.requested") return { ...body, tool: redact(body.tool), what: redact(body.what) };
  // As in the report that may end the attempt with it: there it is recognised by its text.
  if (body.type === "question.requested") return { ...body, question: redact(stripAnsi(body.question)) };
  if (body.type === "warning.noticed") return { ...body, message: redact(body.message) };
  if (body.type === "handoff.expired" || body.type === "attempt.silent")
    return { ...body, reason: redact(body.reason) };
  if (body.type === "handback.settled") return { ...body, work: redactJson(body.work, redact) };
  if (body.type === "handback.failed" || body.type === "takeover.failed")
    return { ...body, reason: redact(body.reason) };
  if (body.type === "outward.intended") return { ...body, branch: redact(body.branch), target: redact(body.target) };
  if (body.type === "discard.requested") return { ...body, branch: redact(body.branch) };
  if (body.type === "outward.seen") return { ...body, sight: cleanSight(body.sight, redact) };
  return body;
}

/** The remote's own words: addresses of pull requests, and messages of servers and hooks. */
function cleanSight(sight: OutwardSight, redact: (text: string) => string): OutwardSight {
  if (sight.result === "not-done") return { ...sight, why: redact(stripAnsi(sight.why)) };
  return { ...sight, url: sight.url === null ? null : redact(sight.url) };
}

/** Every text loses its terminal codes first: without them the two halves of a key become one. */
function cleanReport(report: Report, redact: (text: string) => string): Report {
  return redactJson(report, (text) => redact(stripAnsi(text)));
}
