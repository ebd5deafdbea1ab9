// What the stand-ins of three trackers share: a server on loopback and its issues. Each is written from the tracker's published description,
// takes the requests that it describes, and refuses others. None ever saw the real service.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export type FakeIssue = {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  labels: string[];
  /** The tracker's own name. */
  state: string;
};

export type FakeTracker = {
  readonly url: string;
  readonly issues: FakeIssue[];
  /** Answers every request with this status instead. */
  answer: number | null;
  /** Too many requests, as this tracker says it. */
  busy: boolean;
  /** Requests that change something. */
  readonly changes: string[];
  close(): void;
};

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
};
type Reply = { readonly status: number; readonly body?: unknown };

export async function openFake(
  issues: FakeIssue[],
  answerCall: (fake: FakeTracker, call: Call) => Reply,
): Promise<FakeTracker> {
  const server: Server = createServer((incoming, response) => {
    let text = "";
    incoming.on("data", (chunk: Buffer) => (text += chunk.toString()));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const reply =
        fake.answer === null ? answered({ method, path: url, headers, body: text }) : { status: fake.answer };
      response.writeHead(reply.status, { "content-type": "application/json" });
      response.end(reply.body === undefined ? "" : JSON.stringify(reply.body));
    });
  });
  /** What the description does not have is refused with the reason. */
  const answered = (call: Call & { readonly body: string }): Reply => {
    try {
      return answerCall(fake, { ...call, body: call.body === "" ? null : (JSON.parse(call.body) as unknown) });
    } catch (error) {
      return { status: 400, body: { message: error instanceof Error ? error.message : "refused" } };
    }
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeTracker = {
    url: `http://127.0.0.1:${port}`,
    issues,
    answer: null,
    busy: false,
    changes: [],
    close: () => void server.close(),
  };
  return fake;
}
