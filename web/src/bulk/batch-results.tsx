// The result of each act of a batch that was sent.

import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { closeBatch, sendFailed, useBatch } from "./batch.ts";

export function BatchResults(): ReactNode {
  const batch = useBatch();
  if (batch === null) return null;
  const { title, acts, phase } = batch;
  const done = acts.filter(({ result }) => result.is === "done");
  const failed = acts.filter(({ result }) => result.is === "failed");
  const isSending = phase === "sending";
  return (
    <div className="flex flex-col gap-2 px-3 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 basis-40 [overflow-wrap:anywhere]">
          <strong className="font-medium">
            <SafeText max={160}>{title}</SafeText>
          </strong>
          : {done.length} of {acts.length} done{failed.length === 0 ? "" : `, ${failed.length} failed`}
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
          {[...failed, ...done].map(({ key, name, title: of, result }) => (
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
    </div>
  );
}
