// Lands the work of a run over several repositories: one after the other, each like the work of any run. If one cannot
// land, the later ones wait, and the message names those that have landed. A second try finds those in their targets.

import type { CheckResult } from "../../core/flow/check-result.ts";
import type { Issue, Report } from "../../core/flow/outcome.ts";
import { memberName } from "../../core/run/joint.ts";
import { type LandedMember, landedPayload, landedRecord, partPayload } from "../../core/ticket/landed.ts";
import type { Approved } from "./record.ts";

/** One repository's part of the approved work. */
export type MemberPart = Approved & {
  readonly dir: string;
  /** The branch that was its base when the run began; null if nothing said which. */
  readonly target: string | null;
};

export async function landEach(
  work: Approved,
  parts: readonly MemberPart[],
  land: (part: MemberPart) => Promise<Report>,
): Promise<Report> {
  const landed: LandedMember[] = [];
  const done: { readonly part: MemberPart; readonly report: Report }[] = [];
  for (const [at, part] of parts.entries()) {
    const report = await land(part);
    const where = whereOf(part, report);
    if (where === undefined) return stopped(report, part, landed, parts.slice(at + 1));
    landed.push(where);
    done.push({ part, report });
  }
  const how = done.some(({ report }) => report.word === "pushed") ? "push" : "land";
  const targets = [...new Set(landed.map(({ target }) => target))].join(", ");
  const lines = done.map(({ part, report }) => `${memberName(part.dir)}: ${report.summary ?? ""}`);
  const checks = done.flatMap(({ report }): readonly CheckResult[] => report.checks ?? []);
  const warnings = done.flatMap(({ report }) => report.warnings ?? []);
  const { branch, commit } = work;
  const record = { commit, approved: commit, branch, target: targets === "" ? "-" : targets, how, pr: null } as const;
  return {
    structured: true,
    verdict: "pass",
    word: how === "push" ? "pushed" : "landed",
    summary: lines.length === 0 ? "No repository has changes to land." : lines.join(" "),
    payload: landedPayload({ ...record, repositories: landed }),
    ...(checks.length === 0 ? {} : { checks }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** Undefined unless the report says where the work is. */
function whereOf({ dir }: MemberPart, report: Report): LandedMember | undefined {
  if (report.verdict !== "pass" || report.cause !== undefined) return undefined;
  const found = landedRecord([{ endedAt: "", outcome: { payload: report.payload ?? null }, facts: {} }]);
  return found === undefined ? undefined : { dir, target: found.target, commit: found.commit };
}

function stopped(
  report: Report,
  { dir }: MemberPart,
  landed: readonly LandedMember[],
  later: readonly MemberPart[],
): Report {
  const name = memberName(dir);
  const before =
    landed.length === 0
      ? "No repository has landed."
      : `Landed already: ${landed.map((each) => `${memberName(each.dir)} in ${each.target} as ${each.commit.slice(0, 12)}`).join(", ")}.`;
  const waiting = [name, ...later.map((part) => memberName(part.dir))].join(", ");
  const state = `${before} Not landed: ${waiting}.`;
  const told = (text: string | undefined): string => [`${name}: ${text ?? "it did not land"}.`, state].join(" ");
  const issues = report.issues?.map((issue) => placed(issue, dir));
  return {
    ...report,
    ...(report.verdict === "revise" ? { summary: told(report.summary) } : { reason: told(report.reason) }),
    ...(landed.length === 0 ? {} : { payload: partPayload(landed) }),
    ...(issues === undefined ? {} : { issues: [...issues, { severity: "major", description: state }] }),
  };
}

/** Files as people find them from the project's folder. */
function placed(issue: Issue | string, dir: string): Issue | string {
  if (typeof issue === "string") return `${memberName(dir)}: ${issue}`;
  const file = issue.file === undefined || dir === "." ? {} : { file: `${dir}/${issue.file}` };
  return { ...issue, ...file, description: `${memberName(dir)}: ${issue.description}` };
}
