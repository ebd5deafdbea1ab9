// API keys for programs and other people. The daemon shows a token once and then knows only its name.

import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { queryClient, whoQuery } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Choice } from "../ui/choice.tsx";
import { TextField } from "../ui/field.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { toast } from "../ui/toast.ts";
import { useFields } from "../ui/use-fields.ts";

const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: ({ signal }) => call("listKeys", {}, { signal }),
});

type Key = AnswerTo<"listKeys">["keys"][number];
type Open = { readonly is: "create" } | { readonly is: "revoke"; readonly key: Key } | null;

export function ApiKeys(): ReactNode {
  const { data, error, refetch } = useQuery(keysQuery);
  const mayOperate = useQuery(whoQuery).data?.scopes.includes("operate") === true;
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => {
    setOpen(null);
    void queryClient.invalidateQueries({ queryKey: ["keys"] });
  };
  return (
    <Panel
      title="API keys"
      actions={
        <Button
          onClick={() => setOpen({ is: "create" })}
          disabledBecause={mayOperate ? undefined : "Your token can only read."}
        >
          Create a key
        </Button>
      }
    >
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="keys" />
      ) : data.keys.length === 0 ? (
        <p className="text-sm text-muted">No keys yet. The daemon's own token is in its home folder.</p>
      ) : (
        <Table label="API keys" head={["Key", "Can", "Created", "Actions"]}>
          {data.keys.map((key) => (
            <Row key={key.id}>
              <Cell of="Key" head>
                <strong>{key.name}</strong> <code className="text-xs text-muted">{key.id}</code>
                {key.note !== "" && (
                  <span className="block text-xs text-muted">
                    <SafeText max={200}>{key.note}</SafeText>
                  </span>
                )}
              </Cell>
              <Cell of="Can">
                {CAN[key.kind]}
                {limitsOf(key).map((limit) => (
                  <span key={limit} className="block text-xs text-muted">
                    <SafeText max={220}>{limit}</SafeText>
                  </span>
                ))}
              </Cell>
              <Cell of="Created">
                <Ago at={key.createdAt} />
              </Cell>
              <Cell of="Actions">
                <Button look="danger" aria-label={`Revoke ${key.name}`} onClick={() => setOpen({ is: "revoke", key })}>
                  Revoke
                </Button>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {open?.is === "create" && <CreateKey close={close} />}
      {open?.is === "revoke" && <RevokeKey of={open.key} close={close} />}
    </Panel>
  );
}

const CAN: Readonly<Record<Key["kind"], string>> = {
  operator: "do everything",
  viewer: "read",
  agent: "work as its agent",
  worker: "carry out attempts",
  webhook: "send webhooks",
};
const KINDS = [
  { value: "viewer", name: "viewer: can read" },
  { value: "operator", name: "operator: can do everything" },
  { value: "agent", name: "agent: an agent outside, which works as itself" },
  { value: "worker", name: "worker: another machine, which carries out attempts" },
  { value: "webhook", name: "webhook: a source that sends" },
] as const;

function limitsOf({ agent, story, labels, expiresAt }: Key): readonly string[] {
  return [
    ...(agent === undefined ? [] : [agent]),
    ...(story === undefined ? [] : [`story ${story}`]),
    ...(labels === undefined ? [] : [`labels ${labels.join(", ")}`]),
    ...(expiresAt === undefined ? [] : [`until ${expiresAt}`]),
  ];
}

function CreateKey({ close }: { readonly close: () => void }): ReactNode {
  const [values, field] = useFields({ name: "", note: "", agent: "", story: "" });
  const [kind, setKind] = useState<Key["kind"]>("viewer");
  const name = values.name.trim();
  const [agent, story] = [values.agent.trim(), values.story.trim()];
  const limits = kind === "agent" ? { agent, ...(story === "" ? {} : { story }) } : {};
  const making = useMutation({
    mutationFn: () => call("createKey", { body: { name, kind, note: values.note, ...limits } }),
  });
  const missing = name === "" ? "Enter a name." : kind === "agent" && agent === "" ? "Enter the agent." : undefined;
  const flags = kind === "agent" ? ` --agent ${agent || "AGENT"}${story === "" ? "" : ` --story ${story}`}` : "";
  if (making.data !== undefined)
    return (
      <Dialog title={`Key ${making.data.name}`} close={close}>
        <div className="flex flex-col gap-3 text-sm">
          <p>
            <strong>Copy the token now: it is shown only once.</strong> With it, anyone can {CAN[making.data.kind]}.
          </p>
          <CopyLine>{making.data.token}</CopyLine>
          <div className="flex justify-end">
            <Button look="primary" onClick={close}>
              I have copied it
            </Button>
          </div>
        </div>
      </Dialog>
    );
  return (
    <FormDialog
      title="Create a key"
      close={close}
      submit={() => making.mutate()}
      action="Create key"
      disabledBecause={missing ?? (making.isPending ? "The key is being created." : undefined)}
      error={making.error}
      command={`passrail key create ${name === "" ? "NAME" : name} --scope ${kind}${flags}`}
    >
      <TextField
        label="Name"
        hint="The history shows it for everything done with this key."
        maxLength={48}
        autoFocus
        {...field("name")}
      />
      <Choice
        label="Kind"
        options={KINDS}
        value={kind}
        pick={(value) => setKind(KINDS.find((each) => each.value === value)?.value ?? "viewer")}
      />
      {kind === "agent" && (
        <>
          <TextField
            label="Agent"
            hint="It hands over and reports as this agent only."
            maxLength={100}
            {...field("agent")}
          />
          <TextField
            label="Story"
            hint="Leave it empty for every story of the agent."
            maxLength={200}
            {...field("story")}
          />
        </>
      )}
      <TextField label="Note" maxLength={200} {...field("note")} />
    </FormDialog>
  );
}

function RevokeKey({ of: key, close }: { readonly of: Key; readonly close: () => void }): ReactNode {
  const revoking = useMutation({
    mutationFn: () => call("revokeKey", { params: { key: key.id } }),
    onSuccess: () => {
      toast(`Revoked ${key.name}.`);
      close();
    },
  });
  return (
    <Dialog title={`Revoke ${key.name}?`} close={close}>
      <div className="flex flex-col gap-3 text-sm">
        <p>The daemon refuses this key from now on. You cannot undo this.</p>
        <CopyLine>{`passrail key revoke ${key.id}`}</CopyLine>
        {revoking.error !== null && <Failure error={revoking.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Close</Button>
          <Button
            look="danger"
            onClick={() => revoking.mutate()}
            disabledBecause={revoking.isPending ? "The key is being revoked." : undefined}
          >
            Revoke
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
