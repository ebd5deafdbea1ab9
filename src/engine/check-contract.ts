// What a flow asks of a report beyond its form, before the work is passed on: keys of a payload (003), a list of tickets that can be
// written (004). Only a pass is checked: whoever sends work back or reports trouble owes none of it.

import { judge } from "../core/judge.ts";
import type { JsonObject } from "../core/json.ts";
import { type Report, routeKey } from "../core/outcome.ts";
import { readTicketList } from "../core/ticket-list.ts";
import type { ReadContext, ReportReading } from "./read-report.ts";

export function checkContract(context: ReadContext, reading: ReportReading): ReportReading {
  const { flow, stage } = context;
  const { report } = reading;
  if (reading.unreadable !== undefined || routeKey(judge(flow.words, stage, report)) !== "pass") return reading;
  if (stage.payload.length > 0) return checkPayload(stage.payload, report);
  const writesTickets = flow.stages.some((next) => next.kind === "builtin" && next.agent === "write-tickets");
  return stage.result.from === "prefix" && writesTickets ? checkTickets(context, report) : reading;
}

/** A listed key that is missing is worth a warning. One that says `false` (`build_passes`, `approved`) contradicts passing the work on. */
function checkPayload(keys: readonly string[], report: Report): ReportReading {
  const payload: JsonObject = report.payload ?? {};
  const denied = keys.filter((key) => payload[key] === false);
  if (denied.length > 0) {
    return refuse(report, "payload_refused", `the work is passed on, but its payload says ${denied.join(", ")}: false`);
  }
  const missing = keys.filter((key) => payload[key] === undefined);
  if (missing.length === 0) return { report };
  const warning = `payload_key_missing: the payload has no ${missing.join(", ")}`;
  return { report: { ...report, warnings: [...(report.warnings ?? []), warning] } };
}

/** Checked here and not only when they are written, because here the agent can still be asked to repeat them. */
function checkTickets(context: ReadContext, report: Report): ReportReading {
  const text = report.payload?.["text"];
  const yaml = context.readYaml(typeof text === "string" ? text : "");
  const tickets = yaml.ok ? readTicketList(yaml.value) : yaml;
  return tickets.ok ? { report } : refuse(report, tickets.error.code, tickets.error.message);
}

function refuse(report: Report, cause: string, message: string): ReportReading {
  return {
    report: { ...report, cause, reason: message },
    unreadable: { code: "verdict_field_invalid", message },
  };
}
