// The preview of a start: the flow that the files choose, the facts read from them, where the work begins, and the
// exceptions that only a person can allow.

import type { ReactNode } from "react";
import { costText } from "../../../src/core/view/cost-text.ts";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { CopyLine } from "../ui/copy-line.tsx";
import { PlannedStages } from "../ui/planned-stages.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { usd } from "../ui/time.tsx";
import { Icon } from "../ui/icon.tsx";

export type Preview = AnswerTo<"previewRun">;
export type Exception = NonNullable<Preview["refused"]>["needs"][number];

export function StartPreview({
  preview,
  asked,
  allowed,
  allow,
  command,
}: {
  readonly preview: Preview;
  /** The name that the person chose; a family means one of its flows. */
  readonly asked: string;
  readonly allowed: readonly Exception[];
  readonly allow: (exception: Exception, is: boolean) => void;
  /** That shows the same on a terminal. */
  readonly command: string;
}): ReactNode {
  const { flow, title, stated, files, repositories, refused } = preview;
  return (
    <section
      aria-label="What will start"
      className="flex flex-col gap-2 rounded-md border border-line bg-sunken px-3 py-2 text-sm"
    >
      <p>
        <span className="text-muted">Starts </span>
        <strong className="font-medium">{flow}</strong>
        <span className="text-muted"> · {title}</span>
        {flow !== asked && <span className="text-muted"> · the files of {asked} choose it</span>}
      </p>
      <DryRun preview={preview} command={command} />
      {stated.length > 0 && (
        <dl className="flex flex-wrap gap-x-5 gap-y-0.5">
          {stated.map(({ fact, label, value }) => (
            <div key={fact} className="flex gap-1.5">
              <dt className="text-muted">{label}:</dt>
              <dd className="m-0 font-medium">{statedText(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {files.length > 0 && (
        <ul className="flex flex-col gap-0.5">
          {files.map(({ name, path, bytes, sha256 }) => (
            <li key={name} className="[overflow-wrap:anywhere]">
              <span className="text-muted">{name}: </span>
              <SafeText max={400}>{path}</SafeText>
              <span className="text-muted">
                , {bytes.toLocaleString()} bytes, <code className="font-mono text-xs">{sha256.slice(0, 12)}</code>
              </span>
            </li>
          ))}
        </ul>
      )}
      {repositories.map(({ name, branch, commit, dirty }) => (
        <p key={name} className="[overflow-wrap:anywhere]">
          <span className="text-muted">{name === "project" ? "Begins" : `${name} begins`} on </span>
          <SafeText max={200}>{branch ?? "no branch"}</SafeText>
          <span className="text-muted"> at </span>
          <code className="font-mono text-xs">{commit.slice(0, 12)}</code>
          {dirty > 0 && (
            <span className="text-muted">
              , without {dirty} uncommitted {dirty === 1 ? "file" : "files"}
            </span>
          )}
        </p>
      ))}
      {refused !== null && <Refused refused={refused} preview={preview} allowed={allowed} allow={allow} />}
    </section>
  );
}

/** Every stage that would run, in order, and what it may cost. */
function DryRun({ preview, command }: { readonly preview: Preview; readonly command: string }): ReactNode {
  const { plan, workspace, limit } = preview;
  const most = limit.usd === null ? "no limit in dollars" : `at most ${usd(limit.usd)}`;
  return (
    <details>
      <summary className="min-h-9 cursor-pointer py-1.5 pointer-coarse:min-h-11">
        Dry run: {plan.stages.length} {plan.stages.length === 1 ? "stage" : "stages"} · {workspace} · {most}
      </summary>
      <div className="flex flex-col gap-2">
        <PlannedStages stages={plan.stages} />
        <p>
          <span className="text-muted">Expected cost, one attempt each: </span>
          {costText(plan.usd, plan.unknown)}
        </p>
        <CopyLine>{command}</CopyLine>
      </div>
    </details>
  );
}

function Refused({
  refused: { message, needs },
  preview: { repositories },
  allowed,
  allow,
}: {
  readonly refused: NonNullable<Preview["refused"]>;
  readonly preview: Preview;
  readonly allowed: readonly Exception[];
  readonly allow: (exception: Exception, is: boolean) => void;
}): ReactNode {
  const elsewhere = repositories.find(({ branch, base }) => base !== null && branch !== base);
  const words: Readonly<Record<Exception, string>> = {
    dirty: "Start from what is committed; leave the uncommitted files out",
    branch: `Start from ${elsewhere?.branch ?? "what is checked out"} instead of ${elsewhere?.base ?? "the base branch"}`,
  };
  return (
    <div role="alert" className="flex flex-col gap-1 rounded-md bg-warning-soft px-3 py-2">
      <p className="text-warning [overflow-wrap:anywhere]">
        <Icon name="warning" className="mr-1 inline" />
        <SafeText max={2000}>{message}</SafeText>
      </p>
      {needs.map((need) => (
        <label key={need} className="flex min-h-9 items-center gap-2 pointer-coarse:min-h-11">
          <input
            type="checkbox"
            checked={allowed.includes(need)}
            onChange={({ target }) => allow(need, target.checked)}
            className="size-4 shrink-0 pointer-coarse:size-5"
          />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <SafeText max={400}>{words[need]}</SafeText>
          </span>
        </label>
      ))}
    </div>
  );
}

function statedText(value: Preview["stated"][number]["value"]): string {
  if (value === null) return "not stated";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value.slice(0, 80) : JSON.stringify(value).slice(0, 80);
}
