// Commits that git has already shown, and what they say. An object's name is the hash of its content, so its tree and parents are the same in
// every repository and never change. A commit may be removed, though: only one that a ref names is taken for present without asking.

export type CommitFacts = { readonly tree: string; readonly parents: readonly string[] };

const REMEMBERED_AT_MOST = 5000;
const present = new Map<string, true>();
const said = new Map<string, CommitFacts>();

/** Whether git has shown this commit in this repository. */
export function isKnownCommit(commonDir: string, commit: string): boolean {
  return present.has(`${commonDir}\0${commit}`);
}

export function rememberCommit(commonDir: string, commit: string): void {
  keep(present, `${commonDir}\0${commit}`, true);
}

export function factsOfCommit(commit: string): CommitFacts | null {
  return said.get(commit) ?? null;
}

/** Only from the object itself: grafts and shallow files show other parents. */
export function rememberFacts(commit: string, facts: CommitFacts): void {
  keep(said, commit, facts);
}

/** Whether it is certain that `newer` contains `older`; false: ask git. */
export function surelyContains(newer: string, older: string): boolean {
  return newer === older || factsOfCommit(newer)?.parents.includes(older) === true;
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  const [oldest] = map.keys();
  if (!map.has(key) && map.size >= REMEMBERED_AT_MOST && oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}
