// The default meaning of deliveries, unless the operator's settings differ. Data only: `mapping.ts` applies it.

import type { Rule } from "./mapping.ts";

/** `flow`: the flow for tickets of this source. Null: this source starts no tickets. */
export type RuleOptions = { readonly flow: string | null; readonly label: string; readonly prefix: string };

export function standardRules({ flow, prefix }: Omit<RuleOptions, "label">): readonly Rule[] {
  const gate = { origin: "data.url", commit: "data.commit" };
  return [
    {
      on: "feature.approve",
      means: {
        type: "answer-gate",
        stages: ["start"],
        answer: "approve",
        subject: { path: "data.feature_id", pick: "whole" },
        comment: "data.comment",
        ...gate,
      },
    },
    {
      on: "review.revise",
      means: {
        type: "answer-gate",
        stages: null,
        answer: "revise",
        subject: { path: "data.ticket_id", pick: "whole" },
        comment: "data.comment",
        ...gate,
      },
    },
    ...(flow === null
      ? []
      : [
          {
            on: "ticket.create",
            means: {
              type: "create-ticket",
              flow,
              id: { path: "data.id", prefix },
              title: "data.title",
              body: "data.body",
              author: "data.author",
              origin: "data.url",
            },
          } as const,
        ]),
    {
      on: "pull_request.merged",
      means: {
        type: "mark-done",
        stages: "last",
        answer: "approve",
        otherwise: "refuse",
        subject: { path: "data.ticket_id", pick: "whole" },
        ...gate,
      },
    },
  ];
}

/** A row of source 000's table: a person sets its status to approved; a new row is a ticket. */
export function supabaseRules({ flow, prefix }: Omit<RuleOptions, "label">): readonly Rule[] {
  return [
    {
      on: "features.update",
      when: { "record.status": ["approved"], "old_record.status": ["pending"] },
      means: {
        type: "answer-gate",
        stages: ["start"],
        answer: "approve",
        subject: { path: "record.id", pick: "whole" },
        comment: "record.comment",
        origin: "",
        commit: "",
      },
    },
    ...(flow === null
      ? []
      : [
          {
            on: "features.insert",
            means: {
              type: "create-ticket",
              flow,
              id: { path: "record.id", prefix },
              title: "record.title",
              body: "record.body",
              author: "record.author",
              origin: "",
            },
          } as const,
        ]),
  ];
}

/** Users with write access to the repository. Anyone may comment on a public one. */
const TRUSTED = ["OWNER", "MEMBER", "COLLABORATOR"];

/** A fork's branch can have any name, also the name of one of our tickets. */
const OWN_BRANCH = [["pull_request.head.repo.full_name", "repository.full_name"]] as const;

export function gitHubRules({ flow, label, prefix }: RuleOptions): readonly Rule[] {
  const branch = { path: "pull_request.head.ref", pick: "ticket-id" } as const;
  return [
    ...(flow === null
      ? []
      : [
          {
            on: "issues.labeled",
            when: { "label.name": [label] },
            means: {
              type: "create-ticket",
              flow,
              id: { path: "issue.number", prefix },
              title: "issue.title",
              body: "issue.body",
              author: "issue.user.login",
              origin: "issue.html_url",
            },
          } as const,
        ]),
    {
      on: "pull_request.closed",
      when: { "pull_request.merged": [true] },
      same: OWN_BRANCH,
      means: {
        type: "mark-done",
        stages: "last",
        answer: "approve",
        otherwise: "refuse",
        subject: branch,
        origin: "pull_request.html_url",
        commit: "pull_request.head.sha",
      },
    },
    {
      on: "pull_request_review.submitted",
      when: { "review.state": ["changes_requested"], "review.author_association": TRUSTED },
      same: OWN_BRANCH,
      means: {
        type: "answer-gate",
        stages: null,
        answer: "revise",
        subject: branch,
        comment: "review.body",
        origin: "review.html_url",
        // Work may be sent back regardless of later commits.
        commit: "",
      },
    },
  ];
}
