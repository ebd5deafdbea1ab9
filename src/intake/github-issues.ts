// Issues of a repository on GitHub, as a list to take over.

import { err, ok, type Result } from "../core/result.ts";
import { type Gh, readJson } from "./gh.ts";
import type { GivenIssue } from "./import-list.ts";

export type GitHubQuery = { readonly repo: string; readonly label?: string; readonly limit: number };

export const GITHUB_REPO = /^[A-Za-z0-9._-]{1,100}\/[A-Za-z0-9._-]{1,100}$/u;

export async function issuesOfGitHub(
  gh: Gh,
  { repo, label, limit }: GitHubQuery,
): Promise<Result<readonly GivenIssue[]>> {
  const args = [
    "issue",
    "list",
    `--repo=${repo}`,
    "--state=open",
    `--limit=${limit}`,
    ...(label === undefined ? [] : [`--label=${label}`]),
    "--json",
    "number,title,body,labels,url",
  ];
  const printed = await readJson(gh, args);
  if (!printed.ok) return printed;
  const list = printed.value;
  if (!Array.isArray(list) || list.some((item) => item === null || typeof item !== "object"))
    return err({ code: "gh_unreadable", message: `gh printed something else than the issues of ${repo}.` });
  const issues = list as Readonly<Record<string, unknown>>[];
  return ok(
    // Titles and bodies can be longer than a ticket's; what is cut stands behind the link.
    issues
      .map(({ number, title, body, labels, url }) => ({
        place: `issue ${String(number)}`,
        values: {
          number,
          title: String(title).slice(0, 200),
          body: withLink(String(body ?? ""), String(url ?? "")),
          labels,
        },
      }))
      .sort((a, b) => Number(a.values.number) - Number(b.values.number)),
  );
}

const BODY_CHARS = 60_000;

function withLink(body: string, url: string): string {
  const isCut = body.length > BODY_CHARS;
  return `${body.slice(0, BODY_CHARS)}${isCut ? "\n…" : ""}\n\nFrom: ${url.slice(0, 500)}`;
}
