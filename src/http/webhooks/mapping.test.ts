import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { mapDelivery } from "./mapping.ts";
import { gitHubRules, standardRules } from "./rules.ts";

const rules = standardRules({ flow: "feature", prefix: "" });
const github = {
  rules: gitHubRules({ flow: "ticket", label: "passrail", prefix: "GH-" }),
  rights: "operator",
} as const;

const repository = { full_name: "o/r" };
const pull = (ref: string, extra: object = {}) => ({
  head: { ref, repo: { full_name: "o/r" } },
  html_url: "https://github.com/o/r/pull/3",
  ...extra,
});
const review = (extra: object = {}): JsonObject => ({
  action: "submitted",
  review: { state: "changes_requested", author_association: "MEMBER", body: "Use a transaction.", ...extra },
  pull_request: pull("feat/AGI-12"),
  repository,
});

describe("approve", () => {
  const payload = { type: "feature.approve", data: { feature_id: "F-1", comment: "go" } };

  test("R-000-11: an operator's source answers the start gate", () => {
    expect(mapDelivery({ rules, rights: "operator" }, "feature.approve", payload)).toEqual({
      ok: true,
      value: {
        type: "answer-gate",
        subjectId: "F-1",
        stages: ["start"],
        answer: "approve",
        comment: "go",
        commit: null,
        otherwise: "refuse",
      },
    });
  });

  test("S17: any other source only asks for the answer, whatever the payload says about itself", () => {
    const boasting = { ...payload, rights: "operator", actor: "operator", data: { ...payload.data, role: "operator" } };
    expect(mapDelivery({ rules, rights: "request" }, "feature.approve", boasting)).toMatchObject({
      value: { type: "request-gate", subjectId: "F-1", answer: "approve" },
    });
  });

  test("a feature may have a number for an id", () => {
    const numbered = { data: { feature_id: 42 } };
    expect(mapDelivery({ rules, rights: "operator" }, "feature.approve", numbered)).toMatchObject({
      value: { subjectId: "42", comment: "" },
    });
  });

  test.each([
    ["../../etc/passwd"],
    [""],
    [-1],
    [1.5],
    [null],
    [["F-1"]],
    [{ id: "F-1" }],
    ["a".repeat(101)],
    ["F-1\n"],
  ])("%j is no id of a feature", (id) => {
    const result = mapDelivery({ rules, rights: "operator" }, "feature.approve", { data: { feature_id: id } });
    expect(result).toMatchObject({ ok: false, error: { pointer: "/data/feature_id" } });
  });
});

describe("GitHub", () => {
  const issue = {
    number: 1,
    title: "Fix\r\nlogin",
    body: "$(id) {{SECRET}}",
    user: { login: "ann" },
    html_url: "https://github.com/o/r/issues/1",
  };

  test("an issue with the label becomes a ticket, its text unchanged and its title one line", () => {
    const payload = { action: "labeled", label: { name: "passrail" }, issue };
    expect(mapDelivery(github, "issues.labeled", payload)).toEqual({
      ok: true,
      value: {
        type: "create-ticket",
        flow: "ticket",
        id: "GH-1",
        title: "Fix login",
        body: "$(id) {{SECRET}}",
        author: "ann",
        origin: "https://github.com/o/r/issues/1",
      },
    });
  });

  test("another label means nothing", () => {
    const payload = { action: "labeled", label: { name: "bug" }, issue };
    expect(mapDelivery(github, "issues.labeled", payload)).toMatchObject({ value: { type: "ignored" } });
  });

  test("a long title is cut, a missing body is empty, a link that is none is left out", () => {
    const odd = { title: "x".repeat(300), body: null, user: null, html_url: "javascript:alert(1)" };
    const result = mapDelivery(github, "issues.labeled", { label: { name: "passrail" }, issue: odd });
    expect(result).toMatchObject({ value: { body: "", author: null, origin: null } });
    expect(result.ok && result.value.type === "create-ticket" && result.value.title.length).toBe(200);
  });

  test("R-004-51: a merged pull request of a ticket's branch is done", () => {
    const payload = { pull_request: pull("feat/AGI-12-login", { merged: true }), repository };
    const word = {
      subjectId: "AGI-12",
      stages: "last",
      answer: "approve",
      comment: "Merged: https://github.com/o/r/pull/3",
      commit: null,
      otherwise: "refuse",
    };
    expect(mapDelivery(github, "pull_request.closed", payload)).toEqual({
      ok: true,
      value: { type: "answer-gate", ...word },
    });
    expect(mapDelivery({ ...github, rights: "request" }, "pull_request.closed", payload)).toMatchObject({
      value: { type: "request-gate", ...word },
    });
  });

  test.each([
    ["closed without a merge", pull("feat/AGI-12", { merged: false })],
    [
      "merged from a fork's branch of the same name",
      { ...pull("feat/AGI-12", { merged: true }), head: { ref: "feat/AGI-12", repo: { full_name: "evil/r" } } },
    ],
    [
      "merged from a fork that is gone",
      { ...pull("feat/AGI-12", { merged: true }), head: { ref: "feat/AGI-12", repo: null } },
    ],
    ["a branch without a ticket", pull("main", { merged: true })],
    ["a branch that only looks like one", pull("feat/xAGI-12", { merged: true })],
    ["a ticket number 0", pull("feat/AGI-0", { merged: true })],
  ])("%s changes nothing", (_, pull_request) => {
    const payload = { pull_request: pull_request, repository };
    expect(mapDelivery(github, "pull_request.closed", payload)).toMatchObject({ value: { type: "ignored" } });
  });

  test("a review that asks for changes sends the work back with its words", () => {
    expect(mapDelivery(github, "pull_request_review.submitted", review())).toEqual({
      ok: true,
      value: {
        type: "answer-gate",
        subjectId: "AGI-12",
        stages: null,
        answer: "revise",
        comment: "Use a transaction.",
        commit: null,
        otherwise: "refuse",
      },
    });
  });

  test("a review whose words stand only beside the lines is told by its address", () => {
    const extra = { body: "", html_url: "https://github.com/o/r/pull/3#review-1" };
    expect(mapDelivery(github, "pull_request_review.submitted", review(extra))).toMatchObject({
      value: { comment: "https://github.com/o/r/pull/3#review-1" },
    });
  });

  test("without a flow no ticket comes from a source", () => {
    const none = gitHubRules({ flow: null, label: "passrail", prefix: "GH-" });
    const payload = { action: "labeled", label: { name: "passrail" }, issue };
    expect(mapDelivery({ rules: none, rights: "operator" }, "issues.labeled", payload)).toMatchObject({
      value: { type: "ignored" },
    });
  });

  test.each([[0], [-1], ["../x"], [{}]])("%j is no number of an issue", (number) => {
    const payload = { label: { name: "passrail" }, issue: { ...issue, number } };
    expect(mapDelivery(github, "issues.labeled", payload)).toMatchObject({
      ok: false,
      error: { pointer: "/issue/number" },
    });
  });

  test.each([
    ["an approval", { state: "approved" }],
    ["a remark", { state: "commented" }],
    ["a stranger's review", { author_association: "NONE" }],
    ["a one-time contributor's review", { author_association: "CONTRIBUTOR" }],
  ])("%s does not", (_, extra) => {
    expect(mapDelivery(github, "pull_request_review.submitted", review(extra))).toMatchObject({
      value: { type: "ignored" },
    });
  });
});

test("names that every object has are no fields of a payload", () => {
  const rule = { on: "x", when: { "constructor.name": ["Object"] }, means: rules[0]!.means };
  expect(mapDelivery({ rules: [rule], rights: "operator" }, "x", {})).toMatchObject({ value: { type: "ignored" } });
});
