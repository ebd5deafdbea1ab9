// The workers that execute attempts; none without a daemon.

import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ROUTES } from "../../contract/routes.ts";
import { readDiskUse } from "../../../app/retention/disk-note.ts";
import type { WorkerKey } from "../../../claim/board.ts";
import { type FromWorker, fromWorkerSchema } from "../../../core/worker/wire.ts";
import { err, ok, type Problem, type Result } from "../../../core/result.ts";
import type { ProblemCode, Refusal } from "../../contract/problem.ts";
import { problem } from "../answer-problem.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import type { Principal } from "../principal.ts";
import { optional } from "../../../core/optional.ts";

export function mountWorkers(mount: MountRoute, deps: ServerDeps): void {
  const { home, workers, node } = deps;
  mount.json(ROUTES.listWorkers, async () => {
    const found = (await workers?.()) ?? [];
    return ok({
      disk: readDiskUse(home),
      workers: found.map((worker) => ({
        ...worker,
        labels: [...worker.labels],
        attempts: worker.attempts.map((each) => ({ ...each })),
      })),
    });
  });

  mount.json(ROUTES.steerWorker, async ({ params: { worker: name }, body: { state } }) => {
    if (node?.board.steer(name, state) === true) return ok({ name, state });
    return err({ code: "worker_not_found", detail: `There is no worker ${name}.`, hint: "passrail worker list" });
  });

  mount.response(ROUTES.pollWork, async ({ body, principal }, context) => {
    if (node === undefined) return problem(context, NO_WORKERS);
    const { hello, node: about, held, leaving } = body;
    const poll = { hello, node: about, held, isLeaving: leaving };
    const answer = await node.board.poll(keyOf(principal), poll, context.req.raw.signal);
    return answer.ok ? context.json(answer.value) : problem(context, refusalOf(answer.error));
  });

  mount.json(ROUTES.deliverWork, async ({ params: { claim }, body, principal }) => {
    if (node === undefined) return err(NO_WORKERS);
    const messages = readMessages(body.messages);
    if (!messages.ok) return messages;
    const { instance, node: about, from } = body;
    const taken = await node.board.take(keyOf(principal), {
      claim,
      instance,
      node: about,
      from,
      messages: messages.value,
    });
    return taken.ok ? ok({ taken: taken.value }) : err(refusalOf(taken.error));
  });

  mount.response(ROUTES.fetchCommits, async ({ params, body, principal }, context) => {
    if (node === undefined) return problem(context, NO_WORKERS);
    const claim = node.board.claimFor(keyOf(principal), params.claim);
    if (!claim.ok) return problem(context, refusalOf(claim.error));
    const folder = await mkdtemp(join(tmpdir(), "passrail-bundle-"));
    const remove = (): void => void rm(folder, { recursive: true, force: true });
    const file = join(folder, "work.bundle");
    const made = await node.bundleFor(claim.value, body.known, file);
    if (!made.ok) {
      remove();
      const { code, message } = made.error;
      return problem(context, { code: code === "claim_lost" ? code : "commits_refused", detail: message });
    }
    const stream = createReadStream(file);
    stream.once("close", remove);
    return new Response(Readable.toWeb(stream) as ReadableStream, {
      headers: { "content-type": "application/octet-stream" },
    });
  });
}

const NO_WORKERS: Refusal = {
  code: "no_workers",
  detail: "This process executes no attempts, so it has none to give away.",
};

/** The scope lets only workers come here. */
function keyOf(principal: Principal): WorkerKey {
  if (principal.kind !== "worker") throw new Error("the caller is not a worker");
  return { id: principal.id, labels: principal.labels };
}

function refusalOf({ code, message, hint }: Problem): Refusal {
  return { code: code as ProblemCode, detail: message, ...optional({ hint }) };
}

function readMessages(given: readonly unknown[]): Result<readonly FromWorker[], Refusal> {
  const messages: FromWorker[] = [];
  for (const [index, each] of given.entries()) {
    const read = fromWorkerSchema.safeParse(each);
    if (!read.success) {
      const detail = `Message ${index} is not as it should be: ${read.error.issues[0]?.message ?? ""}`;
      return err({ code: "invalid_field", detail, pointer: `/messages/${index}` });
    }
    messages.push(read.data);
  }
  return ok(messages);
}
