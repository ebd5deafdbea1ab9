// The worker's requests to its node. It only ever asks: nothing has to reach the worker's machine.

import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PollAnswer } from "../claim/board.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import type { FromWorker, HeldClaim, WorkerHello } from "../core/worker/wire.ts";
import type { ApiProblem } from "../http/client/answer.ts";
import { createClient } from "../http/client/client.ts";
import { pathOf } from "../http/contract/route.ts";
import { ROUTES } from "../http/contract/routes.ts";

export type NodeLink = {
  /** The node that it asks now. */
  readonly url: string;
  /** How many addresses there are. */
  readonly count: number;
  /** From now on it asks the next one. */
  turn(): void;
  poll(said: {
    readonly hello: WorkerHello;
    readonly node: string | null;
    readonly held: readonly HeldClaim[];
    readonly leaving: boolean;
    readonly leaseMs: number;
  }): Promise<Result<PollAnswer, ApiProblem>>;
  /** The number of the last message that the node has applied. */
  deliver(claim: string, body: Delivered): Promise<Result<number, ApiProblem>>;
  /** Writes the bundle of a claim's first commit into a file. "later": this node cannot answer now; it, or the next one, will. */
  fetchCommits(
    claim: string,
    known: readonly string[],
    file: string,
    signal: AbortSignal,
  ): Promise<Result<null> | "later">;
};

type Delivered = {
  readonly instance: string;
  readonly node: string;
  readonly from: number;
  readonly messages: readonly FromWorker[];
};

const CALL_MS = 15_000;
/** Longer than the node's long poll. The worker leaves a silent node for the next one before the agents' lease ends. */
const POLL_EXTRA_MS = 3000;

/** `urls`: the addresses of the nodes that share a database, or of the only one. */
export function createNodeLink(urls: readonly [string, ...string[]], token: () => string): NodeLink {
  const bases = urls.map((url) => url.replace(/\/+$/u, ""));
  let at = 0;
  const base = (): string => bases[at % bases.length] ?? urls[0];
  // Made for each call: the file of the token may have been replaced.
  const client = (timeoutMs = CALL_MS) => createClient({ url: base(), token: token(), timeoutMs, retries: 0 });
  return {
    get url() {
      return base();
    },
    count: bases.length,
    turn() {
      at = (at + 1) % bases.length;
    },
    async poll({ hello, node, held, leaving, leaseMs }) {
      const body = {
        hello: { ...hello, labels: [...hello.labels] },
        node,
        held: held.map((each) => ({ ...each })),
        leaving,
      };
      const waitMs = Math.min(CALL_MS, leaseMs / 8 + POLL_EXTRA_MS);
      const answer = await client(waitMs).call("pollWork", { body });
      // The worker has chosen its node and believes it.
      return answer.ok ? ok(answer.value as unknown as PollAnswer) : answer;
    },
    async deliver(claim, { instance, node, from, messages }) {
      const body = { instance, node, from, messages: messages.map((each) => ({ ...each })) };
      const answer = await client().call("deliverWork", { params: { claim }, body });
      return answer.ok ? ok(answer.value.taken) : answer;
    },
    async fetchCommits(claim, known, file, signal) {
      const asked = base();
      // A node that was left for another one may never answer.
      const left = new AbortController();
      const watch = setInterval(() => base() !== asked && left.abort(), LEFT_MS);
      try {
        const response = await fetch(`${asked}${pathOf(ROUTES.fetchCommits.path, { claim })}`, {
          method: "POST",
          redirect: "manual",
          headers: { authorization: `Bearer ${token()}`, "content-type": "application/json" },
          body: JSON.stringify({ known }),
          signal: AbortSignal.any([signal, left.signal]),
        });
        if (response.status === 200 && response.body !== null) {
          await pipeline(Readable.fromWeb(response.body), createWriteStream(file, { mode: 0o600 }));
          return ok(null);
        }
        const { detail = "" } = (await response.json()) as { detail?: string };
        // It has the claim and cannot make them. Other answers change with the node: it is on standby, or has not adopted the claim yet.
        return response.status === CANNOT ? err(noCommits(detail.slice(0, 500))) : "later";
      } catch {
        return "later";
      } finally {
        clearInterval(watch);
      }
    },
  };
}

const LEFT_MS = 500;
/** Of the problem `commits_refused`. */
const CANNOT = 422;

const noCommits = (why: string): Problem => ({
  code: "commits_missing",
  message: `The node did not send the commits that the attempt begins at: ${why}.`,
});
