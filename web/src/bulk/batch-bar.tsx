// What will be done to many things, with the button that takes it back; then what became of each.

import { type ReactNode, useMemo } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { useNow } from "../ui/time.tsx";
import { type Batch, closeBatch, sendBatch, sendFailed, undoBatch, useBatch } from "./batch.ts";

export function BatchBar(): ReactNode {
  const batch = useBatch();
  return (
    <div aria-live="polite" className="fixed inset-x-4 bottom-20 z-50 mx-auto max-w-xl md:bottom-4">
      {batch !== null && (
        <section
          aria-label="What you asked for"
          className="flex flex-col gap-2 rounded-md border border-line bg-panel px-3 py-2 text-sm shadow-lg"
        >
          {batch.phase === "held" ? <Held batch={batch} /> : <Sent batch={batch} />}
        </section>
      )}
    </div>
  );
}

function Held({ batch: { title, dueAt } }: { readonly batch: Batch }): ReactNode {
  const keys = useMemo(() => [{ keys: "z", does: "Take it back", group: "Acting on many", act: undoBatch }], []);
  useShortcuts(keys);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <strong className="font-medium">
          <SafeText max={160}>{title}</SafeText>
        </strong>{" "}
        <Countdown dueAt={dueAt} />
      </p>
      <Button onClick={undoBatch} keys="z">
        Undo
      </Button>
      <Button look="bare" onClick={sendBatch}>
        Do it now
      </Button>
    </div>
  );
}

/** Not announced each second. */
function Countdown({ dueAt }: { readonly dueAt: number }): ReactNode {
  const now = useNow(250);
  return (
    <span aria-hidden="true" className="tabular whitespace-nowrap text-muted">
      in {Math.max(0, Math.ceil((dueAt - now) / 1000))} s
    </span>
  );
}

function Sent({ batch: { title, acts, phase } }: { readonly batch: Batch }): ReactNode {
  const done = acts.filter(({ result }) => result.is === "done").length;
  const failed = acts.filter(({ result }) => result.is === "failed");
  const isSending = phase === "sending";
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          <strong className="font-medium">
            <SafeText max={160}>{title}</SafeText>
          </strong>
          : {done} of {acts.length} done{failed.length === 0 ? "" : `, ${failed.length} failed`}
          {isSending && "…"}
        </p>
        {!isSending && failed.length > 0 && <Button onClick={sendFailed}>Try the failed again</Button>}
        {!isSending && (
          <Button look="bare" onClick={closeBatch}>
            Close
          </Button>
        )}
      </div>
      {!isSending && (
        <ul className="flex max-h-[30dvh] flex-col gap-1 overflow-y-auto text-xs">
          {[...failed, ...acts.filter(({ result }) => result.is === "done")].map(({ key, name, title: of, result }) => (
            <li key={key} className="flex min-w-0 items-baseline gap-1.5 [overflow-wrap:anywhere]">
              <Icon
                name={result.is === "failed" ? "cross" : "check"}
                className={`self-center ${result.is === "failed" ? "text-bad" : "text-good"}`}
              />
              <span className="min-w-0">
                <span className="font-mono">
                  <SafeText max={40}>{name}</SafeText>
                </span>{" "}
                <SafeText max={80}>{of}</SafeText>:{" "}
                <span className={result.is === "failed" ? "text-bad" : "text-muted"}>
                  <SafeText max={400}>{result.is === "waiting" ? "" : result.text}</SafeText>
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
