// `import claude`: the plan, and with --yes its files.

import { type ImportPlan, type ImportStep, performImport, planImport } from "../../../app/import-claude.ts";
import { EXIT, problemError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";

export type ClaudeImportOptions = { readonly command?: string; readonly yes: boolean };

const WIDTH = 300;
const MARKS: Readonly<Record<ImportStep["act"], string>> = { write: "+", same: "=", skip: "✖" };

export async function importClaude(io: Io, { command, yes }: ClaudeImportOptions): Promise<number> {
  if (yes) requireOperator(io, "import claude --yes");
  const plan = planImport(io.cwd, command);
  if (!plan.ok) throw problemError(plan.error);
  const written = yes ? performImport(plan.value) : undefined;
  if (written?.ok === false) throw problemError(written.error);
  const shown = plan.value.steps.map(({ text: _text, ...step }) => step);
  if (io.json) printJson(io, { steps: shown, written: written?.value ?? [] });
  else if (io.quiet) for (const { to } of shown.filter(({ act }) => act === "write")) io.out(to);
  else for (const line of linesOf(plan.value)) io.out(oneLine(line, WIDTH));
  if (!io.json && !io.quiet) for (const line of nextLines(plan.value, written?.value)) io.err(paint(io, "dim", line));
  return EXIT.ok;
}

function linesOf({ steps }: ImportPlan): readonly string[] {
  return steps.flatMap(({ from, to, act, notes }) => [
    `${MARKS[act]} ${to === "" ? from : `${from} → ${to}`}`,
    ...notes.map((note) => `    ${note}`),
  ]);
}

function nextLines({ steps }: ImportPlan, written: readonly string[] | undefined): readonly string[] {
  const count = steps.filter(({ act }) => act === "write").length;
  if (written === undefined)
    return [
      count === 0 ? "Nothing to write." : `passrail import claude --yes   writes ${count} files; nothing is replaced`,
    ];
  return [
    `${written.length} files are written.`,
    "passrail trust           shows what they change, and approves it",
    'passrail flow explain pipeline "task"   shows who a router may choose now',
  ];
}
