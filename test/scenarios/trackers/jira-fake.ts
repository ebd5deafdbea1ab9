// A stand-in of Jira Cloud, from the published description of its REST API, version 3
// (https://developer.atlassian.com/cloud/jira/platform/rest/v3): basic login, search by JQL, transitions by id, 204 without a body.

import { z } from "zod";
import { type Call, type FakeIssue, type FakeTracker, openFake } from "./fakes.ts";

const CATEGORIES: Readonly<Record<string, string>> = {
  "To Do": "new",
  "In Progress": "indeterminate",
  "In Review": "indeterminate",
  Done: "done",
};
const FIELDS = ["summary", "description", "labels", "status", "resolution"] as const;
/** Jira may put less on a page than `maxResults`. */
const PAGE = 50;

const fields = z.array(z.enum(FIELDS));
const search = z.strictObject({
  jql: z.string(),
  maxResults: z.int().min(1).max(5000),
  fields,
  nextPageToken: z.string().optional(),
});
const bulkFetch = z.strictObject({ issueIdsOrKeys: z.array(z.string()).min(1).max(100), fields });
const doTransition = z.strictObject({ transition: z.strictObject({ id: z.string() }) });
/** A query must name its project: Jira refuses one without bounds. */
const JQL = /^project = "SHOP" AND statusCategory = "To Do"(?: AND labels = "(?<label>[^"]*)")? ORDER BY created ASC$/u;

export function openJira(issues: FakeIssue[]): Promise<FakeTracker> {
  const login = `Basic ${Buffer.from("ann@acme.example:key-of-ann").toString("base64")}`;
  return openFake(issues, (fake, call) => {
    const { method, path, headers, body } = call;
    if (headers.authorization !== login) return { status: 401 };
    if (fake.busy) return { status: 429 };
    if (method === "POST" && headers["content-type"] !== "application/json") return { status: 415 };
    if (method === "POST" && path === "/rest/api/3/search/jql") return searched(fake, search.parse(body));
    if (method === "POST" && path === "/rest/api/3/issue/bulkfetch") {
      const asked = bulkFetch.parse(body);
      // Issues that are not found are in neither list.
      const found = fake.issues.filter(({ id }) => asked.issueIdsOrKeys.includes(id));
      return { status: 200, body: { issues: found.map((each) => shown(each, asked.fields)), issueErrors: [] } };
    }
    return issueCall(fake, call);
  });
}

function searched(fake: FakeTracker, { jql, maxResults, fields: wanted, nextPageToken }: z.infer<typeof search>) {
  const query = JQL.exec(jql);
  if (query === null) return { status: 400, body: { errorMessages: ["The JQL is not understood."] } };
  const label = query.groups?.["label"];
  const all = fake.issues.filter(
    ({ state, labels }) => CATEGORIES[state] === "new" && (label === undefined || labels.includes(label)),
  );
  const begin = Number(nextPageToken ?? 0);
  const end = begin + Math.min(maxResults, PAGE);
  const isLast = end >= all.length;
  const issues = all.slice(begin, end).map((each) => shown(each, wanted));
  return { status: 200, body: { issues, isLast, ...(isLast ? {} : { nextPageToken: String(end) }) } };
}

function issueCall(fake: FakeTracker, { method, path, body }: Call) {
  const call = /^\/rest\/api\/3\/issue\/(?<id>[A-Z]+-[0-9]+)(?<rest>\/transitions|\?fields=status)$/u.exec(
    path,
  )?.groups;
  const issue = fake.issues.find((each) => each.id === call?.["id"]);
  if (issue === undefined) return { status: 404, body: { errorMessages: ["Issue does not exist."] } };
  if (call?.["rest"] !== "/transitions")
    return { status: method === "GET" ? 200 : 405, body: shown(issue, ["status"]) };
  const names = Object.keys(CATEGORIES);
  // As in most workflows, there is no way from a status to itself.
  const ways = names.map((name, at) => ({ id: String(at), name: `To ${name}`, to: statusOf(name) }));
  const offered = ways.filter(({ to }) => to.name !== issue.state);
  if (method === "GET") return { status: 200, body: { expand: "transitions", transitions: offered } };
  const { transition } = doTransition.parse(body);
  const way = offered.find(({ id }) => id === transition.id);
  if (way === undefined) return { status: 400, body: { errorMessages: ["The transition is not valid."] } };
  issue.state = way.to.name;
  fake.changes.push(`${issue.id} ${issue.state}`);
  return { status: 204 };
}

function statusOf(name: string) {
  return { id: name, name, statusCategory: { id: 2, key: CATEGORIES[name], name, colorName: "blue-gray" } };
}

/** Only the fields that were asked for. */
function shown({ id, title, body: text, labels, state }: FakeIssue, wanted: readonly (typeof FIELDS)[number][]) {
  const content = [{ type: "paragraph", content: [{ type: "text", text }] }];
  const all = {
    summary: title,
    description: { type: "doc", version: 1, content },
    labels,
    status: statusOf(state),
    resolution: state === "Done" ? { id: "10000", name: "Done" } : null,
  };
  return { id: `1${id}`, key: id, fields: Object.fromEntries(wanted.map((name) => [name, all[name]])) };
}
