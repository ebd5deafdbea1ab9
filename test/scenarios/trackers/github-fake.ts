// A stand-in of GitHub's REST API for issues (https://docs.github.com/en/rest/issues/issues): open and closed, with a reason; labels are
// replaced as a whole; pull requests are issues, too.

import { z } from "zod";
import { type FakeIssue, type FakeTracker, openFake } from "./fakes.ts";

const REASONS: Readonly<Record<string, string>> = {
  closed: "completed",
  "not planned": "not_planned",
  duplicate: "duplicate",
};

const query = z.strictObject({
  state: z.enum(["open", "closed", "all"]),
  sort: z.enum(["created", "updated", "comments"]),
  direction: z.enum(["asc", "desc"]),
  per_page: z.coerce.number().int().min(1).max(100),
  page: z.coerce.number().int().min(1),
  labels: z.string().optional(),
});
const patch = z.strictObject({
  state: z.enum(["open", "closed"]),
  state_reason: z.enum(["completed", "not_planned", "duplicate", "reopened"]).optional(),
  labels: z.array(z.string()),
});

export function openGitHub(issues: FakeIssue[]): Promise<FakeTracker> {
  return openFake(issues, (fake, { method, path, headers, body }) => {
    if (headers.authorization !== "Bearer key-of-ann") return { status: 401, body: { message: "Bad credentials" } };
    // GitHub refuses clients without a name, and says so about limits with 403.
    if (headers["user-agent"] === undefined) return { status: 403 };
    if (fake.busy) return { status: 403, body: { message: "API rate limit exceeded for user ID 1." } };
    const url = new URL(path, "http://x");
    if (method === "GET" && url.pathname === "/repos/acme/shop/issues") {
      const asked = query.parse(Object.fromEntries(url.searchParams));
      const all = fake.issues.filter(
        ({ state, labels }) => state === "open" && (asked.labels === undefined || labels.includes(asked.labels)),
      );
      const begin = (asked.page - 1) * asked.per_page;
      return { status: 200, body: all.slice(begin, begin + asked.per_page).map(shown) };
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

function shown({ id, title, body, labels, state }: FakeIssue) {
  const html = `https://github.com/acme/shop/issues/${id}`;
  return {
    id: 1_000_000 + Number(id),
    number: Number(id),
    title,
    body: body === "" ? null : body,
    html_url: html,
    state: state === "open" ? "open" : "closed",
    state_reason: REASONS[state] ?? null,
    // The description allows a name alone, and an object without one.
    labels: labels.map((name) => (name === "plain" ? name : { id: 1, name, color: "ffffff", default: false })),
    ...(title.startsWith("Pull") ? { pull_request: { html_url: html } } : {}),
  };
}
