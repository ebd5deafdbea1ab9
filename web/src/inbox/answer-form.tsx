// The form of an answer: buttons with a reason for gates, choices and escalations, a text for questions, an amount for budgets.

import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { keysText, useShortcuts } from "../base/keyboard.ts";
import { issueOf } from "../diff/comments.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/states.tsx";
import { toast } from "../ui/toast.ts";
import type { AnswerDraft } from "./draft.ts";
import type { WaitingItem } from "./types.ts";
import type { Given } from "./use-answer.ts";
import { type Choice, choicesOf } from "./words.ts";
import { optional } from "../../../src/core/optional.ts";

export type AnswerFormProps = {
  readonly item: WaitingItem;
  readonly draft: AnswerDraft;
  readonly change: (change: Partial<AnswerDraft>) => void;
  readonly isSending: boolean;
  /** The item changed: the person has to look again first. */
  readonly isStale: boolean;
  readonly error: unknown;
  readonly send: (given: Given) => void;
};

const APPROVE = "$mod+Enter";
const REVISE = "$mod+Shift+Enter";

export function AnswerForm(props: AnswerFormProps): ReactNode {
  const { item, error } = props;
  return (
    <div className="flex flex-col gap-3">
      {error !== null && <Failure error={error} />}
      {item.kind === "question" ? (
        <TextAnswer {...props} />
      ) : item.kind === "budget" ? (
        <BudgetAnswer {...props} />
      ) : (
        <ChoiceAnswer {...props} />
      )}
    </div>
  );
}

function ChoiceAnswer({ item, draft, change, isSending, isStale, send }: AnswerFormProps): ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const [hint, setHint] = useState("");
  const choices = useMemo(() => choicesOf(item), [item]);
  const issues = useMemo(() => draft.comments.map(issueOf), [draft.comments]);
  const isSilent = draft.text.trim() === "" && issues.length === 0;
  const refused = (choice: Choice): string | undefined =>
    busy({ isSending, isStale }) ??
    (choice.needsReason && isSilent ? "Enter a reason first, in the comment or on a line of the changes." : undefined);
  const press = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    const why = refused(choice);
    setHint(why ?? "");
    if (why === undefined) send({ answer: choice.answer, text: draft.text, issues, done: choice.done });
    else field.current?.focus();
  };
  const approve = choices.find(({ answer }) => answer === "approve");
  const revise = choices.find(({ answer }) => answer === "revise");
  useDecidingKeys(press, approve, revise);
  const needed = choices.filter(({ needsReason }) => needsReason).map(({ label }) => label.toLowerCase());
  return (
    <>
      <Field
        field={field}
        label={needed.length === 0 ? "Comment (optional)" : `Comment (required to ${needed.join(" or to ")})`}
        value={draft.text}
        set={(text) => {
          setHint("");
          change({ text });
        }}
      />
      {issues.length > 0 && (
        <p className="text-sm text-attention">
          {issues.length} {issues.length === 1 ? "line comment is" : "line comments are"} sent with your decision.
        </p>
      )}
      <div className="flex flex-wrap gap-2 max-md:[&>*]:grow @min-[44rem]:[&>*]:grow">
        {choices.map((choice) => (
          <Button
            key={choice.answer}
            look={choice.look}
            disabledBecause={refused(choice)}
            {...(choice === approve ? { keys: keysText(APPROVE) } : {})}
            {...(choice === revise ? { keys: keysText(REVISE) } : {})}
            onClick={() => press(choice)}
          >
            {choice.label}
          </Button>
        ))}
      </div>
      <p role="status" className="text-sm text-attention empty:hidden">
        {hint}
      </p>
    </>
  );
}

/** The keys of the two usual answers. */
function useDecidingKeys(
  press: (choice: Choice) => void,
  approve: Choice | undefined,
  revise: Choice | undefined,
): void {
  const latest = useRef(press);
  latest.current = press;
  const shortcuts = useMemo(() => {
    const key = (keys: string, choice: Choice | undefined) =>
      choice === undefined
        ? []
        : [
            {
              keys,
              does: `${choice.label}${INSIDE}`,
              group: "Deciding",
              act: inside(() => latest.current(choice)),
            },
          ];
    return [...key(APPROVE, approve), ...key(REVISE, revise)];
  }, [approve, revise]);
  useShortcuts(shortcuts);
}

function TextAnswer({ draft, change, isSending, isStale, send }: AnswerFormProps): ReactNode {
  const why = busy({ isSending, isStale }) ?? (draft.text.trim() === "" ? "Write an answer first." : undefined);
  const act = (): void => {
    if (why === undefined) send({ answer: "", text: draft.text, issues: [], done: "Answered" });
  };
  useLatestShortcut("Send the answer", act);
  return (
    <>
      <Field
        label="The agent gets your answer word for word"
        rows={5}
        value={draft.text}
        set={(text) => change({ text })}
      />
      <div>
        <Button look="primary" keys={keysText(APPROVE)} disabledBecause={why} onClick={act}>
          Send the answer
        </Button>
      </div>
    </>
  );
}

function BudgetAnswer({ item, draft, change, isSending, isStale, send }: AnswerFormProps): ReactNode {
  const id = useId();
  const { budget } = item;
  const unit = budget?.unit ?? "usd";
  const suggested = budget === null ? "" : suggest(budget);
  const amount = draft.text === "" ? suggested : draft.text;
  const isAmount = /^[0-9]{1,12}(?:\.[0-9]{1,6})?$/u.test(amount.trim()) && Number(amount) > 0;
  const off = busy({ isSending, isStale });
  const why = off ?? (isAmount ? undefined : `Enter an amount in ${unit === "usd" ? "US dollars" : "tokens"}.`);
  const raise = (): void => {
    if (why === undefined)
      send({ answer: "raise", text: `${amount.trim()} ${unit}`, issues: [], done: "Budget raised" });
  };
  useLatestShortcut("Raise the budget", raise);
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="flex flex-col gap-1 text-sm">
        <label htmlFor={id}>Raise it by ({unit === "usd" ? "US dollars" : "tokens"})</label>
        <input
          id={id}
          inputMode="decimal"
          value={amount}
          onChange={({ target }) => change({ text: target.value })}
          className="min-h-9 w-40 rounded-md border border-line bg-page px-2 pointer-coarse:min-h-11"
        />
      </div>
      <Button look="primary" keys={keysText(APPROVE)} disabledBecause={why} onClick={raise}>
        Raise and continue
      </Button>
      <Button
        look="danger"
        disabledBecause={off}
        onClick={() => send({ answer: "stop", text: "", issues: [], done: "Stopped" })}
      >
        Stop
      </Button>
    </div>
  );
}

/** Enough for the waiting attempt. */
function suggest({ unit, used, limit, needed }: NonNullable<WaitingItem["budget"]>): string {
  const missing = Math.max(needed - Math.max(0, limit - used), 0);
  return unit === "usd"
    ? String(Math.max(1, Math.ceil(missing)))
    : String(Math.max(1000, Math.ceil(missing / 1000) * 1000));
}

function Field({
  label,
  value,
  set,
  rows = 3,
  field,
}: {
  readonly label: string;
  readonly value: string;
  readonly set: (text: string) => void;
  readonly rows?: number;
  readonly field?: React.RefObject<HTMLTextAreaElement | null>;
}): ReactNode {
  return (
    <label className="flex flex-col gap-1 text-sm">
      {label}
      <textarea
        {...optional({ ref: field })}
        rows={rows}
        maxLength={10_000}
        value={value}
        onChange={({ target }) => set(target.value)}
        className="rounded-md border border-line bg-panel p-2 text-base md:text-sm @max-[44rem]:h-11 @max-[44rem]:focus:h-28"
      />
    </label>
  );
}

const INSIDE = " (in the decision)";

/** A key that decides does so only where the decision has the focus: a person must not approve by accident what they do not look at. */
function inside(act: () => void): () => void {
  return () => {
    if (document.activeElement?.closest("[data-decision]")) act();
    else toast("Go to the decision first: Enter on its row, or Tab.", "warning");
  };
}

function busy({ isSending, isStale }: Pick<AnswerFormProps, "isSending" | "isStale">): string | undefined {
  if (isSending) return "Your answer is being sent.";
  return isStale ? "This changed: look at it again first." : undefined;
}

function useLatestShortcut(does: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  const list = useMemo(
    () => [{ keys: APPROVE, does: `${does}${INSIDE}`, group: "Deciding", act: inside(() => latest.current()) }],
    [does],
  );
  useShortcuts(list);
}
