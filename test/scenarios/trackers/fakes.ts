// Stand-ins of three trackers, written from their published descriptions: they take the requests that those describe, refuse others, and
// never saw the real services.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

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
  /** Requests that change something. */
  readonly changes: string[];
  close(): void;
};

type Call = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  body: unknown;
};
type Reply = { readonly status: number; readonly body?: unknown };

async function open(issues: FakeIssue[], answerCall: (fake: FakeTracker, call: Call) => Reply): Promise<FakeTracker> {
  const server: Server = createServer((incoming, response) => {
    let text = "";
    incoming.on("data", (chunk: Buffer) => (text += chunk.toString()));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const reply =
        fake.answer === null
          ? answerCall(fake, { method, path: url, headers, body: text === "" ? null : JSON.parse(text) })
          : { status: fake.answer };
      response.writeHead(reply.status, { "content-type": "application/json" });
      response.end(reply.body === undefined ? "" : JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeTracker = {
    url: `http://127.0.0.1:${port}`,
    issues,
    answer: null,
    changes: [],
    close: () => void server.close(),
  };
  return fake;
}

const LINEAR_STATES = [
  { id: "s1", name: "Todo", type: "unstarted" },
  { id: "s2", name: "In Progress", type: "started" },
  { id: "s3", name: "In Review", type: "started" },
  { id: "s4", name: "Done", type: "completed" },
  { id: "s5", name: "Canceled", type: "canceled" },
];
const issueFilter = z.strictObject({
  team: z.strictObject({ key: z.strictObject({ eq: z.literal("ENG") }) }),
  number: z.strictObject({ in: z.array(z.number()) }).optional(),
  state: z.strictObject({ type: z.strictObject({ in: z.array(z.string()) }) }).optional(),
  labels: z.strictObject({ name: z.strictObject({ eq: z.string() }) }).optional(),
});

/** https://linear.app/developers/graphql: POST /graphql, the key as the whole Authorization, errors in a list beside `data`. */
export function openLinear(issues: FakeIssue[]): Promise<FakeTracker> {
  return open(issues, (fake, { method, path, headers, body }) => {
    if (method !== "POST" || path !== "/graphql") return { status: 404 };
    if (headers.authorization !== "key-of-ann") return { status: 401 };
    const { query, variables } = z.strictObject({ query: z.string(), variables: z.looseObject({}) }).parse(body);
    const shown = ({ id, title, body: description, labels, state }: FakeIssue) => ({
      identifier: id,
      title,
      description,
      url: `https://linear.app/acme/issue/${id}`,
      labels: { nodes: labels.map((name) => ({ name })) },
      state: LINEAR_STATES.find(({ name }) => name === state),
    });
    if (query.startsWith("query Issues")) {
      const filter = issueFilter.parse(variables["filter"]);
      const nodes = fake.issues
        .filter(({ id }) => filter.number === undefined || filter.number.in.includes(Number(id.slice(4))))
        .filter(({ labels }) => filter.labels === undefined || labels.includes(filter.labels.name.eq))
        .map(shown)
        .filter(({ state }) => filter.state === undefined || filter.state.type.in.includes(state?.type ?? ""));
      return { status: 200, body: { data: { issues: { nodes } } } };
    }
    if (query.startsWith("query States"))
      return { status: 200, body: { data: { workflowStates: { nodes: LINEAR_STATES } } } };
    const { id, stateId } = z.strictObject({ id: z.string(), stateId: z.string() }).parse(variables);
    const issue = fake.issues.find((each) => each.id === id);
    const state = LINEAR_STATES.find((each) => each.id === stateId);
    if (issue === undefined || state === undefined)
      return { status: 200, body: { data: null, errors: [{ message: "Entity not found" }] } };
    issue.state = state.name;
    fake.changes.push(`${id} ${state.name}`);
    return { status: 200, body: { data: { issueUpdate: { success: true } } } };
  });
}

const JIRA_STATES: Readonly<Record<string, string>> = {
  "To Do": "new",
  "In Progress": "indeterminate",
  "In Review": "indeterminate",
  Done: "done",
};

/** https://developer.atlassian.com/cloud/jira/platform/rest/v3: basic login, search by JQL, transitions by id, 204 without a body. */
export function openJira(issues: FakeIssue[]): Promise<FakeTracker> {
  const login = `Basic ${Buffer.from("ann@acme.example:key-of-ann").toString("base64")}`;
  return open(issues, (fake, { method, path, headers, body }) => {
    if (headers.authorization !== login) return { status: 401 };
    const shown = ({ id, title, body: text, labels, state }: FakeIssue) => ({
      key: id,
      fields: {
        summary: title,
        description: { type: "doc", version: 1, content: [{ type: "paragraph", content: [{ type: "text", text }] }] },
        labels,
        status: { name: state, statusCategory: { key: JIRA_STATES[state] } },
        resolution: state === "Done" ? { name: "Done" } : null,
      },
    });
    if (method === "POST" && path === "/rest/api/3/search/jql") {
      const { jql } = z
        .strictObject({ jql: z.string(), maxResults: z.int().max(100), fields: z.array(z.string()) })
        .parse(body);
      const keys = /^key in \(([^)]*)\)$/u.exec(jql)?.[1]?.split(", ");
      const label = /labels = "([^"]*)"/u.exec(jql)?.[1];
      if (keys === undefined && !jql.startsWith('project = "SHOP" AND statusCategory = "To Do"'))
        return { status: 400 };
      const found = fake.issues.filter(({ id, state, labels }) =>
        keys === undefined
          ? JIRA_STATES[state] === "new" && (label === undefined || labels.includes(label))
          : keys.includes(id),
      );
      return { status: 200, body: { issues: found.map(shown), isLast: true } };
    }
    const id = /^\/rest\/api\/3\/issue\/([A-Z]+-[0-9]+)\/transitions$/u.exec(path)?.[1];
    const issue = fake.issues.find((each) => each.id === id);
    if (issue === undefined) return { status: 404 };
    const names = Object.keys(JIRA_STATES);
    if (method === "GET")
      return { status: 200, body: { transitions: names.map((name, at) => ({ id: String(at), name, to: { name } })) } };
    const { transition } = z.strictObject({ transition: z.strictObject({ id: z.string() }) }).parse(body);
    issue.state = names[Number(transition.id)] ?? issue.state;
    fake.changes.push(`${id} ${issue.state}`);
    return { status: 204 };
  });
}

const patch = z.strictObject({
  state: z.enum(["open", "closed"]),
  state_reason: z.enum(["completed", "not_planned", "reopened"]).optional(),
  labels: z.array(z.string()),
});

/** https://docs.github.com/en/rest/issues/issues: open and closed, with a reason; labels are replaced as a whole. */
export function openGitHub(issues: FakeIssue[]): Promise<FakeTracker> {
  return open(issues, (fake, { method, path, headers, body }) => {
    if (headers.authorization !== "Bearer key-of-ann") return { status: 401 };
    const shown = ({ id, title, body: text, labels, state }: FakeIssue) => ({
      number: Number(id),
      title,
      body: text,
      html_url: `https://github.com/acme/shop/issues/${id}`,
      state: state === "open" ? "open" : "closed",
      state_reason: state === "open" ? null : state === "closed" ? "completed" : "not_planned",
      labels: labels.map((name) => ({ name })),
    });
    const url = new URL(path, "http://x");
    if (url.pathname === "/repos/acme/shop/issues") {
      const label = url.searchParams.get("labels");
      const found = fake.issues.filter(
        ({ state, labels }) => state === "open" && (label === null || labels.includes(label)),
      );
      return { status: 200, body: found.map(shown) };
    }
    const id = /^\/repos\/acme\/shop\/issues\/([0-9]+)$/u.exec(url.pathname)?.[1];
    const issue = fake.issues.find((each) => each.id === id);
    if (issue === undefined) return { status: 404, body: { message: "Not Found" } };
    if (method === "PATCH") {
      const said = patch.parse(body);
      issue.labels = [...said.labels];
      issue.state = said.state === "open" ? "open" : said.state_reason === "not_planned" ? "not planned" : "closed";
      fake.changes.push(`${id} ${[issue.state, ...issue.labels].join(" ")}`);
    }
    return { status: 200, body: shown(issue) };
  });
}
