// Comments on lines of a diff: the form, and the card of a saved comment.

import { Pencil, X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { keysText } from "../base/keyboard.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { type Comment, isEmpty, linesText } from "./comments.ts";
import { SEVERITIES, type Severity } from "./severity.ts";

/** The daemon refuses longer ones. */
const COMMENT_CHARS = 1900;
const SUGGESTION_CHARS = 10_000;

export type WriteComment = (change: Partial<Omit<Comment, "file" | "side" | "line">>) => void;

/** The caller keeps the text, because scrolling away removes this form from the page. */
export function CommentForm({
  writing,
  current,
  write,
  say,
  close,
}: {
  readonly writing: Comment;
  /** The text of the lines as it is now; null if it is not known. */
  readonly current: string | null;
  readonly write: WriteComment;
  readonly say: () => void;
  readonly close: () => void;
}): ReactNode {
  const { text, severity, file } = writing;
  const field = useRef<HTMLTextAreaElement>(null);
  const isNew = useRef(isEmpty(writing));
  useEffect(() => {
    if (isNew.current) field.current?.focus();
  }, []);
  const isSilent = isEmpty(writing);
  return (
    <form
      className="flex flex-col gap-2 border-y border-line bg-panel p-3 font-sans"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSilent) say();
      }}
      onKeyDown={(event) => {
        // While the form has the focus, these keys save or close the comment and never decide the item.
        if (event.key === "Escape") close();
        else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
          event.preventDefault();
          if (!isSilent) say();
        } else return;
        event.stopPropagation();
      }}
    >
      <label className="flex flex-col gap-1 text-sm">
        <span className="text-muted">
          About {linesText(writing)} of{" "}
          <span className="font-mono [overflow-wrap:anywhere]">
            <SafeText max={400}>{file}</SafeText>
          </span>
        </span>
        <textarea
          ref={field}
          value={text}
          maxLength={COMMENT_CHARS}
          rows={3}
          onChange={({ target }) => write({ text: target.value })}
          className="rounded-md border border-line bg-page p-2"
        />
      </label>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-1">
        <SeverityChoice severity={severity} choose={(each) => write({ severity: each })} />
        <FirstLine writing={writing} write={write} />
      </div>
      <Suggestion writing={writing} current={current} write={write} />
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          look="primary"
          keys={keysText("$mod+Enter")}
          disabledBecause={isSilent ? "Write a comment or a suggestion first." : undefined}
        >
          Add comment
        </Button>
        <Button onClick={close}>Discard</Button>
      </div>
    </form>
  );
}

/** The same as Shift and a click on a line's number, for keyboards and thumbs. */
function FirstLine({ writing: { from, line }, write }: { readonly writing: Comment; readonly write: WriteComment }) {
  const id = useId();
  if (line === 1) return null;
  return (
    <span className="flex items-center gap-1.5 text-sm">
      <label htmlFor={id} className="text-muted">
        From line
      </label>
      <input
        id={id}
        type="number"
        min={1}
        max={line}
        value={from}
        onChange={({ target }) => {
          const first = Math.trunc(Number(target.value));
          if (first >= 1 && first <= line) write({ from: first });
        }}
        className="min-h-8 w-20 rounded-md border border-line bg-page px-2 pointer-coarse:min-h-11"
      />
      <span className="text-muted">to {line}</span>
    </span>
  );
}

/** The text that the person wants instead; it begins with the one that is there. */
function Suggestion({
  writing: { suggestion, side },
  current,
  write,
}: {
  readonly writing: Comment;
  readonly current: string | null;
  readonly write: WriteComment;
}): ReactNode {
  // A removed line cannot be replaced.
  if (side === "old") return null;
  if (suggestion === null)
    return (
      <div>
        <Button
          disabledBecause={current === null ? "Open all of these lines first." : undefined}
          onClick={() => write({ suggestion: current })}
        >
          Suggest another text
        </Button>
      </div>
    );
  return (
    <div className="flex flex-col gap-1 text-sm">
      <label className="flex flex-col gap-1">
        <span className="text-muted">
          Suggested text in place of these lines; the agent gets it exactly as it is here
        </span>
        <textarea
          value={suggestion}
          maxLength={SUGGESTION_CHARS}
          rows={Math.min(12, suggestion.split("\n").length + 1)}
          spellCheck={false}
          onChange={({ target }) => write({ suggestion: target.value })}
          className="rounded-md border border-line bg-page p-2 font-mono text-xs"
        />
      </label>
      <div>
        <Button look="bare" onClick={() => write({ suggestion: null })}>
          No suggestion
        </Button>
      </div>
    </div>
  );
}

function SeverityChoice({
  severity,
  choose,
}: {
  readonly severity: Severity;
  readonly choose: (severity: Severity) => void;
}): ReactNode {
  return (
    <fieldset className="flex flex-wrap items-center gap-x-4">
      <legend className="sr-only">Severity</legend>
      {SEVERITIES.map((each) => (
        <label key={each} className="flex min-h-8 cursor-pointer items-center gap-1.5 text-sm pointer-coarse:min-h-11">
          <input
            type="radio"
            name="severity"
            value={each}
            checked={each === severity}
            onChange={() => choose(each)}
            className="size-4"
          />
          {each}
        </label>
      ))}
    </fieldset>
  );
}

export type CommentCardProps = {
  readonly comment: Comment;
  /** Absent if nothing can be changed. */
  readonly edit?: () => void;
  readonly drop?: () => void;
};

export function CommentCard({ comment, edit, drop }: CommentCardProps): ReactNode {
  const { severity, text, suggestion, from, line } = comment;
  const lines = linesText(comment);
  return (
    <div className="m-2 flex items-start justify-between gap-3 rounded-md border border-attention bg-attention-soft px-3 py-2 font-sans text-sm">
      <div className="min-w-0 flex-1">
        <p className="[overflow-wrap:anywhere] whitespace-pre-wrap">
          <span className="font-medium text-attention">
            You, {severity}
            {from !== line && `, ${lines}`}:{" "}
          </span>
          <SafeText>{text}</SafeText>
        </p>
        {suggestion !== null && (
          <figure className="mt-1">
            <figcaption className="text-xs text-muted">
              {suggestion === "" ? "Remove these lines" : "Suggested text"}
            </figcaption>
            {suggestion !== "" && (
              <pre className="mt-0.5 rounded border border-line bg-panel px-2 py-1 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
                <SafeText max={SUGGESTION_CHARS}>{suggestion}</SafeText>
              </pre>
            )}
          </figure>
        )}
      </div>
      <span className="flex shrink-0">
        {edit !== undefined && (
          <Button look="bare" onClick={edit} aria-label={`Change the comment on ${lines}`}>
            <Pencil className="size-4" />
          </Button>
        )}
        {drop !== undefined && (
          <Button look="bare" onClick={drop} aria-label={`Remove the comment on ${lines}`}>
            <X className="size-4" />
          </Button>
        )}
      </span>
    </div>
  );
}
