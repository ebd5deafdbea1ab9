// Comments on lines of a diff: the form, and the card of a saved comment.

import { type ReactNode, useEffect, useRef } from "react";
import { keysText } from "../base/keyboard.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import type { Comment } from "./rows.ts";
import { SEVERITIES, type Severity } from "./severity.ts";
import { X } from "lucide-react";

/** The daemon refuses longer comments. */
const COMMENT_CHARS = 1900;

/** The caller keeps the text, because scrolling away removes this form from the page. */
export function CommentForm({
  writing: { text, severity, ...place },
  write,
  say,
  close,
}: {
  readonly writing: Comment;
  readonly write: (change: Partial<Pick<Comment, "text" | "severity">>) => void;
  readonly say: () => void;
  readonly close: () => void;
}): ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const isNew = useRef(text === "");
  useEffect(() => {
    if (isNew.current) field.current?.focus();
  }, []);
  const isEmpty = text.trim() === "";
  return (
    <form
      className="flex flex-col gap-2 border-y border-line bg-panel p-3 font-sans"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) say();
      }}
    >
      <label className="flex flex-col gap-1 text-sm">
        <span className="text-muted">
          About {place.side === "old" ? "the removed " : ""}line {place.line} of{" "}
          <span className="font-mono [overflow-wrap:anywhere]">
            <SafeText max={400}>{place.file}</SafeText>
          </span>
        </span>
        <textarea
          ref={field}
          value={text}
          maxLength={COMMENT_CHARS}
          rows={3}
          onChange={({ target }) => write({ text: target.value })}
          onKeyDown={(event) => {
            // While the field has the focus, these keys save or close the comment and never decide the item.
            if (event.key === "Escape") close();
            else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
              event.preventDefault();
              if (!isEmpty) say();
            } else return;
            event.stopPropagation();
          }}
          className="rounded-md border border-line bg-page p-2"
        />
      </label>
      <SeverityChoice severity={severity} choose={(each) => write({ severity: each })} />
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          look="primary"
          keys={keysText("$mod+Enter")}
          disabledBecause={isEmpty ? "Write a comment first." : undefined}
        >
          Add comment
        </Button>
        <Button onClick={close}>Discard</Button>
      </div>
    </form>
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

export function CommentCard({ comment, drop }: { readonly comment: Comment; readonly drop?: () => void }): ReactNode {
  return (
    <div className="m-2 flex items-start justify-between gap-3 rounded-md border border-attention bg-attention-soft px-3 py-2 font-sans text-sm">
      <p className="min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap">
        <span className="font-medium text-attention">You, {comment.severity}: </span>
        <SafeText>{comment.text}</SafeText>
      </p>
      {drop !== undefined && (
        <Button look="bare" onClick={drop} aria-label={`Remove the comment on line ${comment.line}`}>
          <X className="size-4" />
        </Button>
      )}
    </div>
  );
}
