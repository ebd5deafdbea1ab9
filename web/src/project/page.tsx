// The projects that people can start runs in, and the line of work in each.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { ownProjectQuery, projectsQuery } from "../base/queries.ts";
import { shellWord } from "../../../src/core/shell-word.ts";
import type { Tone } from "../base/status.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { AddProject } from "./add-project.tsx";
import { Queue } from "./queue.tsx";
import { RemoveProject } from "./remove-project.tsx";

type Project = AnswerTo<"listProjects">["projects"][number];
type Box = { readonly is: "add"; readonly folder: string } | { readonly is: "remove"; readonly project: Project };

const HEAD = ["Project", "Trust", "Last run", "Actions"] as const;

export function ProjectsPage(): ReactNode {
  const { data, error, refetch } = useQuery(projectsQuery);
  const own = useQuery(ownProjectQuery).data?.path ?? "";
  const [box, setBox] = useState<Box | null>(null);
  const add = (folder = ""): void => setBox({ is: "add", folder });
  return (
    <div className="flex flex-col gap-4">
      <PageHead title="Projects">
        <Button look="primary" onClick={() => add()}>
          Add a project
        </Button>
      </PageHead>
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="projects" />
      ) : (
        <>
          {own !== "" && !data.projects.some(({ isOwn }) => isOwn) && <Own folder={own} add={() => add(own)} />}
          {data.projects.length === 0 ? (
            <Empty title="No projects are registered.">
              <p>A name for a folder lets you start runs there from anywhere: here, on the command line, in tickets.</p>
              <CopyLine>passrail projects add .</CopyLine>
            </Empty>
          ) : (
            <Panel title="Registered" actions={<CopyLine>passrail projects list</CopyLine>}>
              <Table label="Projects" head={HEAD}>
                {data.projects.map((project) => (
                  <ProjectRow key={project.name} project={project} remove={() => setBox({ is: "remove", project })} />
                ))}
              </Table>
            </Panel>
          )}
        </>
      )}
      <Queue />
      {box?.is === "add" && <AddProject folder={box.folder} close={() => setBox(null)} />}
      {box?.is === "remove" && <RemoveProject project={box.project} close={() => setBox(null)} />}
    </div>
  );
}

/** The daemon's folder, which needs no name. */
function Own({ folder, add }: { readonly folder: string; readonly add: () => void }): ReactNode {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-panel px-4 py-3 text-sm">
      <p className="min-w-0 [overflow-wrap:anywhere]">
        The daemon works on{" "}
        <code className="font-mono text-xs">
          <SafeText max={400}>{folder}</SafeText>
        </code>
        . It has no name yet.
      </p>
      <Button onClick={add}>Give it a name</Button>
    </div>
  );
}

const TRUST: Readonly<Record<Project["trust"], { readonly tone: Tone; readonly word: string; readonly text: string }>> =
  {
    none: { tone: "quiet", word: "nothing to approve", text: "" },
    new: { tone: "attention", word: "not approved", text: "Nothing starts before you approve its files." },
    approved: { tone: "good", word: "approved", text: "" },
    changed: { tone: "attention", word: "changed", text: "Runs use the approved version." },
    unreadable: { tone: "bad", word: "unreadable", text: "" },
  };

function ProjectRow({ project, remove }: { readonly project: Project; readonly remove: () => void }): ReactNode {
  const { name, folder, present, isOwn, lastRun } = project;
  return (
    <Row>
      <Cell of="Project" head>
        <span className="flex flex-col gap-0.5">
          <span className="flex flex-wrap items-center gap-2">
            <strong className="font-medium [overflow-wrap:anywhere]">{name}</strong>
            {isOwn && <Badge tone="active">the daemon's own</Badge>}
            {!present && <Badge tone="bad">folder is gone</Badge>}
          </span>
          <code className="font-mono text-xs text-muted [overflow-wrap:anywhere]">
            <SafeText max={400}>{folder}</SafeText>
          </code>
        </span>
      </Cell>
      <Cell of="Trust">
        <Trusted project={project} />
      </Cell>
      <Cell of="Last run">
        {lastRun === null ? (
          <span className="text-muted">none</span>
        ) : (
          <>
            <Link
              to="/runs/$run"
              params={{ run: String(lastRun.number) }}
              className="line-clamp-2 underline [overflow-wrap:anywhere]"
            >
              #{lastRun.number} <SafeText max={400}>{lastRun.title}</SafeText>
            </Link>{" "}
            <span className="text-muted">
              <SafeText max={60}>{lastRun.word}</SafeText>, <Ago at={lastRun.updatedAt} />
            </span>
          </>
        )}
      </Cell>
      <Cell of="Actions">
        <Button onClick={remove} aria-label={`Remove ${name}`}>
          Remove
        </Button>
      </Cell>
    </Row>
  );
}

/** Only the daemon's own project has a page for its approval. */
function Trusted({ project: { trust, isOwn, folder, present } }: { readonly project: Project }): ReactNode {
  const { tone, word, text } = TRUST[trust];
  const needsPerson = trust === "new" || trust === "changed";
  return (
    <span className="flex flex-col gap-1 max-md:items-end">
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>{word}</Badge>
        {needsPerson && isOwn && (
          <Link to="/trust" className="underline">
            Look at them
          </Link>
        )}
      </span>
      {present && text !== "" && <span className="text-xs text-muted">{text}</span>}
      {needsPerson && !isOwn && (
        <code className="font-mono text-xs text-muted [overflow-wrap:anywhere]">
          <SafeText max={400}>{`cd ${shellWord(folder)} && passrail trust`}</SafeText>
        </code>
      )}
    </span>
  );
}
