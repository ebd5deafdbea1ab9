// The part of a joint history that belongs to one of its folders, as commits of that folder's own repository. The same history always gives
// the same commits, so a split can be repeated after a crash, and later work builds on what was split before.

import { err, ok, type Problem, type Result } from "../core/result.ts";
import { git, type GitOptions, inRepository } from "./git.ts";

export type HistoryPart = {
  /** The folder in the joint tree; "." for everything that is in no other part. */
  readonly dir: string;
  /** The commit of the part's own repository that the joint history begins with. */
  readonly commit: string;
  /** The folders of all other parts. */
  readonly others: readonly string[];
};

export type JointRange = {
  /** The common git directory of the joint repository. */
  readonly gitDir: string;
  /** Its first commit. */
  readonly base: string;
  readonly tip: string;
};

const COMMITS_AT_MOST = 2000;

/** The commit of the part's repository with the part as `tip` has it; the part's first commit if nothing of it changed. */
export async function splitHistory(range: JointRange, part: HistoryPart): Promise<Result<string>> {
  const listed = await listCommits(range);
  if (!listed.ok) return listed;
  if (listed.value.length === 0 && range.tip !== range.base) return err(before(range.tip));
  const begun = await treesOf(range.gitDir, [`${part.commit}^{tree}`]);
  if (!begun.ok) return begun;
  const trees =
    part.dir === "."
      ? await restTrees(range, listed.value, part)
      : await treesOf(
          range.gitDir,
          listed.value.map(({ id }) => `${id}:${part.dir}`),
        );
  if (!trees.ok) return trees;
  const tipTree = trees.value.at(-1);
  const isEmpty = EMPTY_TREES.has(begun.value[0] ?? "");
  if (listed.value.length > 0 && tipTree === null && !isEmpty) return err(gone(part.dir));
  const line = newLine(range, part, begun.value[0] ?? null);
  for (const [at, commit] of listed.value.entries()) {
    const added = await line.add(commit, trees.value[at] ?? null);
    if (!added.ok) return added;
  }
  return ok(line.of(range.tip));
}

/** A repository may begin without files; then its folder is not there either. */
const EMPTY_TREES: ReadonlySet<string> = new Set([
  "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
]);

type JointCommit = {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  readonly message: string;
};

type Person = { readonly name: string; readonly email: string; readonly date: string };

/** Oldest first. */
async function listCommits({ gitDir, base, tip }: JointRange): Promise<Result<readonly JointCommit[]>> {
  const format = ["%H", "%P", "%an", "%ae", "%ad", "%cn", "%ce", "%cd", "%B"];
  const how = ["-z", "--topo-order", "--reverse", "--date=raw", "--encoding=UTF-8", "--no-show-signature"];
  const args = ["log", ...how, `--format=tformat:${format.join("%x00")}`, tip, `^${base}`, "--"];
  const listed = await git(gitDir, args, inRepository(gitDir));
  if (!listed.ok) return listed;
  const fields = listed.value.split("\0");
  const commits: JointCommit[] = [];
  for (let at = 0; at + format.length <= fields.length; at += format.length) {
    const [id = "", parents = "", an = "", ae = "", ad = "", cn = "", ce = "", cd = "", message = ""] =
      fields.slice(at);
    commits.push({
      id,
      parents: parents.split(" ").filter((each) => each !== ""),
      author: { name: an, email: ae, date: ad },
      committer: { name: cn, email: ce, date: cd },
      message,
    });
  }
  return commits.length > COMMITS_AT_MOST ? err(tooMany(commits.length)) : ok(commits);
}

/** Null for a name that is no tree. */
async function treesOf(gitDir: string, names: readonly string[]): Promise<Result<readonly (string | null)[]>> {
  if (names.length === 0) return ok([]);
  if (names.some((name) => name.includes("\n"))) throw new Error("A name in a tree holds a line break.");
  const input = names.map((name) => `${name}\n`).join("");
  const answer = await git(gitDir, ["cat-file", "--batch-check"], { ...inRepository(gitDir), input });
  if (!answer.ok) return answer;
  const lines = answer.value.split("\n");
  return ok(names.map((_, at) => /^([0-9a-f]{40,64}) tree \d+$/u.exec(lines[at] ?? "")?.[1] ?? null));
}

type NewLine = {
  add(commit: JointCommit, tree: string | null): Promise<Result<null>>;
  /** The part's commit for a commit of the joint history. */
  of(id: string): string;
};

/** The part's own commits: one for each joint commit that changes the part. */
function newLine({ gitDir, base }: JointRange, part: HistoryPart, begun: string | null): NewLine {
  const made = new Map<string, string>([[base, part.commit]]);
  const trees = new Map<string, string | null>([[part.commit, begun]]);
  const before = new Map<string, ReadonlySet<string>>([[part.commit, new Set()]]);
  /** Without those that another one contains. */
  const newest = (commits: readonly string[]): readonly string[] =>
    commits.filter((each) => !commits.some((other) => before.get(other)?.has(each) === true));
  return {
    of: (id) => made.get(id) ?? part.commit,
    async add(commit, tree) {
      // A commit that an agent made from nothing, or from a member's own history, builds on the beginning.
      const known = commit.parents.flatMap((parent) => made.get(parent) ?? []);
      const parents = newest([...new Set(known.length === 0 ? [part.commit] : known)]);
      const [only = part.commit] = parents;
      if (tree === null || (parents.length === 1 && trees.get(only) === tree)) {
        made.set(commit.id, only);
        return ok(null);
      }
      const written = await write(gitDir, commit, tree, parents);
      if (!written.ok) return written;
      made.set(commit.id, written.value);
      trees.set(written.value, tree);
      before.set(written.value, new Set(parents.flatMap((parent) => [parent, ...(before.get(parent) ?? [])])));
      return ok(null);
    },
  };
}

async function write(
  gitDir: string,
  { author, committer, message }: JointCommit,
  tree: string,
  parents: readonly string[],
): Promise<Result<string>> {
  const options: GitOptions = {
    env: {
      ...inRepository(gitDir).env,
      GIT_AUTHOR_NAME: author.name || "unknown",
      GIT_AUTHOR_EMAIL: author.email || "unknown@localhost",
      GIT_AUTHOR_DATE: `@${author.date}`,
      GIT_COMMITTER_NAME: committer.name || "unknown",
      GIT_COMMITTER_EMAIL: committer.email || "unknown@localhost",
      GIT_COMMITTER_DATE: `@${committer.date}`,
    },
    input: message === "" ? "(no message)\n" : message,
  };
  const args = ["commit-tree", tree, ...parents.flatMap((each) => ["-p", each]), "-F", "-"];
  const made = await git(gitDir, args, options);
  return made.ok ? ok(made.value.trim()) : made;
}

/** Per commit the tree without the folders of the other parts. */
async function restTrees(
  { gitDir, base }: JointRange,
  commits: readonly JointCommit[],
  { others, commit }: HistoryPart,
): Promise<Result<readonly (string | null)[]>> {
  const paths = others.map((dir) => Buffer.from(dir).toString("latin1").split("/"));
  const lines = ignoreLines(others);
  const trees: string[] = [];
  const ids = await blobIds(gitDir, [`${base}:.gitignore`, `${commit}:.gitignore`]);
  if (!ids.ok) return ids;
  const [joined = null, own = null] = ids.value;
  for (const { id } of commits) {
    const entries = await entriesWithout(gitDir, `${id}^{tree}`, paths);
    if (!entries.ok) return entries;
    const cleaned = await withOwnIgnore(gitDir, entries.value, { lines, joined, own });
    const made = cleaned.ok ? await makeTree(gitDir, cleaned.value) : cleaned;
    if (!made.ok) return made;
    trees.push(made.value);
  }
  return ok(trees);
}

/**
 * The project's ignore rules do not reach into other repositories in their own folders, and usually name these folders. In the joint tree
 * they would hide new files there, so these lines at the end of the project's .gitignore take them out again.
 */
export function ignoreLines(dirs: readonly string[]): string {
  const rules = dirs
    .map((dir) => dir.replaceAll(/[\\*?[\]!# ]/gu, String.raw`\$&`))
    .flatMap((dir) => [`!/${dir}/`, `!/${dir}/**`]);
  return ["# Repositories of this run; Passrail takes these lines out again", ...rules, ""].join("\n");
}

type OwnIgnore = { readonly lines: string; readonly joined: string | null; readonly own: string | null };

async function withOwnIgnore(
  gitDir: string,
  entries: readonly string[],
  { lines, joined, own }: OwnIgnore,
): Promise<Result<readonly string[]>> {
  const at = entries.findIndex((entry) => IGNORE.test(entry));
  const [, mode = "", id = ""] = IGNORE.exec(entries[at] ?? "") ?? [];
  if (id === "" || joined === null || own === null) return ok(entries);
  if (id === joined) return ok(entries.with(at, `${mode} blob ${own}\t.gitignore`));
  const bytes = { ...inRepository(gitDir), encoding: "latin1" } as const;
  const text = await git(gitDir, ["cat-file", "blob", id], bytes);
  if (!text.ok) return text;
  const input = text.value.replace(Buffer.from(lines).toString("latin1"), () => "");
  const made = await git(gitDir, ["hash-object", "-w", "--stdin"], { ...bytes, input });
  return made.ok ? ok(entries.with(at, `${mode} blob ${made.value.trim()}\t.gitignore`)) : made;
}

const IGNORE = /^(100\d{3}) blob ([0-9a-f]+)\t\.gitignore$/u;

/** Null for a name that is no file. */
async function blobIds(gitDir: string, names: readonly string[]): Promise<Result<readonly (string | null)[]>> {
  const input = names.map((name) => `${name}\n`).join("");
  const answer = await git(gitDir, ["cat-file", "--batch-check"], { ...inRepository(gitDir), input });
  if (!answer.ok) return answer;
  const lines = answer.value.split("\n");
  return ok(names.map((_, at) => /^([0-9a-f]{40,64}) blob \d+$/u.exec(lines[at] ?? "")?.[1] ?? null));
}

/** Names at the top of a commit that are in none of these folders, or lead to them and to something else. */
export async function namesBeside(
  gitDir: string,
  commit: string,
  dirs: readonly string[],
): Promise<Result<readonly string[]>> {
  const paths = dirs.map((dir) => Buffer.from(dir).toString("latin1").split("/"));
  const left = await entriesWithout(gitDir, `${commit}^{tree}`, paths);
  if (!left.ok) return left;
  return ok(left.value.map((entry) => Buffer.from(entry.slice(entry.indexOf("\t") + 1), "latin1").toString("utf8")));
}

/** The entries of a tree, as bytes, without what is at these paths. */
async function entriesWithout(
  gitDir: string,
  tree: string,
  paths: readonly (readonly string[])[],
): Promise<Result<readonly string[]>> {
  const listed = await git(gitDir, ["ls-tree", "-z", tree], { ...inRepository(gitDir), encoding: "latin1" });
  if (!listed.ok) return listed;
  const kept: string[] = [];
  for (const entry of listed.value.split("\0").filter((each) => each !== "")) {
    const name = entry.slice(entry.indexOf("\t") + 1);
    const below = paths.flatMap(([first, ...rest]) => (first === name ? [rest] : []));
    if (below.length === 0) kept.push(entry);
    if (below.length === 0 || below.some((rest) => rest.length === 0)) continue;
    const [, id] = /^040000 tree ([0-9a-f]+)\t/u.exec(entry) ?? [];
    const inner = id === undefined ? ok([]) : await entriesWithout(gitDir, id, below);
    if (!inner.ok) return inner;
    if (inner.value.length === 0) continue;
    const made = await makeTree(gitDir, inner.value);
    if (!made.ok) return made;
    kept.push(`040000 tree ${made.value}\t${name}`);
  }
  return ok(kept);
}

async function makeTree(gitDir: string, entries: readonly string[]): Promise<Result<string>> {
  const input = entries.map((each) => `${each}\0`).join("");
  const made = await git(gitDir, ["mktree", "-z"], { ...inRepository(gitDir), encoding: "latin1", input });
  return made.ok ? ok(made.value.trim()) : made;
}

const gone = (dir: string): Problem => ({
  code: "repository_gone",
  message: `The folder ${dir} of this run is gone or is no folder any more, so its repository has no work to get.`,
  hint: "Put it back in the run's workspace.",
});

const before = (tip: string): Problem => ({
  code: "work_not_on_branch",
  message: `The run's branch is at ${tip.slice(0, 12)}, from before the run began.`,
  hint: "Put it back: the work must build on the commit where the run began.",
});

const tooMany = (count: number): Problem => ({
  code: "too_many_commits",
  message: `The run made ${count} commits over several repositories; at most ${COMMITS_AT_MOST} are split.`,
});
