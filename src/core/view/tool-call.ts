// A tool call of an agent in words: what kind of work it is, what it works on, and its change if it is an edit. The programs name their
// tools differently and give them different inputs, so the fields decide first, and the name only if they leave it open.

export type ToolKind =
  | "command"
  | "read"
  | "search"
  | "edit"
  | "web"
  | "task"
  | "plan"
  | "verdict"
  | "question"
  | "other";

export type EditLine = { readonly sign: "+" | "-" | " "; readonly text: string };

/** The change that a call asks for, as far as its input shows it. */
export type MiniDiff = {
  readonly lines: EditLine[];
  readonly added: number;
  readonly removed: number;
};

export type DescribedCall = {
  readonly kind: ToolKind;
  readonly name: string;
  /** One line: the command, the file, the pattern. */
  readonly title: string;
  /** More than the title says, if there is more; at most DETAIL_CHARS. */
  readonly detail: string;
  readonly diff: MiniDiff | null;
};

const TITLE_CHARS = 300;
const DETAIL_CHARS = 2000;
const DIFF_LINES = 14;
const LINE_CHARS = 240;

type Input = { readonly [key: string]: unknown };

/** `root` is the folder that the agent works in: files in it are named from there. */
export function describeTool(name: string, input: string, root = ""): DescribedCall {
  const given = fieldsOf(input);
  const shortName = name.slice(0, 120);
  const told = describeFields(shortName, given, input, root);
  return {
    name: shortName,
    ...told,
    title: oneLine(told.title, TITLE_CHARS),
    detail: told.detail.slice(0, DETAIL_CHARS),
  };
}

type Told = Omit<DescribedCall, "name">;

function describeFields(name: string, given: Input, input: string, root: string): Told {
  const own = OWN.find(([words]) => name.endsWith(words))?.[1];
  if (own !== undefined) return plainCall(own, text(given, "verdict", "question", "summary"), input);
  const path = inRoot(text(given, "file_path", "filePath", "absolute_path", "notebook_path", "path", "filename"), root);
  const diff = diffOf(given);
  if (diff !== null) return { kind: "edit", title: path, detail: "", diff };
  const command = commandOf(name, given, input);
  if (command !== "")
    return { kind: "command", title: command, detail: command.includes("\n") ? command : "", diff: null };
  const kind = NAMED.find(([pattern]) => pattern.test(name))?.[1] ?? "other";
  switch (kind) {
    case "edit":
      return editByName(path, input, root);
    case "search":
      return plainCall(
        kind,
        [text(given, "pattern", "query", "regex"), path].filter((each) => each !== "").join(" in "),
        "",
      );
    case "read":
      return plainCall(kind, path === "" ? inRoot(oneLine(input, TITLE_CHARS), root) : path, "");
    case "web":
      return plainCall(kind, text(given, "url", "query", "prompt") || rawText(given, input), "");
    case "task":
      return plainCall(
        kind,
        text(given, "description", "subagent_type", "prompt") || rawText(given, input),
        text(given, "prompt"),
      );
    case "plan":
      return plainCall(kind, planOf(given), "");
    case "command":
    case "verdict":
    case "question":
    case "other":
      return plainCall(kind, text(given, "description", "query", "url", "pattern") || path, input);
  }
}

/** Passrail's own tools, whatever the program puts before their names. */
const OWN: readonly (readonly [string, ToolKind])[] = [
  ["submit_verdict", "verdict"],
  ["ask_human", "question"],
];

const NAMED: readonly (readonly [RegExp, ToolKind])[] = [
  [/todo|plan/iu, "plan"],
  [/web|fetch|browse|http/iu, "web"],
  [/grep|glob|search|find|list|^ls$/iu, "search"],
  [/read|view|^cat$|open_file/iu, "read"],
  [/edit|write|patch|replace|create_file/iu, "edit"],
  [/task|agent|collab|spawn/iu, "task"],
];

function plainCall(kind: ToolKind, title: string, detail: string): Told {
  return { kind, title, detail, diff: null };
}

function commandOf(name: string, given: Input, input: string): string {
  const command = given["command"] ?? given["cmd"] ?? given["script"];
  if (Array.isArray(command)) return withoutShell(command.filter((each) => typeof each === "string").join(" "));
  if (typeof command === "string") return withoutShell(command);
  return /^(shell|bash|exec|run|terminal)/iu.test(name) && !input.startsWith("{") ? withoutShell(input) : "";
}

/** The shell that a program puts around every command says nothing. */
function withoutShell(command: string): string {
  const found = /^(?:\/usr)?(?:\/bin\/)?(?:ba|z|da)?sh -l?c (?<quote>['"]?)/u.exec(command);
  if (found === null) return command;
  const quote = found.groups?.["quote"] ?? "";
  const inner = command.slice(found[0].length);
  return quote !== "" && inner.endsWith(quote) ? inner.slice(0, -1) : inner;
}

/** Codex names only the files of a patch. */
function editByName(path: string, input: string, root: string): Told {
  if (path !== "" || input.startsWith("{")) return plainCall("edit", path, "");
  const files = input
    .split("\n", 50)
    .map((line) => line.replace(/^(?:add|update|delete|change) /u, ""))
    .map((file) => inRoot(file, root));
  return plainCall("edit", files.join(", "), "");
}

function planOf(given: Input): string {
  const todos = given["todos"] ?? given["plan"] ?? given["items"];
  if (!Array.isArray(todos)) return "";
  const steps = todos.filter((each): each is Input => typeof each === "object" && each !== null);
  const done = steps.filter((step) => step["status"] === "completed").length;
  const now = steps.find((step) => step["status"] === "in_progress");
  const words = now === undefined ? "" : text(now, "activeForm", "content", "step", "title");
  return `${done} of ${steps.length} done${words === "" ? "" : ` · ${words}`}`;
}

function diffOf(given: Input): MiniDiff | null {
  const patch = text(given, "patch", "patchText", "diff");
  if (patch !== "") return diffOfPatch(patch);
  const edits = Array.isArray(given["edits"]) ? (given["edits"] as readonly Input[]) : [given];
  const pairs = edits.slice(0, 20).flatMap((edit) => {
    const before = edit["old_string"] ?? edit["oldString"] ?? edit["old_text"];
    const after = edit["new_string"] ?? edit["newString"] ?? edit["new_text"] ?? edit["content"];
    if (typeof after !== "string" || (before !== undefined && typeof before !== "string")) return [];
    return [{ before: before ?? "", after }];
  });
  if (pairs.length === 0) return null;
  return cutDiff(pairs.flatMap(({ before, after }) => changed(before, after)));
}

/** The common beginning and end stay out, except for one line beside the change. */
function changed(before: string, after: string): readonly EditLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  return [
    ...old.slice(Math.max(0, start - 1), start).map((line) => ({ sign: " " as const, text: line })),
    ...old.slice(start, old.length - end).map((line) => ({ sign: "-" as const, text: line })),
    ...fresh.slice(start, fresh.length - end).map((line) => ({ sign: "+" as const, text: line })),
    ...old.slice(old.length - end, old.length - end + 1).map((line) => ({ sign: " " as const, text: line })),
  ];
}

function diffOfPatch(patch: string): MiniDiff {
  const lines = linesOf(patch).flatMap((line): EditLine[] => {
    if (line.startsWith("+++") || line.startsWith("---")) return [];
    if (line.startsWith("+")) return [{ sign: "+", text: line.slice(1) }];
    return line.startsWith("-") ? [{ sign: "-", text: line.slice(1) }] : [];
  });
  return cutDiff(lines);
}

function cutDiff(lines: readonly EditLine[]): MiniDiff {
  const count = (sign: EditLine["sign"]): number => lines.filter((line) => line.sign === sign).length;
  const shown = lines.slice(0, DIFF_LINES).map(({ sign, text: line }) => ({ sign, text: line.slice(0, LINE_CHARS) }));
  return { lines: shown, added: count("+"), removed: count("-") };
}

function linesOf(value: string): readonly string[] {
  const lines = value.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function inRoot(path: string, root: string): string {
  return root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** The first of these fields that is a text. */
function text(given: Input, ...names: readonly string[]): string {
  for (const name of names) {
    const value = given[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

/** An input that is no JSON, as it is. */
function rawText(given: Input, input: string): string {
  return Object.keys(given).length === 0 && !input.startsWith("{") ? input : "";
}

function oneLine(value: string, chars: number): string {
  const line = value
    .slice(0, chars * 4)
    .replace(/\s+/gu, " ")
    .trim();
  return line.length > chars ? `${line.slice(0, chars - 1)}…` : line;
}

/** The fields of a JSON object. A long input was cut by its reader: then the fields that are still whole, and the beginning of the last. */
function fieldsOf(input: string): Input {
  if (!input.startsWith("{")) return {};
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Input) : {};
  } catch {
    return fieldsOfCut(input);
  }
}

const FIELD = /"(?<key>[A-Za-z_]{1,40})":"(?<value>(?:[^"\\]|\\.)*)(?<end>"|$)/gsu;
const FIELDS_AT_MOST = 20;

function fieldsOfCut(input: string): Input {
  const found: Record<string, unknown> = {};
  for (const match of input.matchAll(FIELD)) {
    const { key = "", value = "" } = match.groups ?? {};
    if (Object.keys(found).length >= FIELDS_AT_MOST) break;
    if (!Object.hasOwn(found, key)) found[key] = unescaped(value);
  }
  return found;
}

function unescaped(value: string): string {
  try {
    return JSON.parse(`"${value.replace(/…$/u, "").replace(/\\(?:u[0-9a-fA-F]{0,3})?$/u, "")}"`) as string;
  } catch {
    return value;
  }
}
