// The dialog that starts a run: the project, the flow, its files and the task, and what the start would do.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { WorkspaceMode } from "../../../src/core/flow/workspace-mode.ts";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { flowsQuery, ownProjectQuery, projectsQuery, queryClient } from "../base/queries.ts";
import { shellWord } from "../../../src/core/shell-word.ts";
import { Choice, TextArea, TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Failure } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { useFields } from "../ui/use-fields.ts";
import { useSettled } from "../ui/use-settled.ts";
import { NO_PLAYERS, playersBody, playersFlags } from "./players.ts";
import { StartPlayers } from "./start-players.tsx";
import { type Exception, StartPreview } from "./start-preview.tsx";

export function StartRun({ close, flow: given }: { readonly close: () => void; readonly flow?: string }): ReactNode {
  const flows = useQuery(flowsQuery);
  const known = flows.data?.flows ?? [];
  const [chosen, setFlow] = useState(given);
  const [values, field] = useFields({ title: "", body: "", id: "" });
  const [paths, setPaths] = useState<Readonly<Record<string, string>>>({});
  const flow = chosen ?? known.find(({ name }) => name === "feature")?.name ?? known[0]?.name ?? "";
  const title = values.title.trim();
  const inputs = inputsOf(known, flow);
  const input = Object.fromEntries(
    inputs.flatMap(({ name }) => {
      const path = (paths[name] ?? "").trim();
      return path === "" ? [] : [[name, path]];
    }),
  );
  const missing = inputs.find(({ name, required }) => required && input[name] === undefined);
  const [project, setProject] = useState("");
  const [players, setPlayers] = useState(NO_PLAYERS);
  const place = { ...(project === "" ? {} : { project }), ...playersBody(players) };
  const look = usePreview({ flow, input, ...place }, flow !== "" && missing === undefined);
  const needs = look.data?.refused?.needs ?? [];
  const [allowed, setAllowed] = useState<readonly Exception[]>([]);
  const allow = needs.filter((need) => allowed.includes(need));
  const starting = useStart(
    { flow, title, body: values.body, id: values.id.trim(), input, ...place, ...(allow.length === 0 ? {} : { allow }) },
    close,
  );
  const whyNot = starting.isPending
    ? "The run is starting."
    : whyNotYet({ flow, title, missing: missing?.name, isAllowed: allow.length >= needs.length });
  // The agents of one flow are not those of another.
  const pickFlow = (name: string): void => {
    setFlow(name);
    setPlayers({ ...players, agents: {} });
  };
  return (
    <FormDialog
      title="Start a run"
      close={close}
      submit={() => starting.mutate()}
      action="Start"
      disabledBecause={whyNot}
      error={starting.error ?? look.error}
      command={`${commandOf({ flow, title, input, project, allow })}${playersFlags(players)}`}
    >
      {flows.error !== null && <Failure error={flows.error} retry={() => void flows.refetch()} />}
      <ProjectChoice project={project} pick={setProject} />
      <Choice label="Flow" value={flow} options={optionsOf(known)} pick={pickFlow} />
      <TextField label="Title" maxLength={200} autoFocus {...field("title")} />
      {inputs.map(({ name, kind, required, about }) => (
        <TextField
          key={name}
          label={`${name}${required ? "" : " (optional)"}`}
          hint={`A ${kind} of the project${about === "" ? "." : `: ${about}.`}`}
          maxLength={500}
          value={paths[name] ?? ""}
          onChange={({ target }) => setPaths({ ...paths, [name]: target.value })}
        />
      ))}
      {look.data !== undefined && (
        <StartPreview
          preview={look.data}
          asked={flow}
          allowed={allow}
          allow={(exception, is) =>
            setAllowed(is ? [...allowed, exception] : allowed.filter((each) => each !== exception))
          }
        />
      )}
      <StartPlayers flow={flow} players={players} change={setPlayers} />
      <TextArea label="What to do" rows={6} maxLength={256 * 1024} {...field("body")} />
      <TextField
        label="Ticket id (optional)"
        hint="Runs with the same id belong to the same ticket."
        maxLength={200}
        {...field("id")}
      />
    </FormDialog>
  );
}

type NewRun = {
  readonly flow: string;
  readonly title: string;
  readonly body: string;
  readonly id: string;
  readonly input: Readonly<Record<string, string>>;
  readonly project?: string;
  readonly allow?: readonly Exception[];
  readonly agents?: Record<string, string>;
  readonly workspace?: WorkspaceMode;
};

function whyNotYet(form: {
  readonly flow: string;
  readonly title: string;
  /** The first file that has no path yet. */
  readonly missing: string | undefined;
  readonly isAllowed: boolean;
}): string | undefined {
  if (form.flow === "") return "There are no flows.";
  if (form.title === "") return "Enter a title.";
  if (form.missing !== undefined) return `Enter the path of ${form.missing}.`;
  return form.isAllowed ? undefined : "Allow the exception, or commit first.";
}

/** Nothing to choose where no project has a name. */
function ProjectChoice({
  project,
  pick,
}: {
  readonly project: string;
  readonly pick: (project: string) => void;
}): ReactNode {
  const projects = useQuery(projectsQuery).data?.projects ?? [];
  const own = useQuery(ownProjectQuery).data?.path ?? "";
  const others = projects.filter(({ isOwn, present }) => present && !isOwn);
  if (others.length === 0) return null;
  const name = projects.find(({ isOwn }) => isOwn)?.name ?? own.slice(own.lastIndexOf("/") + 1);
  const options = [
    { value: "", name: `${name} · the daemon's own` },
    ...others.map((each) => ({ value: each.name, name: `${each.name} · ${each.folder}` })),
  ];
  return <Choice label="Project" value={project} options={options} pick={pick} />;
}

const PAUSE_MS = 400;

/** Asks when a person stops typing; the daemon makes the checks of a real start and stores nothing. */
function usePreview(body: Pick<NewRun, "flow" | "input" | "project" | "agents" | "workspace">, isWhole: boolean) {
  const text = JSON.stringify(body);
  const asked = useSettled(text, PAUSE_MS);
  return useQuery({
    queryKey: ["preview", asked],
    queryFn: ({ signal }) => call("previewRun", { body: JSON.parse(asked) as typeof body }, { signal }),
    enabled: isWhole && asked === text,
    // The files and the repository change without an event of ours.
    staleTime: 0,
    gcTime: 0,
  });
}

type KnownFlow = AnswerTo<"listFlows">["flows"][number];

/** A family comes before its flows: the files choose one of them. */
function optionsOf(known: readonly KnownFlow[]): { readonly value: string; readonly name: string }[] {
  const families = [...new Set(known.flatMap(({ family }) => family ?? []))];
  return [
    ...families.map((name) => ({ value: name, name: `${name} · the flow that its files choose` })),
    ...known.map(({ name, title }) => ({ value: name, name: `${name} · ${title}` })),
  ];
}

/** What a start of this flow names; of a family everything that one of its flows names. */
function inputsOf(known: readonly KnownFlow[], chosen: string): KnownFlow["inputs"] {
  const flows = known.filter(({ name, family }) => name === chosen || family === chosen);
  const named = new Map(flows.flatMap(({ inputs }) => inputs.map((input) => [input.name, input] as const)));
  return [...named.values()];
}

type Typed = Pick<NewRun, "flow" | "title" | "input"> & {
  readonly project: string;
  readonly allow: readonly Exception[];
};

function commandOf({ flow, title, input, project, allow }: Typed): string {
  const pairs = Object.entries(input).map(([name, path]) => ` --input ${shellWord(`${name}=${path}`)}`);
  const where = project === "" ? "" : `--project ${shellWord(project)} `;
  const flags = allow.map((exception) => ` --allow-${exception}`);
  return `passrail ${where}run ${flow} ${shellWord(title || "…")}${pairs.join("")}${flags.join("")}`;
}

function useStart({ id, allow = [], ...body }: NewRun, close: () => void) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => call("startRun", { body: { ...body, allow: [...allow], ...(id === "" ? {} : { id }) } }),
    onSuccess: ({ run }) => {
      toast(`Run #${run.number} started.`);
      void queryClient.invalidateQueries({ queryKey: ["runs"] });
      close();
      void navigate({ to: "/runs/$run", params: { run: String(run.number) } });
    },
  });
}
