// A stand-in of Linear. Requests are checked and answered by the part of Linear's published schema below (https://github.com/linear/linear,
// packages/sdk/src/schema.graphql), so a field, an argument or a filter that Linear does not have is refused here, too.

import { buildSchema, GraphQLError, graphqlSync } from "graphql";
import { z } from "zod";
import { type FakeIssue, type FakeTracker, openFake } from "./fakes.ts";

const SCHEMA = buildSchema(`
  scalar DateTime
  type Query {
    issues(after: String, before: String, filter: IssueFilter, first: Int, includeArchived: Boolean, last: Int, orderBy: PaginationOrderBy): IssueConnection!
    workflowStates(after: String, before: String, filter: WorkflowStateFilter, first: Int, includeArchived: Boolean, last: Int, orderBy: PaginationOrderBy): WorkflowStateConnection!
  }
  type Mutation { issueUpdate(id: String!, input: IssueUpdateInput!): IssuePayload! }
  enum PaginationOrderBy { createdAt updatedAt }
  type PageInfo { endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String }
  type Team { id: ID! key: String! name: String! }
  type WorkflowState { id: ID! name: String! position: Float! team: Team! type: String! }
  type WorkflowStateConnection { nodes: [WorkflowState!]! pageInfo: PageInfo! }
  type IssueLabel { id: ID! name: String! }
  type IssueLabelConnection { nodes: [IssueLabel!]! pageInfo: PageInfo! }
  type Issue {
    id: ID! identifier: String! number: Float! title: String! description: String url: String!
    createdAt: DateTime! updatedAt: DateTime! archivedAt: DateTime state: WorkflowState! team: Team!
    labels(after: String, before: String, first: Int, includeArchived: Boolean, last: Int, orderBy: PaginationOrderBy): IssueLabelConnection!
  }
  type IssueConnection { nodes: [Issue!]! pageInfo: PageInfo! }
  type IssuePayload { issue: Issue lastSyncId: Float! success: Boolean! }
  input IssueUpdateInput { stateId: String title: String description: String labelIds: [String!] }
  input StringComparator { eq: String eqIgnoreCase: String in: [String!] neq: String nin: [String!] }
  input NumberComparator { eq: Float gt: Float gte: Float in: [Float!] lt: Float lte: Float neq: Float nin: [Float!] }
  input TeamFilter { key: StringComparator name: StringComparator }
  input WorkflowStateFilter { name: StringComparator team: TeamFilter type: StringComparator }
  input IssueLabelFilter { name: StringComparator }
  input IssueLabelCollectionFilter { every: IssueLabelFilter name: StringComparator some: IssueLabelFilter }
  input IssueFilter {
    number: NumberComparator state: WorkflowStateFilter team: TeamFilter labels: IssueLabelCollectionFilter
  }
`);

const STATES = [
  { id: "s1", name: "Todo", type: "unstarted" },
  { id: "s2", name: "In Progress", type: "started" },
  { id: "s3", name: "In Review", type: "started" },
  { id: "s4", name: "Done", type: "completed" },
  { id: "s5", name: "Canceled", type: "canceled" },
];
const TEAM = { id: "t1", key: "ENG", name: "Engineering" };

type Comparator<T> = { readonly eq?: T; readonly in?: readonly T[] };
type StateFilter = { readonly type?: Comparator<string>; readonly team?: { readonly key?: Comparator<string> } };
type Filter = {
  readonly number?: Comparator<number>;
  readonly state?: StateFilter;
  readonly team?: { readonly key?: Comparator<string> };
  readonly labels?: { readonly name?: Comparator<string> };
};
type Page = { readonly first?: number; readonly after?: string | null };

const fits = <T>(value: T, { eq, in: among }: Comparator<T> = {}): boolean =>
  (eq === undefined || eq === value) && (among === undefined || among.includes(value));

const requests = z.strictObject({ query: z.string(), variables: z.record(z.string(), z.unknown()) });

/** POST /graphql, the key as the whole Authorization, errors in a list beside `data`. */
export function openLinear(issues: FakeIssue[]): Promise<FakeTracker> {
  return openFake(issues, (fake, { method, path, headers, body }) => {
    if (method !== "POST" || path !== "/graphql" || headers["content-type"] !== "application/json")
      return { status: 404 };
    if (headers.authorization !== "key-of-ann") return refused(401, "AUTHENTICATION_ERROR");
    if (fake.busy) return refused(400, "RATELIMITED");
    const { query, variables } = requests.parse(body);
    const answer = graphqlSync({ schema: SCHEMA, source: query, variableValues: variables, rootValue: rootOf(fake) });
    const isInvalid = answer.data === undefined;
    return { status: isInvalid ? 400 : 200, body: answer };
  });
}

function rootOf(fake: FakeTracker): object {
  return {
    issues({ filter = {}, ...page }: { filter?: Filter } & Page) {
      const all = fake.issues.map(shownIssue).filter(
        ({ number, state, labelNames }) =>
          fits(TEAM.key, filter.team?.key) &&
          fits(number, filter.number) &&
          fits(state?.type ?? "", filter.state?.type) &&
          // Without `every`, one label that fits is enough.
          (filter.labels?.name === undefined || labelNames.some((name) => fits(name, filter.labels?.name))),
      );
      // The newest first, as Linear lists them.
      return paged(all.toReversed(), page);
    },
    workflowStates: ({ filter = {}, ...page }: { filter?: StateFilter } & Page) =>
      fits(TEAM.key, filter.team?.key) ? paged(STATES, page) : paged([], page),
    issueUpdate({ id, input }: { id: string; input: { stateId?: string } }) {
      const issue = fake.issues.find((each) => each.id === id);
      const state = STATES.find((each) => each.id === input.stateId);
      if (issue === undefined || state === undefined)
        throw new GraphQLError("Entity not found", { extensions: { code: "INPUT_ERROR" } });
      issue.state = state.name;
      fake.changes.push(`${id} ${state.name}`);
      return { success: true, lastSyncId: 1, issue: shownIssue(issue) };
    },
  };
}

function shownIssue({ id, title, body, labels, state }: FakeIssue) {
  const number = Number(id.slice(TEAM.key.length + 1));
  const created = new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString();
  return {
    id: `uuid-${id}`,
    identifier: id,
    number,
    title,
    description: body,
    url: `https://linear.app/acme/issue/${id}`,
    createdAt: created,
    updatedAt: created,
    team: TEAM,
    state: STATES.find(({ name }) => name === state),
    labelNames: labels,
    labels: { nodes: labels.map((name) => ({ id: name, name })), pageInfo: { hasNextPage: false } },
  };
}

function paged(all: readonly unknown[], { first = 50, after }: Page): object {
  if (first > 250) throw new GraphQLError("first may not exceed 250", { extensions: { code: "INPUT_ERROR" } });
  const begin = Number(after ?? 0);
  const end = begin + first;
  return {
    nodes: all.slice(begin, end),
    pageInfo: { hasNextPage: end < all.length, hasPreviousPage: begin > 0, endCursor: String(end) },
  };
}

function refused(status: number, code: string) {
  return { status, body: { errors: [{ message: code, extensions: { code } }] } };
}
