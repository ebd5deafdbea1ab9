// Where the work of an ended run is, and the buttons that land, propose, show or discard it.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { whoQuery } from "../base/queries.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { mayNot } from "./acts.ts";
import { Verbs } from "./verbs.tsx";

type Props = Pick<AnswerTo<"showRun">, "id" | "number" | "subject"> & {
  readonly end: NonNullable<AnswerTo<"showRun">["end"]>;
};

export function RunEnd({ id, number, subject, end }: Props): ReactNode {
  const { data: who } = useQuery(whoQuery);
  return (
    <section aria-label="Where the work is" className="flex flex-col gap-2 text-sm">
      <p className="[overflow-wrap:anywhere]">
        <SafeText max={600}>{end.text}</SafeText>
      </p>
      {end.verbs.length > 0 && (
        <Verbs
          about={{ run: { id, number }, ticket: null }}
          title={subject.title}
          verbs={end.verbs}
          disabledBecause={mayNot(who)}
        />
      )}
    </section>
  );
}
