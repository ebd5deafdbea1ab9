// Where the work of an ended run is, and the commands that land, propose, inspect or discard it.

import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { SafeText } from "./safe-text.tsx";

export function RunEnd({ end }: { readonly end: NonNullable<AnswerTo<"showRun">["end"]> }): ReactNode {
  return (
    <section aria-label="Where the work is" className="flex flex-col gap-1 text-sm">
      <p className="[overflow-wrap:anywhere]">
        <SafeText max={600}>{end.text}</SafeText>
      </p>
      {end.commands.length > 0 && (
        <ul className="flex flex-col gap-0.5">
          {end.commands.map(({ act, command }) => (
            <li key={act} className="flex flex-wrap items-baseline gap-x-2">
              <span className="text-muted">{act}</span>
              <code className="font-mono text-xs break-all">
                <SafeText max={400}>{command}</SafeText>
              </code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
