// A box for messages to the agent at work, with the delivery of earlier ones.

import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { MESSAGE_CHARS } from "../../../src/core/run/message.ts";
import { call } from "../base/api.ts";
import { useShortcuts } from "../base/keyboard.ts";
import { queryClient } from "../base/queries.ts";
import { shellWord } from "../../../src/core/shell-word.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Choice } from "../ui/choice.tsx";
import { TextArea } from "../ui/field.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure } from "../ui/states.tsx";
import type { RunDetail } from "./types.ts";

type Talking = Pick<RunDetail, "id" | "number" | "messages" | "stages">;

/** Empty if no agent works and there are no messages. */
export function Composer({ run }: { readonly run: Talking }): ReactNode {
  const working = run.stages.filter(({ attempts }) => attempts.some(({ status }) => status === "running"));
  if (working.length === 0 && run.messages.length === 0) return null;
  return (
    <section
      aria-label="Messages to the agent"
      className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-3"
    >
      {run.messages.length > 0 && (
        <ol className="flex flex-col gap-2 text-sm">
          {run.messages.map(({ number, from, stage, text, became }) => (
            <li key={number} className="rounded-md bg-sunken px-3 py-2">
              <p className="whitespace-pre-wrap break-words">
                <SafeText>{text}</SafeText>
              </p>
              <p className="mt-1 text-xs text-muted">
                <SafeText max={80}>{from}</SafeText> to <SafeText max={80}>{stage}</SafeText> ·{" "}
                <SafeText>{became}</SafeText>
              </p>
            </li>
          ))}
        </ol>
      )}
      {working.length > 0 && <MessageForm run={run} stages={working.map(({ id }) => id)} />}
    </section>
  );
}

const SAY = [
  {
    keys: "m",
    does: "Say something to the agent",
    group: "This run",
    act: () => document.querySelector<HTMLElement>("[data-say]")?.focus(),
  },
];

function MessageForm({ run, stages }: { readonly run: Talking; readonly stages: readonly string[] }): ReactNode {
  const hint = useId();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const stage = stages.find((each) => each === chosen) ?? stages[0] ?? "";
  const of = stages.length > 1 ? { stage } : {};
  const sending = useMutation({
    mutationFn: () => call("steerRun", { params: { run: run.id }, body: { text: text.trim(), ...of } }),
    onSuccess: () => {
      setText("");
      void queryClient.invalidateQueries({ predicate: ({ queryKey: [kind] }) => kind === "run" });
    },
  });
  const mayNot = text.trim() === "" ? "Enter a message." : sending.isPending ? "It is being sent." : undefined;
  useShortcuts(SAY);
  const send = (): void => (mayNot === undefined ? sending.mutate() : undefined);
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {stages.length > 1 && (
        <Choice
          label="To the agent of"
          value={stage}
          pick={setChosen}
          options={stages.map((each) => ({ value: each, name: each }))}
        />
      )}
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <TextArea
            label={`Say something to the agent of ${stage}`}
            aria-describedby={hint}
            data-say
            aria-keyshortcuts="m"
            // It is beside the work of the agent, and small until there is something in it.
            rows={text === "" ? 1 : 3}
            value={text}
            maxLength={MESSAGE_CHARS}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              send();
            }}
          />
        </div>
        <Button type="submit" look="primary" disabledBecause={mayNot}>
          Send
        </Button>
      </div>
      <p id={hint} className="text-xs text-muted">
        Ctrl+Enter sends it. An agent that cannot listen while it works gets it when its turn ends.
      </p>
      {sending.error !== null && <Failure error={sending.error} />}
      {text.trim() !== "" && (
        <CopyLine>
          {`passrail runs steer ${run.number} ${shellWord(text.trim())}${stages.length > 1 ? ` --stage ${stage}` : ""}`}
        </CopyLine>
      )}
    </form>
  );
}
