// The unsent answer to an item. The tab keeps it across reloads and restarts of the daemon.

import { useState } from "react";
import { type DiffReview, readComment } from "../diff/comments.ts";

export type AnswerDraft = DiffReview & { readonly text: string };

const EMPTY: AnswerDraft = { text: "", comments: [], writing: null };

export function useDraft(item: string): [AnswerDraft, (change: Partial<AnswerDraft>) => void, () => void] {
  const [kept, setKept] = useState(() => ({ item, draft: read(item) }));
  const draft = kept.item === item ? kept.draft : read(item);
  return [
    draft,
    (change) => {
      const next = { ...draft, ...change };
      sessionStorage.setItem(keyOf(item), JSON.stringify(next));
      setKept({ item, draft: next });
    },
    () => {
      clearDraft(item);
      setKept({ item, draft: EMPTY });
    },
  ];
}

/** After it was sent. */
export function clearDraft(item: string): void {
  sessionStorage.removeItem(keyOf(item));
}

function keyOf(item: string): string {
  return `passrail.draft.${item}`;
}

/** Text that this page did not write counts as no draft. */
function read(item: string): AnswerDraft {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(item)) ?? "null") as Partial<AnswerDraft> | null;
    return typeof kept?.text === "string" && Array.isArray(kept.comments)
      ? {
          text: kept.text,
          comments: kept.comments.map(readComment).filter((comment) => comment !== null),
          writing: kept.writing ? readComment(kept.writing) : null,
        }
      : EMPTY;
  } catch {
    return EMPTY;
  }
}
