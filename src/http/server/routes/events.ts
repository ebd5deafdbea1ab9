// Live events: one stream per caller, from its last position.

import { ROUTES } from "../../contract/routes.ts";
import { problem } from "../answer-problem.ts";
import { eventStream } from "../events/stream.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { optional } from "../../../core/optional.ts";

export function mountEvents(mount: MountRoute, { store, events }: Pick<ServerDeps, "store" | "events">): void {
  mount.response(ROUTES.events, async ({ query: { after, run, ticket, kind } }, context) => {
    const found = run === undefined ? undefined : await findRun(store, run);
    if (found !== undefined && !found.ok) return problem(context, found.error);
    // A HEAD request would hold a stream open without end.
    if (context.req.method === "HEAD") return new Response(null, { headers: { "content-type": "text/event-stream" } });
    const outgoing = context.env?.outgoing;
    const stream = await eventStream(events, {
      lastEventId: context.req.header("last-event-id"),
      after,
      filter: {
        ...(found === undefined ? {} : { runId: found.value.run.id }),
        ...optional({ subjectId: ticket, kinds: kind }),
      },
      signal: context.req.raw.signal,
      ...(outgoing === undefined ? {} : { destroy: () => outgoing.destroy() }),
    });
    if (stream.ok) return stream.value;
    const { code, message, hint } = stream.error;
    return problem(context, { code, detail: message, ...optional({ hint }) });
  });
}
