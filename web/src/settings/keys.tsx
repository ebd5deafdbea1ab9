// Keys for programs and other people. A token is shown once; afterwards only its name is known.

import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { queryClient, whoQuery } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice, TextField } from "../ui/field.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { toast } from "../ui/toast.tsx";

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
          disabledBecause={mayOperate ? undefined : "Your token may only look."}
        >
          Make a key
        </Button>
      }
    >
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="keys" />
      ) : data.keys.length === 0 ? (
        <p className="text-sm text-muted">No key was made. The daemon's own token is in its home folder.</p>
      ) : (
        <Table label="API keys" head={["Key", "May", "Made", "Do"]}>
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
              <Cell of="May">{MAY[key.kind]}</Cell>
              <Cell of="Made">
                <Ago at={key.createdAt} />
              </Cell>
              <Cell of="Do">
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

const MAY: Readonly<Record<Key["kind"], string>> = {
  operator: "everything",
  viewer: "look",
  webhook: "send webhooks",
};
const KINDS = [
  { value: "viewer", name: "viewer: may look" },
  { value: "operator", name: "operator: may do everything" },
  { value: "webhook", name: "webhook: a source that sends" },
] as const;

function CreateKey({ close }: { readonly close: () => void }): ReactNode {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Key["kind"]>("viewer");
  const [note, setNote] = useState("");
  const making = useMutation({ mutationFn: () => call("createKey", { body: { name: name.trim(), kind, note } }) });
  if (making.data !== undefined)
    return (
      <Dialog title={`The key ${making.data.name}`} close={close}>
        <div className="flex flex-col gap-3 text-sm">
          <p>
            <strong>This is shown once.</strong> Whoever has it may {MAY[making.data.kind]}.
          </p>
          <CopyLine>{making.data.token}</CopyLine>
          <div className="flex justify-end">
            <Button look="primary" onClick={close}>
              I have it
            </Button>
          </div>
        </div>
      </Dialog>
    );
  const missing = name.trim() === "" ? "A name is needed." : undefined;
  return (
    <Dialog title="Make a key" close={close}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (missing === undefined && !making.isPending) making.mutate();
        }}
      >
        <TextField
          label="Name"
          hint="Who acts with it: it stands in the history."
          value={name}
          maxLength={48}
          autoFocus
          onChange={({ target }) => setName(target.value)}
        />
        <Choice
          label="Kind"
          options={KINDS}
          value={kind}
          pick={(value) => setKind(KINDS.find((each) => each.value === value)?.value ?? "viewer")}
        />
        <TextField label="Note" value={note} maxLength={200} onChange={({ target }) => setNote(target.value)} />
        <CopyLine>{`passrail key create ${name.trim() === "" ? "NAME" : name.trim()} --scope ${kind}`}</CopyLine>
        {making.error !== null && <Failure error={making.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Not now</Button>
          <Button
            type="submit"
            look="primary"
            disabledBecause={missing ?? (making.isPending ? "It is being made." : undefined)}
          >
            Make the key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function RevokeKey({ of: key, close }: { readonly of: Key; readonly close: () => void }): ReactNode {
  const revoking = useMutation({
    mutationFn: () => call("revokeKey", { params: { key: key.id } }),
    onSuccess: () => {
      toast(`${key.name} is revoked.`);
      close();
    },
  });
  return (
    <Dialog title={`Revoke ${key.name}?`} close={close}>
      <div className="flex flex-col gap-3 text-sm">
        <p>Whoever uses it is refused from now on. This cannot be undone.</p>
        <CopyLine>{`passrail key revoke ${key.id}`}</CopyLine>
        {revoking.error !== null && <Failure error={revoking.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Not now</Button>
          <Button
            look="danger"
            onClick={() => revoking.mutate()}
            disabledBecause={revoking.isPending ? "It is being done." : undefined}
          >
            Revoke
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
