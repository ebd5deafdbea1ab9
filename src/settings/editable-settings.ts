// The settings that a person may change from the dashboard: amounts, times and choices. Settings that name programs, folders or secrets
// are changed in the file or with `passrail config set`, because a stolen session must not plant a program there.

import { WORKSPACE_MODES } from "../core/flow/workspace-mode.ts";
import { MERGE_MODES } from "./merge.ts";

export type SettingKind =
  | { readonly type: "usd" | "count" | "duration" | "name" }
  | { readonly type: "choice"; readonly options: readonly string[] }
  | { readonly type: "switch" };

/** When a change takes effect: at once, for runs that are started from then on, or after a restart of the daemon. */
export type SettingEffect = "now" | "next-run" | "restart";

export type EditableSetting = {
  /** The key in passrail.yaml, with dots. */
  readonly name: string;
  readonly about: string;
  readonly kind: SettingKind;
  readonly effect: SettingEffect;
  /** Whether `none` removes the limit. */
  readonly mayBeNone: boolean;
};

type Row = readonly [name: string, about: string, kind: SettingKind, effect: SettingEffect];

const budget = (scope: string, of: string): readonly Row[] => [
  [`budgets.${scope}.usd`, `What ${of} may cost, in dollars.`, { type: "usd" }, "now"],
  [`budgets.${scope}.tokens`, `What ${of} may use, in tokens.`, { type: "count" }, "now"],
];
const choice = (...options: readonly string[]): SettingKind => ({ type: "choice", options });

const ROWS: readonly Row[] = [
  ...budget("run", "one run"),
  ...budget("ticket", "one ticket, over all of its runs,"),
  ...budget("day", "a day (UTC), over everything,"),
  ["slots", "How many attempts may work at once, 1 to 100.", { type: "count" }, "restart"],
  [
    "runner",
    "The program that plays agents without a choice of their own.",
    choice("claude", "codex", "gemini", "opencode"),
    "next-run",
  ],
  ["model", "The model of agents without a choice of their own.", { type: "name" }, "next-run"],
  ["workspace", "Where agents work; by default each flow decides.", choice(...WORKSPACE_MODES), "next-run"],
  ["limits.*.total", "How long an attempt may take, such as 45m.", { type: "duration" }, "next-run"],
  ["limits.*.idle", "How long an attempt may be silent, such as 10m.", { type: "duration" }, "next-run"],
  ["verdict_repair", "Whether Passrail asks once more when it cannot read a verdict.", { type: "switch" }, "next-run"],
  [
    "check_cache",
    "Whether a check's result counts for later checks of the same files.",
    choice("on", "off"),
    "next-run",
  ],
  ["merge.mode", "Whether finished work is merged or proposed as a pull request.", choice(...MERGE_MODES), "restart"],
  ["merge.strategy", "How work is combined with newer commits.", choice("rebase", "merge"), "restart"],
  ["merge.delete_branch", "Whether a branch is removed after its work has landed.", { type: "switch" }, "restart"],
  ["tickets.dispatch", "Whether the daemon starts tickets automatically.", { type: "switch" }, "restart"],
  ["tickets.flow", "The flow of tickets that name none.", { type: "name" }, "restart"],
  ["heartbeat.stalled_after", "When a run without a sign of life counts as stalled.", { type: "duration" }, "restart"],
];

export const EDITABLE_SETTINGS: readonly EditableSetting[] = ROWS.map(([name, about, kind, effect]) => ({
  name,
  about,
  kind,
  effect,
  mayBeNone: name.startsWith("budgets."),
}));

export function editableSetting(name: string): EditableSetting | undefined {
  return EDITABLE_SETTINGS.find((each) => each.name === name);
}
