// The project's files that decide what runs: the effects of an approval, every changed line, and the button that approves exactly the
// version that the page shows.

import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { queryClient, trustQuery } from "../base/queries.ts";
import type { Tone } from "../base/status.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Ago } from "../ui/time.tsx";
import { toast } from "../ui/toast.ts";

type Trust = AnswerTo<"showTrust">;
type TrustFile = Trust["files"][number];

export function TrustPage(): ReactNode {
  return (
    <>
      <PageHead title="Trust" />
      <TrustFiles />
    </>
  );
}

/** Every changed line, and the buttons that approve or revoke. */
export function TrustFiles(): ReactNode {
  const { data: latest, error, refetch } = useQuery(trustQuery);
  // The page keeps the version that the person reads; a newer one is shown only when they ask for it.
  const [seen, setSeen] = useState<Trust | null>(null);
  const data = seen ?? latest;
  useEffect(() => {
    if (seen === null && latest !== undefined) setSeen(latest);
  }, [seen, latest]);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the project's files" />;
  return (
    <div className="flex flex-col gap-4">
      {latest !== undefined && latest.hash !== data.hash && <Moved lookAgain={() => setSeen(latest)} />}
      <Standing trust={data} onDone={setSeen} />
      {data.effects.length > 0 && <Effects trust={data} />}
      {data.files.map((file) => (
        <FileOf key={file.path} file={file} />
      ))}
    </div>
  );
}

const STATES: Readonly<Record<Trust["state"], { readonly tone: Tone; readonly text: string }>> = {
  none: { tone: "quiet", text: "This project brings no files that decide what runs." },
  new: { tone: "attention", text: "These files are not approved. Nothing starts before you approve them." },
  approved: { tone: "good", text: "Approved. Runs use these files." },
  changed: { tone: "attention", text: "The files have changed. Runs keep the approved version." },
};

function Moved({ lookAgain }: { readonly lookAgain: () => void }): ReactNode {
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3 rounded-md bg-warning-soft px-3 py-2 text-sm">
      The files have changed since this page showed them.
      <Button onClick={lookAgain}>Look again</Button>
    </div>
  );
}

type StandingProps = { readonly trust: Trust; readonly onDone: (after: Trust) => void };

function Standing({ trust, onDone }: StandingProps): ReactNode {
  const { tone, text } = STATES[trust.state];
  return (
    <Panel title="Files that decide what runs">
      <div className="flex flex-col gap-3 text-sm">
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone={tone}>{trust.state}</Badge>
          {text}
        </p>
        <p className="text-muted">
          passrail.yaml, .passrail/ and .claude/agents/ count in the version that you approved, whatever an agent, a
          merge or a pull makes of them.
        </p>
        {trust.approved !== null && (
          <p className="text-muted">
            Approved by <SafeText max={100}>{trust.approved.by}</SafeText> <Ago at={trust.approved.approvedAt} />
          </p>
        )}
        <div className="flex flex-wrap items-start gap-2">
          {(trust.state === "new" || trust.state === "changed") && <Approve trust={trust} onDone={onDone} />}
          {(trust.state === "approved" || trust.state === "changed") && trust.approved !== null && (
            <Revoke hash={trust.approved.hash} onDone={onDone} />
          )}
        </div>
      </div>
    </Panel>
  );
}

function Approve({ trust: { hash }, onDone }: StandingProps): ReactNode {
  const sending = useMutation({
    mutationFn: () => call("approveTrust", { body: { hash } }),
    onSuccess: (after) => {
      queryClient.setQueryData(trustQuery.queryKey, after);
      onDone(after);
      toast("Approved. Runs use these files from now on.");
    },
    // Another version is there now: show it before anything can be approved.
    onError: () => void queryClient.invalidateQueries({ queryKey: trustQuery.queryKey }),
  });
  return (
    <div className="flex flex-col gap-2">
      {sending.error !== null && <Failure error={sending.error} />}
      <Button
        look="primary"
        onClick={() => sending.mutate()}
        disabledBecause={sending.isPending ? "It is being approved." : undefined}
      >
        Approve this version
      </Button>
    </div>
  );
}

function Revoke({ hash, onDone }: { readonly hash: string; readonly onDone: (after: Trust) => void }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const sending = useMutation({
    mutationFn: () => call("revokeTrust", { body: { hash } }),
    onSuccess: (after) => {
      queryClient.setQueryData(trustQuery.queryKey, after);
      setAsking(false);
      onDone(after);
      toast("Revoked. Nothing new starts before the files are approved again.");
    },
    onError: () => void queryClient.invalidateQueries({ queryKey: trustQuery.queryKey }),
  });
  return (
    <>
      <Button onClick={() => setAsking(true)}>Revoke the approval…</Button>
      {isAsking && (
        <FormDialog
          title="Revoke the approval"
          close={() => setAsking(false)}
          submit={() => sending.mutate()}
          action="Revoke"
          look="danger"
          disabledBecause={sending.isPending ? "It is being revoked." : undefined}
          error={sending.error}
          command="passrail trust revoke"
        >
          <p className="text-sm">
            Nothing new starts in this project until a person approves its files again. Runs at work continue.
          </p>
        </FormDialog>
      )}
    </>
  );
}

const SIGNS = { added: "+", removed: "−", same: "" } as const;
const COLOURS = { added: "text-good", removed: "text-bad", same: "" } as const;

function Effects({ trust: { effects, state } }: { readonly trust: Trust }): ReactNode {
  return (
    <Panel title={state === "changed" ? "What would change" : "What they make Passrail do"}>
      <ul className="flex flex-col gap-0.5 text-sm">
        {effects.map(({ change, text }) => (
          <li key={`${change} ${text}`} className={`flex [overflow-wrap:anywhere] ${COLOURS[change]}`}>
            <span aria-hidden="true" className="w-4 shrink-0">
              {SIGNS[change]}
            </span>
            {change !== "same" && <span className="sr-only">{change}: </span>}
            <span className="min-w-0">
              <SafeText max={300}>{text}</SafeText>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function FileOf({ file }: { readonly file: TrustFile }): ReactNode {
  const frame = "rounded-md border border-line text-sm";
  const head = "flex min-h-9 flex-wrap items-center gap-2 px-3 py-1.5 pointer-coarse:min-h-11";
  if (file.diff === "")
    return (
      <div className={`${frame} ${head}`}>
        <FileHead file={file} />
      </div>
    );
  return (
    <details className={frame} open>
      <summary className={`cursor-pointer ${head}`}>
        <FileHead file={file} />
      </summary>
      <pre tabIndex={0} className="overflow-x-auto border-t border-line bg-sunken p-3 font-mono text-xs">
        {file.diff.split("\n").map((line, at) => (
          // Lines repeat; their place is their name.
          <span key={`${at} ${line}`} className={`block ${colourOf(line)}`}>
            <SafeText max={2000}>{line}</SafeText>
          </span>
        ))}
      </pre>
    </details>
  );
}

function FileHead({ file: { path, kind, change } }: { readonly file: TrustFile }): ReactNode {
  return (
    <>
      <code className="font-mono text-xs [overflow-wrap:anywhere]">
        <SafeText max={400}>{path}</SafeText>
      </code>
      <span className="text-muted">{kind}</span>
      <Badge tone={change === "same" ? "quiet" : "attention"}>{change === "same" ? "unchanged" : change}</Badge>
    </>
  );
}

function colourOf(line: string): string {
  if (line.startsWith("+")) return "text-good";
  return line.startsWith("-") ? "text-bad" : "text-muted";
}
