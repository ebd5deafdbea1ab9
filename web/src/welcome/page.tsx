// The first page for a new user: the demo, the first ticket, the repository, and the installed programs.

import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { Runners } from "../agents/runners.tsx";
import { whoQuery } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { Project } from "./project.tsx";
import { useStartDemo } from "./start-demo.ts";

const NewTicket = lazy(async () => ({ default: (await import("../ticket/new-ticket.tsx")).NewTicket }));
const StartRun = lazy(async () => ({ default: (await import("../run/start-run.tsx")).StartRun }));

export function WelcomePage(): ReactNode {
  const who = useQuery(whoQuery).data;
  const demo = useStartDemo();
  const [box, setBox] = useState<"ticket" | "run" | null>(null);
  const cannot = who !== undefined && !who.scopes.includes("operate") ? "Your token can only read." : undefined;
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4">
      <PageHead title="Welcome to Passrail" />
      <p className="-mt-3 max-w-prose text-muted">
        A ticket enters, agents work on it stage by stage, verdicts pick the next stage, and you decide only at gates.
      </p>
      <div className="grid grid-cols-1 gap-4 md:grid-cols-2">
        <Panel title="See it work">
          <div className="flex flex-col items-start gap-3 text-sm">
            <p>
              Two runs on the real engine in a scratch repository, with small programs as agents. Within a minute QA
              sends one back, it is revised, and then waits for you at its gate.
            </p>
            <Button
              look="primary"
              onClick={() => demo.mutate()}
              disabledBecause={cannot ?? (demo.isPending ? "The demo is starting." : undefined)}
            >
              Run the demo: no API key
            </Button>
            <CopyLine>passrail demo</CopyLine>
          </div>
        </Panel>
        <Panel title="Start your own">
          <div className="flex flex-col items-start gap-3 text-sm">
            <p>Describe what to do. The ticket becomes a file in your project, and agents pick it up in its turn.</p>
            <Button look="primary" onClick={() => setBox("ticket")} disabledBecause={cannot}>
              Create a ticket
            </Button>
            <CopyLine>{`passrail ticket new 'What to do'`}</CopyLine>
            <p>Or choose a flow and start at once:</p>
            <Button onClick={() => setBox("run")} disabledBecause={cannot}>
              Start a run
            </Button>
          </div>
        </Panel>
      </div>
      <Panel title="The repository">
        <Project />
      </Panel>
      <Panel title="Programs that can play agents">
        <Runners />
      </Panel>
      <Suspense>
        {box === "ticket" && <NewTicket close={() => setBox(null)} />}
        {box === "run" && <StartRun close={() => setBox(null)} />}
      </Suspense>
    </div>
  );
}
