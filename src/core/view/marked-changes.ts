// Changes that a person should look at before anything else: files that decide what runs later, here or elsewhere. From the paths of a
// diff to sentences; CLI, API, dashboard and pull requests show the same ones.

export const MARKED_KINDS = ["unknown", "passrail", "ci", "hooks", "submodule", "agent", "lockfile"] as const;
export type MarkedKind = (typeof MARKED_KINDS)[number];

/** `mode` is git's file mode after the change, or before it for a file that is gone. */
export type ChangedPath = { readonly path: string; readonly mode?: string };

export type MarkedChange = { readonly path: string; readonly kind: MarkedKind; readonly why: string };

const SUBMODULE_MODE = "160000";

const WHY: Readonly<Record<MarkedKind, string>> = {
  unknown: "could not be compared by git, so any file may be among the changes: look at all of them",
  passrail: "decides what Passrail runs; it takes effect when a person approves it: passrail trust",
  ci: "is CI configuration; it runs elsewhere, with the CI's rights and secrets",
  hooks: "makes git run programs or change files on the machine of every user of the repository",
  submodule: "brings in another repository, whose content this diff does not show",
  agent: "configures or instructs coding agents that work in the repository",
  lockfile: "chooses the exact code of dependencies, which runs when they are installed",
};

/** The first that fits counts. Patterns see the path in lower case, because some file systems do not tell cases apart. */
const RULES: readonly (readonly [MarkedKind, RegExp])[] = [
  ["passrail", /^(passrail\.yaml|\.passrail\/.*|\.claude\/agents\/.*)$/u],
  [
    "ci",
    /^(\.github\/(workflows|actions)\/.*|\.circleci\/.*|\.buildkite\/.*|\.woodpecker(\/.*|\.ya?ml)|\.teamcity\/.*|\.gitea\/workflows\/.*|\.forgejo\/workflows\/.*)$/u,
  ],
  [
    "ci",
    /(^|\/)(\.gitlab-ci\.ya?ml|jenkinsfile|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.travis\.ya?ml|\.drone\.ya?ml|\.?appveyor\.ya?ml|cloudbuild\.ya?ml)$/u,
  ],
  ["submodule", /(^|\/)\.gitmodules$/u],
  ["hooks", /(^|\/)(\.gitattributes|\.gitconfig|\.pre-commit-config\.ya?ml|\.?lefthook\.ya?ml)$/u],
  ["hooks", /(^|\/)(\.husky|\.githooks|\.git-hooks|hooks)\/(.*\/)?[^/]+$/u],
  ["agent", /(^|\/)(\.claude|\.codex|\.gemini|\.opencode|\.cursor|\.windsurf)\/.*$/u],
  ["agent", /(^|\/)(\.mcp\.json|opencode\.jsonc?|\.cursorrules|claude\.md|agents\.md|gemini\.md)$/u],
  ["agent", /^\.github\/(copilot-instructions\.md|instructions\/.*)$/u],
  [
    "lockfile",
    /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|cargo\.lock|go\.sum|poetry\.lock|pdm\.lock|pipfile\.lock|uv\.lock|composer\.lock|gemfile\.lock|flake\.lock|gradle\.lockfile|packages\.lock\.json|mix\.lock|pubspec\.lock|podfile\.lock|package\.resolved)$/u,
  ],
];

/** Sorted by importance, then by path; each path once. */
export function markedChanges(changed: readonly ChangedPath[]): readonly MarkedChange[] {
  const found = new Map<string, MarkedChange>();
  for (const { path, mode } of changed) {
    const kind = mode === SUBMODULE_MODE ? "submodule" : kindOf(path);
    if (kind !== undefined && !found.has(path)) found.set(path, { path, kind, why: WHY[kind] });
  }
  const rank = ({ kind }: MarkedChange): number => MARKED_KINDS.indexOf(kind);
  return [...found.values()].toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
}

/** Where git cannot list the changes. A person should know that the changes were not checked, instead of reading "nothing marked". */
export function unknownChanges(from: string, to: string): MarkedChange {
  return { path: `${from.slice(0, 10)}..${to.slice(0, 10)}`, kind: "unknown", why: WHY.unknown };
}

export function markedSentence({ path, why }: MarkedChange): string {
  return `${path} ${why}`;
}

function kindOf(path: string): MarkedKind | undefined {
  const plain = path.normalize("NFKC").toLowerCase();
  return RULES.find(([, pattern]) => pattern.test(plain))?.[0];
}
