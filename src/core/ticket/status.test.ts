import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { isWork } from "../run/sequence.ts";
import {
  type ActionableStatus,
  inProgressStatus,
  isActionable,
  isIntervention,
  isTerminalStage,
  isTicketStatus,
  nextStatus,
  stagePromptMap,
  TICKET_STATUSES,
  type TicketStatus,
  unknownStatusMessage,
} from "./status.ts";

const ACTIONABLE: readonly ActionableStatus[] = [
  "Backlog",
  "Needs Research",
  "Needs Spec",
  "Needs Plan",
  "Needs Implement",
  "Needs Validate",
];
const others = (but: readonly TicketStatus[]) => TICKET_STATUSES.filter((status) => !but.includes(status));
const flow = shippedFlow("ticket");
const stages = flow.stages.filter(isWork);

test("R-004-01: there are exactly 18 statuses, and only these words are statuses", () => {
  expect(new Set(TICKET_STATUSES).size).toBe(18);
  for (const status of TICKET_STATUSES) expect(isTicketStatus(status)).toBe(true);
  for (const word of ["backlog", "Need Plan", "Needs", "", "toString", "Cancelled"])
    expect(isTicketStatus(word)).toBe(false);
  expect(unknownStatusMessage("Need Plan")).toMatch(/"Need Plan".*Backlog, Needs Research, .*, Done, Canceled$/u);
});

test("R-004-02: six statuses are actionable; Needs Human Review and Needs Human Decision are not", () => {
  expect(TICKET_STATUSES.filter(isActionable)).toEqual(ACTIONABLE);
  expect(isActionable("Needs Human Review")).toBe(false);
  expect(isActionable("Needs Human Decision")).toBe(false);
});

test("R-004-03: a status that starts has its in-progress word, Backlog that of its entry; the other 12 throw", () => {
  for (const status of ACTIONABLE.slice(1)) {
    expect(inProgressStatus(status)).toBe(`${status.slice("Needs ".length)} In Progress`);
    expect(inProgressStatus(status, "oneshot")).toBe(inProgressStatus(status));
  }
  expect(inProgressStatus("Backlog")).toBe("Research In Progress");
  expect(inProgressStatus("Backlog", "research")).toBe("Research In Progress");
  expect(inProgressStatus("Backlog", "oneshot")).toBe("Oneshot In Progress");
  expect(others(ACTIONABLE)).toHaveLength(12);
  for (const status of others(ACTIONABLE)) expect(() => inProgressStatus(status)).toThrow(status);
});

test("R-004-04: a stage that passed leads to the next status; a status in which nothing works throws", () => {
  const next: Partial<Record<TicketStatus, TicketStatus>> = {
    "Research In Progress": "Needs Spec",
    "Spec In Progress": "Needs Plan",
    "Plan In Progress": "Needs Implement",
    "Implement In Progress": "Needs Validate",
    "Validate In Progress": "Done",
    "Oneshot In Progress": "Done",
  };
  for (const status of TICKET_STATUSES) {
    if (next[status] === undefined) expect(() => nextStatus(status)).toThrow(status);
    else expect(nextStatus(status)).toBe(next[status]);
  }
});

test("R-004-05: every actionable status has a prompt, and every prompt is shipped", () => {
  expect(Object.keys(stagePromptMap)).toEqual(ACTIONABLE);
  const isShipped = (name: string) => existsSync(join(import.meta.dirname, "../../../prompts", `${name}.md`));
  expect(Object.values(stagePromptMap).filter((name) => !isShipped(name))).toEqual([]);
});

test("R-004-06: the terminal stage is validate, and a person intervenes at three words", () => {
  expect(TICKET_STATUSES.filter(isTerminalStage)).toEqual(["Needs Validate", "Validate In Progress"]);
  expect(TICKET_STATUSES.filter(isIntervention)).toEqual(["Blocked", "Needs Human Review", "Needs Human Decision"]);
});

test("R-004-07: the flow and the table of statuses say the same", () => {
  expect(Object.keys(flow.enter)).toEqual(ACTIONABLE);
  for (const status of ACTIONABLE) {
    const rules = flow.enter[status] ?? [];
    const entered = stages.find(({ id }) => id === rules.at(-1)?.stage);
    expect(entered?.promptFile).toBe(stagePromptMap[status]);
    expect(entered?.status.running).toBe(inProgressStatus(status));
    if (status !== "Backlog") expect(entered?.status.ready).toBe(status);
  }
  const oneshot = stages.find(({ id }) => id === flow.enter["Backlog"]?.[0]?.stage);
  expect(oneshot?.status.running).toBe(inProgressStatus("Backlog", "oneshot"));
  // Stages after validate deliver the work; the source has no stage for that.
  const walk = stages.filter(
    (stage) => stage.promptFile !== undefined && stage.sameWorkspaceAs === undefined && !stage.enterOnly,
  );
  for (const [index, stage] of walk.entries()) {
    const running = stage.status.running as TicketStatus;
    expect(nextStatus(running)).toBe(walk[index + 1]?.status.ready ?? flow.words.status.completed);
    expect(isTerminalStage(running)).toBe(index === walk.length - 1);
  }
  const shown = [...Object.values(flow.words.status), ...stages.flatMap(({ status }) => Object.values(status))];
  expect(shown.filter((word) => !isTicketStatus(word))).toEqual([]);
  expect(flow.pick?.skip).toEqual(TICKET_STATUSES.filter(isIntervention));
});
