// Changes one setting: in whose file, to which value, and what that does to the file, before it is written. The daemon refuses it if the
// file has changed since.

import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { shellWord } from "../../../src/core/shell-word.ts";
import { Choice } from "../ui/choice.tsx";
import { TextField } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { toast } from "../ui/toast.ts";
import { useSettled } from "../ui/use-settled.ts";
import { type SettingRow, EFFECTS, readValue, textOf } from "./setting-value.ts";

type Scope = "user" | "project";
/** A person who types is not asked about every letter. */
const SETTLED_MS = 250;

const SCOPES = [
  { value: "user", name: "Your file, for all of your projects" },
  { value: "project", name: "The project's file, for everyone who works on it" },
];

export function EditSetting({
  setting,
  files,
  close,
}: {
  readonly setting: SettingRow;
  readonly files: AnswerTo<"settings">["files"];
  readonly close: () => void;
}): ReactNode {
  const [scope, setScope] = useState<Scope>(setting.project === null ? "user" : "project");
  const [text, setText] = useState(textOf(setting[scope]));
  const value = readValue(setting, text);
  const settled = useSettled(text, SETTLED_MS);
  const diff = useQuery({
    queryKey: ["settings", "diff", setting.name, scope, settled],
    queryFn: ({ signal }) =>
      call("editSetting", { body: { scope, name: setting.name, value: value ?? null } }, { signal }),
    enabled: value !== undefined && settled === text,
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  const writing = useMutation({
    mutationFn: (version: string) =>
      call("editSetting", { body: { scope, name: setting.name, value: value ?? null, version } }),
    onSuccess: ({ approved }) => {
      toast(`${setting.name} is written. ${EFFECTS[setting.effect]}`);
      if (scope === "project" && !approved)
        toast("Other changes of the project's files wait for your approval: see Trust.", "warning");
      void queryClient.invalidateQueries();
      close();
    },
    onError: () => void diff.refetch(),
  });
  const file = files.find((each) => each.scope === scope)?.path ?? "";
  const cli = value === null ? `config unset ${setting.name}` : `config set ${setting.name} ${shellWord(text.trim())}`;
  return (
    <FormDialog
      title={`Change ${setting.name}`}
      close={close}
      submit={() => diff.data !== undefined && writing.mutate(diff.data.version)}
      action="Write the file"
      disabledBecause={blockedBy({ value, diff: diff.data?.diff, isBusy: writing.isPending || diff.isFetching })}
      error={writing.error ?? diff.error}
      command={`passrail ${cli}${scope === "user" ? " --user" : ""}`}
    >
      <p className="text-sm">
        {setting.about} {EFFECTS[setting.effect]}
      </p>
      <Choice
        label="Where"
        value={scope}
        options={SCOPES}
        pick={(next) => {
          setScope(next as Scope);
          setText(textOf(setting[next as Scope]));
        }}
      />
      <ValueField setting={setting} text={text} change={setText} />
      <Diff file={file} diff={diff.data?.diff} />
    </FormDialog>
  );
}

function blockedBy({
  value,
  diff,
  isBusy,
}: {
  readonly value: unknown;
  readonly diff: string | undefined;
  readonly isBusy: boolean;
}): string | undefined {
  if (value === undefined) return "The value is not valid.";
  if (isBusy) return "One moment.";
  if (diff === undefined) return "The change could not be shown.";
  return diff === "" ? "The file says so already." : undefined;
}

function ValueField({
  setting,
  text,
  change,
}: {
  readonly setting: SettingRow;
  readonly text: string;
  readonly change: (text: string) => void;
}): ReactNode {
  const options = setting.kind === "switch" ? ["true", "false"] : setting.options;
  if (options.length > 0)
    return (
      <Choice
        label="Value"
        value={text}
        options={[{ value: "", name: "not set here" }, ...options.map((each) => ({ value: each, name: each }))]}
        pick={change}
      />
    );
  const none = setting.mayBeNone ? " The word none removes the limit." : "";
  return (
    <TextField
      label={setting.kind === "usd" ? "Dollars" : setting.kind === "count" ? "Number" : "Value"}
      hint={`Empty: not set in this file.${none}`}
      autoFocus
      maxLength={100}
      value={text}
      onChange={({ target }) => change(target.value)}
    />
  );
}

const LOOKS: Readonly<Record<string, string>> = { "+": "bg-good-soft text-good", "-": "bg-bad-soft text-bad" };

function Diff({ file, diff }: { readonly file: string; readonly diff: string | undefined }): ReactNode {
  if (diff === undefined || diff === "") return null;
  return (
    <figure aria-label="What changes" className="min-w-0">
      <figcaption className="mb-1 text-xs break-all text-muted">
        <SafeText max={400}>{file}</SafeText>
      </figcaption>
      <div role="group" className="max-h-48 overflow-auto rounded-md border border-line font-mono text-xs">
        {diff
          .trimEnd()
          .split("\n")
          .map((line, index) => (
            <div key={index} className={`px-2 break-all whitespace-pre-wrap ${LOOKS[line[0] ?? ""] ?? "text-muted"}`}>
              <SafeText max={500}>{line === "" ? " " : line}</SafeText>
            </div>
          ))}
      </div>
    </figure>
  );
}
