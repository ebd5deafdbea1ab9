// Approves a project's files as they are, as `passrail trust --yes` would: tests write settings and flows as a person does.

import { readProjectFiles } from "../../src/settings/trust/project-files.ts";
import { findApproval, writeApproval } from "../../src/settings/trust/approval.ts";

export function approveFiles(home: string, project: string): void {
  const read = readProjectFiles(project);
  const found = findApproval({ home, project });
  if (!read.ok || (read.value.files.length === 0 && found.type === "none")) return;
  if (found.type === "approved" && found.record.hash === read.value.hash) return;
  writeApproval({ home, project }, read.value, { by: "human:tester", approvedAt: "2026-01-01T00:00:00.000Z" });
}
