// The dialog that starts a run: the project, the flow, its files and the task, who plays it, what it may cost, and what the start would do.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { shellWord } from "../../../src/core/shell-word.ts";
import { flowsQuery, ownProjectQuery, projectsQuery } from "../base/queries.ts";
import { Choice } from "../ui/choice.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Failure } from "../ui/states.tsx";
import { useFields } from "../ui/use-fields.ts";
import { choicesBody, choicesFlags, NO_CHOICES, wrongAmounts } from "./start-choices.ts";
import { StartPlayers } from "./start-players.tsx";
import { type Exception, StartPreview } from "./start-preview.tsx";
import { refusedFields, usePreview, useStart } from "./start-requests.ts";

export function StartRun({ close, flow: given }: { readonly close: () => void; readonly flow?: string }): ReactNode {
  const flows = useQuery(flowsQuery);
  const known = flows.data?.flows ?? [];
  const [chosen, setFlow] = useState(given);
  const [values, field] = useFields({ title: "", body: "", id: "" });
  const [paths, setPaths] = useState<Readonly<Record<string, string>>>({});
  const [project, setProject] = useState("");
  const [choices, setChoices] = useState(NO_CHOICES);
  const [allowed, setAllowed] = useState<readonly Exception[]>([]);
  const flow = chosen ?? known.find(({ name }) => name === "feature")?.name ?? known[0]?.name ?? "";
  const inputs = inputsOf(known, flow);
  const input = enteredPaths(inputs, paths);
  const missing = inputs.find(({ name, required }) => required && input[name] === undefined)?.name;
  const asked = { flow, input, ...(project === "" ? {} : { project }), ...choicesBody(choices) };
  const look = usePreview(asked, flow !== "" && missing === undefined);
  const needs = look.data?.refused?.needs ?? [];
  const allow = needs.filter((need) => allowed.includes(need));
  const [title, id] = [values.title.trim(), values.id.trim()];
  const starting = useStart(
    { ...asked, title, body: values.body, ...(id === "" ? {} : { id }), ...(allow.length === 0 ? {} : { allow }) },
    close,
  );
  const refused = refusedFields([look.error, starting.error], (place) => isShown(place, inputs));
  const errors = { ...refused.fields, ...wrongAmounts(choices) };
  const whyNot = starting.isPending
    ? "The run is starting."
    : whyNotYet({ flow, title, missing, isAllowed: allow.length >= needs.length, wrong: wrongAmounts(choices) });
  const command = `${commandOf({ flow, title, input, project, allow })}${choicesFlags(choices)}`;
  return (
    <FormDialog
      title="Start a run"
      close={close}
      submit={() => starting.mutate()}
      action="Start"
      disabledBecause={whyNot}
      error={refused.rest}
      command={command}
    >
      {flows.error !== null && <Failure error={flows.error} retry={() => void flows.refetch()} />}
      <ProjectChoice project={project} pick={setProject} />
      <Choice
        label="Flow"
        value={flow}
        options={optionsOf(known)}
        error={errors["/flow"]}
        pick={(name) => {
          setFlow(name);
          // The stages of one flow are not those of another.
          setChoices({ ...choices, agents: {}, models: {} });
        }}
      />
      <TextField label="Title" maxLength={200} autoFocus error={errors["/title"]} {...field("title")} />
      <Inputs inputs={inputs} paths={paths} change={setPaths} errors={errors} />
      <TextArea label="What to do" rows={4} maxLength={256 * 1024} {...field("body")} />
      <StartPlayers flow={flow} choices={choices} change={setChoices} preview={look.data} errors={errors} />
      {look.data !== undefined && look.error === null && (
        <StartPreview
          preview={look.data}
          asked={flow}
          allowed={allow}
          command={`${command} --dry-run`}
          allow={(exception, is) =>
            setAllowed([...allowed.filter((each) => each !== exception), ...(is ? [exception] : [])])
          }
        />
      )}
      <TextField
        label="Ticket id (optional)"
        hint="Runs with the same id belong to the same ticket."
        maxLength={200}
        error={errors["/id"]}
        {...field("id")}
      />
    </FormDialog>
  );
}

type KnownFlow = AnswerTo<"listFlows">["flows"][number];
type Texts = Readonly<Record<string, string>>;

/** The paths that were entered, of inputs that this flow has. */
function enteredPaths(inputs: KnownFlow["inputs"], paths: Texts): Record<string, string> {
  return Object.fromEntries(
    inputs.flatMap(({ name }) => {
      const path = (paths[name] ?? "").trim();
      return path === "" ? [] : [[name, path]];
    }),
  );
}

/** Whether a field of the form has this place in the request. */
function isShown(place: string, inputs: KnownFlow["inputs"]): boolean {
  if (place.startsWith("/input/")) return inputs.some(({ name }) => place === `/input/${name}`);
  return /^\/(?:title|id|flow|workspace|(?:agents|models|budget)\/.*)$/u.test(place);
}

function Inputs({
  inputs,
  paths,
  change,
  errors,
}: {
  readonly inputs: KnownFlow["inputs"];
  readonly paths: Texts;
  readonly change: (paths: Texts) => void;
  readonly errors: Texts;
}): ReactNode {
  return inputs.map(({ name, kind, required, about }) => (
    <TextField
      key={name}
      label={`${name}${required ? "" : " (optional)"}`}
      hint={`A ${kind} of the project${about === "" ? "." : `: ${about}.`}`}
      maxLength={500}
      value={paths[name] ?? ""}
      error={errors[`/input/${name}`]}
      onChange={({ target }) => change({ ...paths, [name]: target.value })}
    />
  ));
}

function whyNotYet(form: {
  readonly flow: string;
  readonly title: string;
  /** The first file that has no path yet. */
  readonly missing: string | undefined;
  readonly isAllowed: boolean;
  readonly wrong: Texts;
}): string | undefined {
  if (form.flow === "") return "There are no flows.";
  if (form.title === "") return "Enter a title.";
  if (form.missing !== undefined) return `Enter the path of ${form.missing}.`;
  if (Object.keys(form.wrong).length > 0) return "A budget is an amount above 0.";
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

/** A family comes before its flows: the files choose one of them. */
function optionsOf(known: readonly KnownFlow[]): { readonly value: string; readonly name: string }[] {
  const families = [...new Set(known.flatMap(({ family }) => family ?? []))];
  return [
    ...families.map((name) => ({ value: name, name: `${name} · the flow that its files choose` })),
    ...known.map(({ name, title }) => ({ value: name, name: `${name} · ${title}` })),
  ];
}

/** The inputs of a start of this flow; of a family the inputs of all its flows. */
function inputsOf(known: readonly KnownFlow[], chosen: string): KnownFlow["inputs"] {
  const flows = known.filter(({ name, family }) => name === chosen || family === chosen);
  const named = new Map(flows.flatMap(({ inputs }) => inputs.map((input) => [input.name, input] as const)));
  return [...named.values()];
}

type Typed = {
  readonly flow: string;
  readonly title: string;
  readonly input: Texts;
  readonly project: string;
  readonly allow: readonly Exception[];
};

function commandOf({ flow, title, input, project, allow }: Typed): string {
  const pairs = Object.entries(input).map(([name, path]) => ` --input ${shellWord(`${name}=${path}`)}`);
  const where = project === "" ? "" : `--project ${shellWord(project)} `;
  const flags = allow.map((exception) => ` --allow-${exception}`);
  return `passrail ${where}run ${flow} ${shellWord(title || "…")}${pairs.join("")}${flags.join("")}`;
}
