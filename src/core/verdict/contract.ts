// A flow's requirements for a report beyond its form: keys of a payload (003), a list of tickets that can be written (004). Only a pass is
// checked: work that is sent back or in trouble needs none of them.

import type { Flow, WorkStage } from "../flow/flow.ts";
import type { Findings } from "../finding/finding.ts";
import { reviewFault } from "../finding/review.ts";
import { judge } from "./judge.ts";
import type { JsonObject } from "../json.ts";
import { type Heard, type Report, routeKey } from "../flow/outcome.ts";
import { readTicketList } from "../ticket/new-ticket.ts";
import type { Result } from "../result.ts";
import type { Unreadable } from "./reading.ts";

/** A report, why it was unreadable, if it was, and every channel that spoke. */
export type ReportReading = {
  readonly report: Report;
  readonly unreadable?: Unreadable;
  readonly heard?: readonly Heard[];
};

export type ContractContext = {
  readonly flow: Flow;
  readonly stage: WorkStage;
  readonly readYaml: (text: string) => Result<unknown>;
  /** The findings of the run before this attempt; absent if there are none. */
  readonly findings?: Findings;
};

export function checkContract(context: ContractContext, reading: ReportReading): ReportReading {
  const { flow, stage } = context;
  const { report } = reading;
  if (reading.unreadable !== undefined) return reading;
  const outcome = judge(flow.words, stage, report);
  const fault =
    stage.findings === undefined ? undefined : reviewFault(stage.findings, stage.id, context.findings, outcome);
  if (fault !== undefined) return refuse(report, fault.code, fault.message);
  if (routeKey(outcome) !== "pass") return reading;
  if (stage.payload.length > 0) return checkPayload(stage, report);
  const writesTickets = flow.stages.some((next) => next.kind === "builtin" && next.agent === "write-tickets");
  return stage.result.from === "prefix" && writesTickets ? checkTickets(context, report) : reading;
}

/** The findings of a stage's contract about the payload of passed work. */
export type PayloadProblems = { readonly refused?: string; readonly warnings: readonly string[] };

/** A missing listed key gives a warning. One that says `false` (`build_passes`, `approved`) contradicts passing the work on. */
export function payloadProblems(
  stage: Pick<WorkStage, "payload">,
  payload: JsonObject | null | undefined,
): PayloadProblems {
  const given: JsonObject = payload ?? {};
  const valueOf = (key: string) => (Object.hasOwn(given, key) ? given[key] : undefined);
  const denied = stage.payload.filter((key) => valueOf(key) === false);
  if (denied.length > 0) {
    return { refused: `the work is passed on, but its payload says ${denied.join(", ")}: false`, warnings: [] };
  }
  const missing = stage.payload.filter((key) => valueOf(key) === undefined);
  const warnings = missing.length === 0 ? [] : [`payload_key_missing: the payload has no ${missing.join(", ")}`];
  return { warnings };
}

function checkPayload(stage: WorkStage, report: Report): ReportReading {
  const { refused, warnings } = payloadProblems(stage, report.payload);
  if (refused !== undefined) return refuse(report, "payload_refused", refused);
  return warnings.length === 0
    ? { report }
    : { report: { ...report, warnings: [...(report.warnings ?? []), ...warnings] } };
}

/** Checked here as well as when they are written, because here the agent can still be asked to repeat them. */
function checkTickets(context: ContractContext, report: Report): ReportReading {
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
