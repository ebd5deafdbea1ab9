// The endpoints of notifications, whether they work, and the delivery log.

import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { ApiError, call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { toast } from "../ui/toast.ts";
import type { IconName, Tone } from "../base/status.ts";
import { Icon } from "../ui/icon.tsx";

const AGAIN_MS = 5000;

const endpointsQuery = queryOptions({
  queryKey: ["endpoints"],
  queryFn: ({ signal }) => call("listEndpoints", {}, { signal }),
  refetchInterval: AGAIN_MS,
});
const deliveriesQuery = queryOptions({
  queryKey: ["deliveries"],
  queryFn: ({ signal }) => call("listDeliveries", { query: { limit: 50 } }, { signal }),
  refetchInterval: AGAIN_MS,
});

export function NoticesOut(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <Panel title="Endpoints">
        <Endpoints />
      </Panel>
      <Panel title="Deliveries">
        <Deliveries />
      </Panel>
    </div>
  );
}

/** Runs an action, reports it, and reloads the lists. */
function useAct(act: () => Promise<unknown>, said: string) {
  return useMutation({
    mutationFn: act,
    onSuccess: () => toast(said),
    onError: (error) => toast(error instanceof ApiError ? error.problem.detail : "The action failed.", "bad"),
    onSettled: () =>
      queryClient.invalidateQueries({
        predicate: ({ queryKey: [kind] }) => kind === "endpoints" || kind === "deliveries",
      }),
  });
}

type Endpoint = AnswerTo<"listEndpoints">["endpoints"][number];

function Endpoints(): ReactNode {
  const { data, error, refetch } = useQuery(endpointsQuery);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="endpoints" />;
  if (data.endpoints.length === 0)
    return (
      <Empty title="No notification endpoints.">
        <p>
          Add an endpoint below <code>notify</code> in passrail.yaml: a webhook, Slack, ntfy or a command.
        </p>
      </Empty>
    );
  return (
    <Table label="Endpoints" head={["Endpoint", "Kind", "Status", "Actions"]}>
      {data.endpoints.map((endpoint) => (
        <EndpointRow key={endpoint.name} endpoint={endpoint} />
      ))}
    </Table>
  );
}

function EndpointRow({
  endpoint: { name, format, disabled, failing, pending },
}: {
  readonly endpoint: Endpoint;
}): ReactNode {
  const params = { endpoint: name };
  const test = useAct(() => call("testEndpoint", { params, body: {} }), `Sending a test notification to ${name}.`);
  const enable = useAct(() => call("enableEndpoint", { params, body: {} }), `${name} is enabled again.`);
  return (
    <Row>
      <Cell of="Endpoint" head>
        <strong>{name}</strong>
      </Cell>
      <Cell of="Kind">{format}</Cell>
      <Cell of="Status">
        {disabled ? (
          <Badge tone="bad">
            <Icon name="ended" /> disabled: it answered 410
          </Badge>
        ) : failing !== null ? (
          <>
            <Badge tone="attention">
              <Icon name="warning" /> failing
            </Badge>
            <span className="block text-xs text-muted">
              <SafeText max={200}>{failing}</SafeText>
            </span>
          </>
        ) : (
          <Badge tone="good">
            <Icon name="check" /> working
          </Badge>
        )}
        {pending > 0 && <span className="block text-xs text-muted">{pending} pending</span>}
      </Cell>
      <Cell of="Actions">
        {disabled ? (
          <Button onClick={() => enable.mutate()}>Enable again</Button>
        ) : (
          <Button onClick={() => test.mutate()} disabledBecause={test.isPending ? "It is being sent." : undefined}>
            Send a test
          </Button>
        )}
      </Cell>
    </Row>
  );
}

type Delivery = AnswerTo<"listDeliveries">["deliveries"][number];

const STANDING: Readonly<Record<Delivery["status"], { readonly icon: IconName; readonly tone: Tone }>> = {
  pending: { icon: "circle", tone: "active" },
  delivered: { icon: "check", tone: "good" },
  failed: { icon: "cross", tone: "bad" },
  withdrawn: { icon: "ended", tone: "quiet" },
};

function Deliveries(): ReactNode {
  const { data, error, refetch } = useQuery(deliveriesQuery);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="deliveries" />;
  if (data.deliveries.length === 0) return <p className="text-sm text-muted">No deliveries yet.</p>;
  return (
    <Table label="Deliveries, newest first" head={["When", "To", "What", "Status", "Actions"]}>
      {data.deliveries.map((delivery) => (
        <DeliveryRow key={delivery.id} delivery={delivery} />
      ))}
    </Table>
  );
}

function DeliveryRow({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const { id, queuedAt, endpoint, text, event, status, tries, history } = delivery;
  const again = useAct(() => call("redeliver", { params: { delivery: id }, body: {} }), "Sending it again.");
  const last = history.at(-1)?.result;
  return (
    <Row>
      <Cell of="When">
        <Ago at={queuedAt} />
      </Cell>
      <Cell of="To">{endpoint}</Cell>
      <Cell of="What">
        <SafeText max={200}>{text}</SafeText>
        <span className="block text-xs text-muted">{event}</span>
      </Cell>
      <Cell of="Status">
        <Badge tone={STANDING[status].tone}>
          <Icon name={STANDING[status].icon} /> {status}
        </Badge>
        <span className="block text-xs text-muted">
          {tries} {tries === 1 ? "try" : "tries"}
          {last !== undefined && (
            <>
              {", "}
              <SafeText max={120}>{last}</SafeText>
            </>
          )}
        </span>
      </Cell>
      <Cell of="Actions">
        <Button
          onClick={() => again.mutate()}
          disabledBecause={
            status === "pending" ? "It is already being sent." : again.isPending ? "It is being sent." : undefined
          }
        >
          Send again
        </Button>
      </Cell>
    </Row>
  );
}
