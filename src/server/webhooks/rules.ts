// What deliveries mean where the operator says nothing else. Data only: `mapping.ts` applies it.

import type { Rule } from "./mapping.ts";

export const STANDARD_RULES: readonly Rule[] = [
  {
    on: "feature.approve",
    means: {
      type: "answer-gate",
      stage: "start",
      answer: "approve",
      subject: { path: "data.feature_id", pick: "whole" },
      comment: "data.comment",
    },
  },
  {
    on: "review.revise",
    means: {
      type: "answer-gate",
      stage: null,
      answer: "revise",
      subject: { path: "data.ticket_id", pick: "whole" },
      comment: "data.comment",
    },
  },
  {
    on: "ticket.create",
    means: {
      type: "create-ticket",
      title: "data.title",
      body: "data.body",
      author: "data.author",
      origin: "data.url",
    },
  },
  {
    on: "pull_request.merged",
    means: { type: "mark-done", subject: { path: "data.ticket_id", pick: "whole" }, origin: "data.url" },
  },
];

/** Who may write to the repository. Anyone may comment on a public one. */
const TRUSTED = ["OWNER", "MEMBER", "COLLABORATOR"];

/** A branch of a fork can have any name, also that of a ticket of ours. */
const OWN_BRANCH = [["pull_request.head.repo.full_name", "repository.full_name"]] as const;

export function gitHubRules(label: string): readonly Rule[] {
  return [
    {
      on: "issues.labeled",
      when: { "label.name": [label] },
      means: {
        type: "create-ticket",
        title: "issue.title",
        body: "issue.body",
        author: "issue.user.login",
        origin: "issue.html_url",
      },
    },
    {
      on: "pull_request.closed",
      when: { "pull_request.merged": [true] },
      same: OWN_BRANCH,
      means: {
        type: "mark-done",
        subject: { path: "pull_request.head.ref", pick: "ticket-id" },
        origin: "pull_request.html_url",
      },
    },
    {
      on: "pull_request_review.submitted",
      when: { "review.state": ["changes_requested"], "review.author_association": TRUSTED },
      same: OWN_BRANCH,
      means: {
        type: "answer-gate",
        stage: null,
        answer: "revise",
        subject: { path: "pull_request.head.ref", pick: "ticket-id" },
        comment: "review.body",
      },
    },
  ];
}
