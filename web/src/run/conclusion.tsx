// How an attempt ended, in the words of its agent and in ours.

import { type ReactNode, useState } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { usd } from "../ui/time.tsx";
import { withoutColours } from "./log/ansi.ts";
import type { RunAttempt } from "./types.ts";

const SAID_CHARS = 4000;
const SAID_LINES = 3;

/** An agent's text: a few lines, all on demand. Without a summary this is its output. */
export function Said({
  text,
  isQuiet = false,
}: {
  readonly text: string | null;
  readonly isQuiet?: boolean;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (text === null || text === "") return null;
  const shown = text.slice(0, SAID_CHARS).split("\n").map(withoutColours);
  const isLong = shown.length > SAID_LINES || text.length > SAID_LINES * 100;
  return (
    <div className={`flex flex-col items-start ${isQuiet ? "text-muted" : ""}`}>
      <p className={`max-w-full break-words whitespace-pre-wrap ${isLong && !isOpen ? "line-clamp-3" : ""}`}>
        <SafeText>{shown.join("\n")}</SafeText>
        {text.length > SAID_CHARS && " …"}
      </p>
      {isLong && (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="min-h-7 cursor-pointer text-xs text-link underline pointer-coarse:min-h-11"
        >
          {isOpen ? "Less" : "More"}
        </button>
      )}
    </div>
  );
}

/** The source's word and the canonical one, side by side. */
export function Conclusion({
  word,
  verdict,
  health,
  status,
}: Pick<RunAttempt, "word" | "verdict" | "health" | "status">): ReactNode {
  if (health === null) return <Badge tone={status === "running" ? "active" : "quiet"}>{status}</Badge>;
  const canonical = health === "complete" ? (verdict ?? "pass") : health;
  const tone = canonical === "pass" ? "good" : canonical === "revise" || canonical === "redesign" ? "warning" : "bad";
  return (
    <Badge tone={tone}>
      <SafeText max={60}>{word ?? canonical}</SafeText>
      {word !== null && word.toLowerCase() !== canonical && <span className="font-normal">· {canonical}</span>}
    </Badge>
  );
}

/** Reported or measured values; unknown ones are omitted, never shown as zero. */
export function factsOf({ runner, model, worker, usage, exitCode, commits, score }: RunAttempt): readonly string[] {
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return [
    [runner, model].filter((each) => each !== null).join(" "),
    worker === null ? "" : `on ${worker}`,
    score === null ? "" : `score ${score}`,
    usage === null ? "" : usd(usage.usd),
    tokens === 0 ? "" : `${tokens.toLocaleString("en-US")} tokens`,
    exitCode === null ? "" : `exit ${exitCode}`,
    commits === null ? "" : `${commits.from.slice(0, 7)}..${commits.to.slice(0, 7)}`,
  ].filter((each) => each !== "" && each !== "—");
}
