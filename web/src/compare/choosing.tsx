// How one of the compared runs is taken: a variant is chosen and the others are canceled; the work of any other run is merged, proposed or
// discarded for itself.

import { type ReactNode, useState } from "react";
import type { RunDetail } from "../run/types.ts";
import { RunEnd } from "../settle/run-end.tsx";
import { ChooseVariant, type Variant } from "../ticket/choose-variant.tsx";
import { whyNotChoose } from "../ticket/variant-words.ts";
import { Button } from "../ui/button.tsx";

type Props = {
  readonly run: RunDetail;
  /** The variants of the group that the first run belongs to; empty without one. */
  readonly variants: readonly Variant[];
  readonly others: number;
};

export function Choosing({ run, variants, others }: Props): ReactNode {
  const [isChoosing, setChoosing] = useState(false);
  const variant = variants.find(({ id }) => id === run.subject.id);
  return (
    <div className="flex flex-col items-start gap-2">
      {variant !== undefined && (
        <Button
          look="primary"
          disabledBecause={whyNotChoose(variant) ?? undefined}
          aria-label={`Choose ${variant.id}`}
          onClick={() => setChoosing(true)}
        >
          Choose this one
        </Button>
      )}
      {run.end === null ? (
        <p className="text-muted">It has not ended yet.</p>
      ) : (
        <RunEnd id={run.id} number={run.number} subject={run.subject} end={run.end} />
      )}
      {variant === undefined && run.end !== null && run.end.verbs.length > 0 && (
        <p className="text-xs text-muted">
          Nothing happens to the {others === 1 ? "other" : "others"}: its branch stays until you discard it.
        </p>
      )}
      {isChoosing && variant !== undefined && (
        <ChooseVariant variant={variant} all={variants} close={() => setChoosing(false)} />
      )}
    </div>
  );
}
