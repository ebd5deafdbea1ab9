// An issue in one line, whether an agent wrote a sentence or an object with file, line and severity.

export function issueText(issue: unknown): string {
  if (typeof issue === "string") return issue;
  if (typeof issue !== "object" || issue === null) return JSON.stringify(issue) ?? "";
  const { severity, file, line, description, message, text } = issue as Readonly<Record<string, unknown>>;
  const said = [description, message, text].find((each) => typeof each === "string");
  if (said === undefined) return JSON.stringify(issue);
  const where = typeof file === "string" ? `${file}${typeof line === "number" ? `:${line}` : ""}: ` : "";
  return `${typeof severity === "string" ? `[${severity}] ` : ""}${where}${said}`;
}
