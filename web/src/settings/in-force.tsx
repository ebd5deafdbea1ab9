// The settings: those that can be changed here, budgets first, and below them everything that is in force with its origin.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { settingsQuery } from "../agents/queries.ts";
import { Button } from "../ui/button.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { EditSetting } from "./edit-setting.tsx";
import { type SettingRow, textOf } from "./setting-value.ts";
import { valueText } from "./value-text.ts";

type SettingsAnswer = AnswerTo<"settings">;

export function InForce(): ReactNode {
  const { data, error, refetch } = useQuery(settingsQuery);
  const [chosen, setChosen] = useState<SettingRow | null>(null);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="settings" />;
  const isBudget = ({ name }: SettingRow): boolean => name.startsWith("budgets.");
  return (
    <div className="flex flex-col gap-4">
      <Panel title="Budgets">
        <p className="mb-3 text-sm text-muted">
          When a limit is reached, the run waits for a person. The day counts from midnight UTC. A run's own budget is
          changed on its page.
        </p>
        <Editable label="Budgets" rows={data.editable.filter(isBudget)} all={data} choose={setChosen} />
      </Panel>
      <Panel title="Change here">
        <Editable
          label="Other settings"
          rows={data.editable.filter((row) => !isBudget(row))}
          all={data}
          choose={setChosen}
        />
      </Panel>
      <details className="rounded-lg border border-line bg-panel">
        <summary className="flex min-h-11 cursor-pointer items-center px-4 text-sm font-semibold">
          Everything in force: {data.settings.length} settings,{" "}
          {data.settings.filter(({ from }) => from !== "default").length} not at their default
        </summary>
        <div className="border-t border-line p-4">
          <Everything data={data} />
        </div>
      </details>
      {chosen !== null && <EditSetting setting={chosen} files={data.files} close={() => setChosen(null)} />}
    </div>
  );
}

function Editable({
  label,
  rows,
  all,
  choose,
}: {
  readonly label: string;
  readonly rows: readonly SettingRow[];
  readonly all: SettingsAnswer;
  readonly choose: (row: SettingRow) => void;
}): ReactNode {
  return (
    <Table label={label} head={["Setting", "In force", "Your file", "Project's file", "Act"]}>
      {rows.map((row) => (
        <Row key={row.name}>
          <Cell of="Setting" head>
            <code className="text-xs">{row.name}</code>
            <span className="block text-xs text-muted">{row.about}</span>
          </Cell>
          <Cell of="In force" number>
            <SafeText max={80}>{inForce(all, row.name)}</SafeText>
          </Cell>
          <Cell of="Your file" number empty={row.user === null}>
            <SafeText max={80}>{textOf(row.user) || "—"}</SafeText>
          </Cell>
          <Cell of="Project's file" number empty={row.project === null}>
            <SafeText max={80}>{textOf(row.project) || "—"}</SafeText>
          </Cell>
          <Cell of="Act">
            <Button onClick={() => choose(row)}>
              Change<span className="sr-only"> {row.name}</span>
            </Button>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

/** A key inside of a group is found in the value of its group. */
function inForce({ settings }: SettingsAnswer, name: string): string {
  const exact = settings.find((each) => each.name === name);
  if (exact !== undefined) return valueText(exact.value);
  const [group = "", ...path] = name.split(".");
  let value: unknown = settings.find((each) => each.name === group)?.value;
  for (const key of path)
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  if (name.startsWith("budgets.") && value === null) return "no limit";
  // A number of eight digits is not read without its groups.
  return typeof value === "number" ? value.toLocaleString("en-US") : valueText(value);
}

function Everything({ data }: { readonly data: SettingsAnswer }): ReactNode {
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-muted">
        Highest precedence first: flag, environment, the project's passrail.yaml, your own passrail.yaml, default.
        Secrets are not shown. The project's file counts in the version that you{" "}
        <Link to="/trust" className="underline">
          approved
        </Link>
        . Settings that name programs are changed in the file, or with <code>passrail config set</code>.
      </p>
      <Table label="Settings" head={["Setting", "Value", "From"]}>
        {data.settings.map(({ name, value, from }) => (
          <Row key={name}>
            <Cell of="Setting" head>
              <code className="text-xs">{name}</code>
            </Cell>
            <Cell of="Value">
              <span className="break-words">
                <SafeText max={500}>{valueText(value)}</SafeText>
              </span>
            </Cell>
            <Cell of="From">
              <Badge tone={from === "default" ? "quiet" : "active"}>{from}</Badge>
            </Cell>
          </Row>
        ))}
      </Table>
    </div>
  );
}
