// Says what an act will do to each selected thing and what it leaves alone, asks once, and hands it over to be sent.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { call } from "../base/api.ts";
import { morning } from "../now/put-off.ts";
import type { Act } from "../run/acts.ts";
import { TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { holdBatch } from "./batch.ts";
import { asksFor, BULK_WORDS, type BulkVerb, isDangerous, type Planned, planFor, type BulkSubject } from "./plan.ts";

type Props = {
  readonly verb: BulkVerb;
  readonly subjects: readonly BulkSubject[];
  readonly close: () => void;
  /** After it was handed over. */
  readonly done: () => void;
};

export function BulkDialog({ verb, subjects, close, done }: Props): ReactNode {
  const [text, setText] = useState("");
  // The selection when it was opened: rows that come and go behind the dialog change nothing.
  const [chosen] = useState(subjects);
  const [until] = useState(() => morning(new Date(), 1).toISOString());
  const acts = useActs(chosen);
  const plans = useMemo(
    () => chosen.map((subject) => planFor(verb, subject, acts.data ?? new Map(), until)),
    [chosen, verb, acts.data, until],
  );
  const affected = plans.filter(({ deeds }) => deeds.length > 0);
  const left = plans.filter(({ deeds }) => deeds.length === 0);
  const title = `${BULK_WORDS[verb]} ${affected.length} of ${plans.length}`;
  const asks = asksFor(verb);
  const submit = (): void => {
    holdBatch(
      `${BULK_WORDS[verb]}: ${affected.length} ${affected.length === 1 ? "entry" : "entries"}`,
      text.trim(),
      affected.flatMap(({ title: of, name, deeds }) => deeds.map((deed) => ({ title: of, name, deed }))),
    );
    close();
    done();
  };
  return (
    <FormDialog
      title={title}
      close={close}
      submit={submit}
      action={`${BULK_WORDS[verb]} ${affected.length}`}
      look={isDangerous(verb) ? "danger" : "primary"}
      disabledBecause={
        acts.isPending ? "What each allows is loading." : affected.length === 0 ? "It would change nothing." : undefined
      }
      error={null}
      command={commandFor(affected)}
    >
      {acts.error !== null && <Failure error={acts.error} retry={() => void acts.refetch()} />}
      {acts.isPending ? (
        <Loading what="what each allows" />
      ) : (
        <>
          {affected.length > 0 && <Plans title="What will happen" plans={affected} />}
          {left.length > 0 && <Plans title="Left alone" plans={left} />}
        </>
      )}
      {asks !== null && (
        <TextField label={asks} maxLength={1000} value={text} onChange={({ target }) => setText(target.value)} />
      )}
    </FormDialog>
  );
}

const RUNS_AT_ONCE = 100;

/** Read anew each time the dialog opens. */
function useActs(subjects: readonly BulkSubject[]) {
  const ids = subjects.flatMap(({ run }) => run?.id ?? []);
  return useQuery({
    queryKey: ["acts-of", ids],
    queryFn: async ({ signal }) => {
      const known = new Map<string, readonly Act[]>();
      for (let at = 0; at < ids.length; at += RUNS_AT_ONCE) {
        const runs = ids.slice(at, at + RUNS_AT_ONCE).join(",");
        const answer = await call("listActsOfRuns", { query: { runs } }, { signal });
        for (const { run, acts } of answer.runs) known.set(run, acts);
      }
      return known;
    },
    staleTime: 0,
    gcTime: 0,
  });
}

function Plans({ title, plans }: { readonly title: string; readonly plans: readonly Planned[] }): ReactNode {
  return (
    <section aria-label={title} className="flex flex-col gap-1">
      <h3 className="text-xs font-semibold text-muted">
        {title} · {plans.length}
      </h3>
      <ul className="flex max-h-[32dvh] flex-col gap-1 overflow-y-auto text-sm">
        {plans.map(({ key, name, title: of, text }) => (
          <li key={key} className="rounded-md bg-sunken px-2.5 py-1.5 [overflow-wrap:anywhere]">
            <span className="font-mono text-xs">
              <SafeText max={40}>{name}</SafeText>
            </span>{" "}
            <SafeText max={120}>{of}</SafeText>
            <span className="block text-xs text-muted">
              <SafeText max={400}>{text}</SafeText>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The same in a terminal, for the first few. */
function commandFor(plans: readonly Planned[]): string {
  const lines = [...new Set(plans.flatMap(({ command }) => (command === "" ? [] : [command])))];
  return [...lines.slice(0, 3), ...(lines.length > 3 ? [`# and ${lines.length - 3} more`] : [])].join("\n");
}
