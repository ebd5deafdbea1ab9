// The files of one attempt: output, prompt, diff and more. The address names the attempt; without it, the page shows the running one.

import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { LogView } from "./log/log-view.tsx";
import { wholeFile } from "./log/source.ts";
import { Button } from "../ui/button.tsx";
import { Choice } from "../ui/choice.tsx";
import { saveFile } from "../ui/save-file.ts";
import { Empty } from "../ui/states.tsx";
import { toast } from "../ui/toast.ts";
import { chooseAttempt } from "./choose-attempt.ts";
import type { AttemptFile, RunDetail } from "./types.ts";

const FILES = {
  output: "Output",
  events: "Raw events",
  prompt: "Prompt",
  diff: "Diff",
  verdict: "Verdict",
  handoff: "Handoff",
} as const satisfies Readonly<Record<AttemptFile, string>>;

export function LogTab({
  run,
  stage,
  attempt,
  file,
}: {
  readonly run: RunDetail;
  readonly stage: string | undefined;
  readonly attempt: string | undefined;
  readonly file: string | undefined;
}): ReactNode {
  const navigate = useNavigate();
  const attempts = run.stages.flatMap((each) => each.attempts);
  const shown = chooseAttempt(attempts, stage, attempt);
  if (shown === undefined)
    return <Empty title={stage === undefined ? "No agent has worked yet." : `${stage} has not worked yet.`} />;
  const isFile = (name: string | undefined): name is AttemptFile => name !== undefined && Object.hasOwn(FILES, name);
  const reference = {
    run: run.id,
    stage: shown.stage,
    attempt: shown.attempt,
    file: isFile(file) ? file : ("output" as const),
  };
  const open = (next: { readonly stage: string; readonly attempt: number; readonly file: string }): void =>
    void navigate({
      to: "/runs/$run",
      params: { run: String(run.number) },
      search: { tab: "log", stage: next.stage, attempt: String(next.attempt), file: next.file },
      hash: "",
      resetScroll: false,
    });
  return (
    <LogView
      key={`${reference.stage} ${reference.attempt} ${reference.file}`}
      reference={reference}
      isGrowing={shown.status === "running" || shown.status === "ready"}
      tools={
        <>
          <Choice
            label="Attempt"
            value={`${shown.stage}#${shown.attempt}`}
            options={attempts.map((each) => ({
              value: `${each.stage}#${each.attempt}`,
              name: `${each.stage} #${each.attempt}${each.word === null ? "" : ` · ${each.word.slice(0, 30)}`}`,
            }))}
            pick={(value) => {
              const [id = "", number = "1"] = value.split("#");
              open({ ...reference, stage: id, attempt: Number(number) });
            }}
          />
          <Choice
            label="File"
            value={reference.file}
            options={Object.entries(FILES).map(([value, name]) => ({ value, name }))}
            pick={(value) => open({ ...reference, file: value })}
          />
          <ToStory run={run.number} stage={shown.stage} attempt={shown.attempt} />
          <Button
            onClick={() =>
              void wholeFile(reference).then(
                (text) => saveFile(`run-${run.number}-${shown.stage}-${shown.attempt}-${reference.file}.txt`, text),
                (error: unknown) =>
                  toast(error instanceof Error ? error.message : "The file could not be read.", "bad"),
              )
            }
          >
            Save file
          </Button>
        </>
      }
    />
  );
}

function ToStory({
  run,
  stage,
  attempt,
}: {
  readonly run: number;
  readonly stage: string;
  readonly attempt: number;
}): ReactNode {
  return (
    <Link
      to="/runs/$run"
      params={{ run: String(run) }}
      search={{ tab: "activity", stage, attempt: String(attempt) }}
      resetScroll={false}
      className="flex min-h-9 items-center rounded-md border border-line px-3 text-sm text-ink no-underline hover:bg-sunken pointer-coarse:min-h-11"
    >
      Story
    </Link>
  );
}
