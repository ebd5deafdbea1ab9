// The texts of the demo: the request, and a person's answers. Data only.

import type { InboxItem } from "../core/run/run.ts";

export type Decision = { readonly answer: string; readonly text: string };

export const STORY = {
  intro: [
    "One feature goes through a pipeline: five agents work, two gates are yours.",
    "Real engine, real processes, real commits; the agents are small programs, so it needs no key and no network.",
  ],
  subject: {
    id: "F-1",
    title: "Add slugify to the titles library",
    body: "Pages need addresses made from their titles: Hello World becomes hello-world.",
  },
} as const;

/** The suggested answer, also taken when no person answers; chosen by the item's kind and stage. */
export function suggestionFor(item: InboxItem): Decision {
  switch (item.kind) {
    case "gate":
      return { answer: "approve", text: "" };
    case "question":
      return { answer: "", text: "Fold them to plain letters." };
    case "choice":
      return { answer: Object.keys(item.choices)[0] ?? "", text: "" };
    case "budget":
      return { answer: "raise", text: "" };
    case "escalation":
      return { answer: "again", text: "Show one example with an accent." };
  }
}
