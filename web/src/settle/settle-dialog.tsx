// Asks once before a loose end is settled: the effect of the act, the text or the program that it takes, and the command that does the same.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../base/api.ts";
import { plain } from "../base/plain-text.ts";
import { Choice } from "../ui/choice.tsx";
import { TextArea } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { type About, asksFor, type Doing, isDangerous, nameOf, type SettleVerb } from "./acts.ts";
import { unsentOf, useSettling } from "./use-settling.ts";

type Props = {
  readonly about: About;
  readonly title: string;
  readonly verb: Omit<SettleVerb, "act"> & { readonly act: Doing };
  readonly close: () => void;
};

export function SettleDialog({ about, title, verb, close }: Props): ReactNode {
  const { act, effect, command } = verb;
  const [text, setText] = useState(() => unsentOf(about).text);
  const [runner, setRunner] = useState("");
  const name = nameOf(verb);
  const asks = asksFor(act);
  const doing = useSettling({ about, title, act, name }, close);
  const whyNot =
    asks?.isNeeded === true && text.trim() === ""
      ? "Enter a reason."
      : act.do === "retry-with" && runner === ""
        ? "Choose a program."
        : doing.isPending
          ? "It is being done."
          : undefined;
  return (
    <FormDialog
      title={`${name}: ${plain(title, 80)}`}
      close={close}
      submit={() => doing.mutate({ text: text.trim(), runner })}
      action={name}
      look={isDangerous(act) ? "danger" : "primary"}
      disabledBecause={whyNot}
      error={doing.error}
      command={act.do === "retry-with" && runner !== "" ? command.replace("RUNNER", runner) : command}
    >
      <p className="text-sm [overflow-wrap:anywhere]">
        <SafeText max={600}>{effect}</SafeText>
      </p>
      {act.do === "retry-with" && <Programs value={runner} pick={setRunner} />}
      {asks !== null && (
        <TextArea label={asks.label} value={text} maxLength={10_000} onChange={({ target }) => setText(target.value)} />
      )}
    </FormDialog>
  );
}

/** The programs that are installed here, and whether they are logged in. */
function Programs({ value, pick }: { readonly value: string; readonly pick: (runner: string) => void }): ReactNode {
  const { data, error } = useQuery({
    queryKey: ["runners"],
    queryFn: ({ signal }) => call("listRunners", {}, { signal }),
  });
  const found = data?.runners.filter((each) => each.found) ?? [];
  const none =
    error !== null
      ? "The programs could not be listed."
      : data === undefined || data.checking
        ? "Looking for programs…"
        : "Choose…";
  return (
    <Choice
      label="Program"
      value={value}
      pick={pick}
      options={[
        { value: "", name: found.length === 0 && data?.checking === false ? "No program was found." : none },
        ...found.map(({ runner, login }) => ({
          value: runner,
          name: login === "no" ? `${runner} (not logged in)` : runner,
        })),
      ]}
    />
  );
}
