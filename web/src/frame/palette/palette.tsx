// The command palette: every action by name, with its keys and the command line that does the same.

import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useState } from "react";
import { useLiveState } from "../../base/live/live.ts";
import { undoSeconds } from "../../base/undo-time.ts";
import { heldAnswer } from "../../inbox/send-held.ts";
import { type Given, useAnswer } from "../../inbox/use-answer.ts";
import { type Deed, entriesOf, type Entry } from "./entries.ts";
import { matching } from "./match.ts";
import { useKnown } from "./known.ts";
import type { Act } from "../../run/acts.ts";
import { logOut } from "../../settings/sign-off.ts";
import { hold } from "../../settle/held.ts";
import { CopyLine } from "../../ui/copy-line.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { plain } from "../../base/plain-text.ts";
import { toast } from "../../ui/toast.ts";
import { useStartDemo } from "../../welcome/start-demo.ts";
import { keysText } from "../../base/keyboard.ts";
import { setTheme } from "../../base/theme.ts";

const ActDialog = lazy(async () => ({ default: (await import("../../run/run-actions.tsx")).ActDialog }));
const NewTicket = lazy(async () => ({ default: (await import("../../ticket/new-ticket.tsx")).NewTicket }));
const StartRun = lazy(async () => ({ default: (await import("../../run/start-run.tsx")).StartRun }));

type Step =
  | { readonly is: "list" }
  | { readonly is: "start" | "new-ticket" }
  | { readonly is: "act"; readonly act: Act }
  | { readonly is: "stop"; readonly run: { readonly id: string; readonly number: number }; readonly stage: string };
type Props = {
  readonly close: () => void;
  readonly showKeys: () => void;
  readonly holdAll: (act: "pause" | "resume") => void;
};

export function Palette({ close, showKeys, holdAll }: Props): ReactNode {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const [step, setStep] = useState<Step>({ is: "list" });
  const known = useKnown(text);
  const entries = matching(entriesOf(known), text);
  const perform = usePerform({ close, showKeys, holdAll, next: setStep, item: known.item });
  const selected = entries.find(({ title }) => title.toLowerCase() === chosen.toLowerCase());

  if (step.is === "new-ticket" || step.is === "start")
    return <Suspense>{step.is === "start" ? <StartRun close={close} /> : <NewTicket close={close} />}</Suspense>;
  const asked = askedAct(step, known);
  if (asked !== undefined)
    return (
      <Suspense>
        <ActDialog {...asked} close={close} />
      </Suspense>
    );

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !event.shiftKey || selected?.cli === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    void navigator.clipboard.writeText(selected.cli).then(
      () => toast(`Copied: ${selected.cli}`),
      () => toast("The browser did not allow copying.", "warning"),
    );
    close();
  };
  return (
    <Dialog title="Commands" close={close} wide>
      <Command
        label="Commands"
        value={chosen}
        onValueChange={setChosen}
        onKeyDown={onKeyDown}
        shouldFilter={false}
        loop
      >
        <Command.Input
          autoFocus
          value={text}
          onValueChange={setText}
          maxLength={200}
          placeholder="What do you want to do? A name, a text or a run's number"
          className="mb-2 w-full rounded-md border border-line bg-page px-3 py-2 text-sm pointer-coarse:min-h-11"
        />
        <Command.List className="max-h-[48dvh] overflow-auto">
          <Command.Empty className="p-3 text-sm text-muted">No matching commands.</Command.Empty>
          {groupsOf(entries).map(([group, list]) => (
            <Command.Group
              key={group}
              heading={group}
              className="[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
            >
              {list.map((entry) => (
                <Line key={entry.title} entry={entry} perform={perform} />
              ))}
            </Command.Group>
          ))}
        </Command.List>
        <div className="mt-2 flex min-h-9 flex-col gap-1 border-t border-line pt-2 text-xs text-muted">
          {selected?.cli !== undefined && <CopyLine>{selected.cli}</CopyLine>}
          <span className="max-md:hidden">
            {keysText("Enter")} runs it · {keysText("Shift+Enter")} copies its command
          </span>
        </div>
      </Command>
    </Dialog>
  );
}

/** The subject of the next step; undefined if it is another one. */
function askedAct(step: Step, { run, runId }: ReturnType<typeof useKnown>) {
  if (step.is === "stop") return { run: step.run, act: { act: "stop", stage: step.stage, why: null } as const };
  if (step.is !== "act" || run === undefined || runId === undefined) return undefined;
  return { run: { id: runId, number: run.number }, act: step.act };
}

function Line({ entry, perform }: { readonly entry: Entry; readonly perform: (deed: Deed) => void }): ReactNode {
  const { title, keys, cli, deed } = entry;
  return (
    <Command.Item
      value={title}
      onSelect={() => perform(deed)}
      className="flex min-h-9 cursor-pointer items-center justify-between gap-3 rounded-md px-3 py-1 text-sm data-[selected=true]:bg-chosen pointer-coarse:min-h-11"
    >
      <span className="min-w-0 truncate">{plain(title, 200)}</span>
      <span className="flex shrink-0 items-center gap-2 text-xs text-muted">
        {cli !== undefined && <code className="max-w-48 truncate max-md:hidden">{plain(cli, 100)}</code>}
        {keys !== undefined && <kbd className="font-mono">{keysText(keys)}</kbd>}
      </span>
    </Command.Item>
  );
}

function groupsOf(entries: readonly Entry[]): readonly (readonly [string, readonly Entry[]])[] {
  const groups = [...new Set(entries.map(({ group }) => group))];
  return groups.map((group) => [group, entries.filter((entry) => entry.group === group)] as const);
}

type Item = ReturnType<typeof useKnown>["item"];

function usePerform(given: Props & { readonly next: (step: Step) => void; readonly item: Item }): (deed: Deed) => void {
  const { close, showKeys, holdAll, next, item } = given;
  const navigate = useNavigate();
  const demo = useStartDemo();
  const answer = useAnswer(item ?? NO_ITEM, item?.version ?? "");
  const isLive = useLiveState().is === "live";
  const decide = (given: Given): void => {
    const seconds = undoSeconds();
    if (item !== undefined && seconds > 0 && isLive) hold(heldAnswer(item, item.version, given), seconds * 1000);
    else answer.mutate(given);
  };
  return (deed) => {
    switch (deed.type) {
      case "start":
      case "new-ticket":
        return next({ is: deed.type });
      case "act":
        return next({ is: "act", act: deed.act });
      case "stop":
        return next({ is: "stop", run: deed.run, stage: deed.stage });
      case "keys":
        return showKeys();
      case "all":
        return holdAll(deed.act);
      case "answer":
        decide({ answer: deed.answer, text: "", issues: [], done: deed.done });
        break;
      case "demo":
        demo.mutate();
        break;
      case "theme":
        setTheme(deed.theme);
        break;
      case "logout":
        void logOut().catch(() => toast("The daemon does not answer; you are still logged in.", "bad"));
        break;
      case "go":
        void navigate({ to: deed.to });
        break;
      case "run":
        void navigate({ to: "/runs/$run", params: { run: String(deed.number) } });
        break;
      case "ticket":
        void navigate({ to: "/tickets/$ticket", params: { ticket: deed.id } });
        break;
      case "flow":
        void navigate({ to: "/flows/$flow", params: { flow: deed.name } });
        break;
      case "item":
        void navigate({ to: "/g/$item", params: { item: deed.id } });
        break;
      case "need":
        void navigate({ to: "/", search: { item: deed.id } });
        break;
      case "costly":
        void navigate({ to: "/runs", search: { sort: "-cost" } });
        break;
    }
    close();
  };
}

const NO_ITEM = { id: "", runId: "", subject: { id: "", title: "" } } as const;
