// The activity of an agent as plain lines, for terminals and for lists with one line per agent.

import type { ActivityCall, ActivityItem } from "./activity.ts";

const OUTPUT_LINES = 3;
const LINE_CHARS = 200;

/** One line that says what the agent does or said last. */
export function activityLine(item: ActivityItem): string {
  switch (item.is) {
    case "began":
      return item.model === null ? "began" : `began, with ${item.model}`;
    case "said":
    case "thought":
    case "notice":
      return firstLine(item.text);
    case "call":
      return firstLine(`${nameOf(item.call)} ${item.call.title}`);
    case "calls":
      return item.title;
    case "task":
      return firstLine(`${item.name} ${item.status}: ${item.text}`);
    case "printed":
      return firstLine(item.lines.at(-1) ?? "");
  }
}

/** All that a terminal shows of it. */
export function activityLines(item: ActivityItem): readonly string[] {
  const time = item.at === "" ? "" : `${item.at.slice(11, 19)} `;
  switch (item.is) {
    case "said":
      return textLines(time, item.text);
    case "thought":
      return textLines(time, `(thinks) ${item.text}`);
    case "call":
      return [`${time}${markOf(item.call)} ${activityLine(item)}${tookOf(item.call)}`, ...below(item.call)];
    case "notice":
      return [`${time}! ${activityLine(item)}${item.resetsAt === null ? "" : ` (until ${item.resetsAt})`}`];
    case "printed":
      return item.lines;
    case "began":
    case "calls":
    case "task":
      return [`${time}${item.is === "calls" ? "✔ " : ""}${activityLine(item)}`];
  }
}

function textLines(time: string, text: string): readonly string[] {
  const [first = "", ...rest] = text.trim().split("\n");
  return [`${time}${first}`, ...rest.map((line) => `${" ".repeat(time.length)}${line}`)];
}

function below({ diff, output }: ActivityCall): readonly string[] {
  const lines =
    diff === null
      ? output
          .trimEnd()
          .split("\n")
          .filter((line) => line !== "")
      : diff.lines.map(({ sign, text }) => `${sign}${text}`);
  const left = lines.length - OUTPUT_LINES;
  const shown = diff === null && left > 0 ? [...lines.slice(0, OUTPUT_LINES), `… ${left} more lines`] : lines;
  return shown.map((line) => `    ${line}`);
}

const markOf = ({ ok }: ActivityCall): string => (ok === null ? "…" : ok ? "✔" : "✖");

function tookOf({ ms, exit, ok }: ActivityCall): string {
  const facts = [
    ...(exit !== null && ok === false ? [`exit ${exit}`] : []),
    ...(ms === null ? [] : [`${(ms / 1000).toFixed(1)} s`]),
  ];
  return facts.length === 0 ? "" : ` (${facts.join(", ")})`;
}

const nameOf = ({ name }: ActivityCall): string =>
  name.startsWith("mcp__") ? (name.split("__").at(-1) ?? name) : name;

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS - 1)}…` : line;
}
