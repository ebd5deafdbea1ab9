import { expect, test } from "vitest";
import { choicesOf, decidedText, headOf, labelOf, leadText, questionOf } from "./words.ts";

const lead = (answer: string, to: string, who = "", word = "") => ({
  answer,
  to,
  who,
  isGate: false,
  word,
  lands: null,
});
const asked = { stage: "ship", subject: { id: "F-1", title: "Add login" }, asks: ["Which one?"] };

test("a gate asks by its own name, the others in the words that were asked", () => {
  expect(questionOf({ ...asked, kind: "gate" })).toBe("Ship “Add login”?");
  expect(questionOf({ ...asked, stage: "sign-off", kind: "gate" })).toBe("Sign off “Add login”?");
  expect(questionOf({ ...asked, kind: "question" })).toBe("Which one?");
  expect(questionOf({ ...asked, kind: "budget", asks: [] })).toContain("it reached a budget");
  expect(headOf({ ...asked, kind: "escalation" })).toBe("ship of “Add login” was escalated");
});

test("a gate's answers are three buttons at most times: approve first, the one that ends it last", () => {
  const leads = [lead("decline", "cancel"), lead("approve", "end"), lead("revise", "build", "IN2")];
  const choices = choicesOf({ kind: "gate", answers: ["decline", "approve", "revise"], leads });
  expect(choices.map(({ answer, label, look, needsReason }) => [answer, label, look, needsReason])).toEqual([
    ["approve", "Approve", "primary", false],
    ["revise", "Request changes", "plain", true],
    ["decline", "Reject", "danger", true],
  ]);
});

test("words of the flow stay the flow's, and none of them needs a reason outside of a gate", () => {
  const leads = [lead("retry", "build", "IN2"), lead("abort", "cancel"), lead("split_it", "spec")];
  const choices = choicesOf({ kind: "escalation", answers: ["abort", "retry", "split_it"], leads });
  expect(choices.map(({ label, look, needsReason }) => [label, look, needsReason])).toEqual([
    ["Retry", "plain", false],
    ["Split it", "plain", false],
    ["Abort", "danger", false],
  ]);
});

test("it is said where an answer leads", () => {
  expect(leadText(lead("approve", "end", "", "shipped"), "review")).toBe("the run is done, as “shipped”.");
  expect(leadText(lead("revise", "build", "IN2", "review"), "review")).toBe("IN2 works on build next.");
  expect(leadText(lead("decline", "cancel", "", "canceled"), "review")).toBe("the run is canceled.");
  expect(leadText(lead("approve", "tracks"), "")).toBe("tracks is next.");
  expect(leadText({ ...lead("accept", "ship", "owner", "review"), isGate: true }, "escalated")).toBe(
    "owner decides at ship next, as “review”.",
  );
  expect(labelOf(lead("revise", ""), "gate")).toBe("Request changes");
  expect(labelOf(lead("revise", ""), "choice")).toBe("Revise");
});

test("what was decided is said in one word, or in the words that were given", () => {
  expect(decidedText({ answer: "revise", text: "x" })).toBe("Sent back");
  expect(decidedText({ answer: "", text: "SQLite" })).toBe("SQLite");
  expect(decidedText({ answer: "retry", text: "" })).toBe("Answered retry");
});
