// The stage that a person has taken over: who has it, the command that opens its session, and the way to hand it back.

import { type ReactNode, useState } from "react";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Ago } from "../ui/time.tsx";
import { ActDialog } from "./run-actions.tsx";
import type { RunDetail } from "./types.ts";

export function TakenBanner({ run }: { readonly run: Pick<RunDetail, "id" | "number" | "takeover"> }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const { takeover } = run;
  if (takeover === null) return null;
  const { stage, by, since, dir, line, note, refused } = takeover;
  return (
    <section
      aria-label="Taken over"
      className="flex flex-col gap-2 rounded-lg border border-attention bg-attention-soft px-4 py-2.5 text-sm"
    >
      <div className="flex flex-wrap items-center justify-between gap-3 text-attention">
        <p className="font-medium">
          <Icon name="person" className="mr-1 inline" />
          <SafeText max={200}>{`${stage} is taken over by ${by}`}</SafeText> · <Ago at={since} />
        </p>
        <Button
          disabledBecause={dir === null ? "The agent is still ending." : undefined}
          onClick={() => setAsking(true)}
        >
          Hand back
        </Button>
      </div>
      {dir === null ? (
        <p>The agent is ending. Then its folder and its session are yours.</p>
      ) : (
        <>
          <p>
            Nothing of this run starts until it is handed back.{" "}
            {note === "" ? (
              "On the machine where the run works, this opens the agent's session:"
            ) : (
              <SafeText>{note}</SafeText>
            )}
          </p>
          <CopyLine>{line}</CopyLine>
        </>
      )}
      {refused !== null && (
        <p role="alert" className="text-bad">
          It could not be handed back: <SafeText max={1000}>{refused}</SafeText>
        </p>
      )}
      {isAsking && <ActDialog run={run} act={{ act: "handback", stage, why: null }} close={() => setAsking(false)} />}
    </section>
  );
}
