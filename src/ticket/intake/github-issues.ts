// Issues of a GitHub repository, as a list to import.

import { z } from "zod";
import { err, ok, type Result } from "../../core/result.ts";
import { type Gh, readJson } from "./gh.ts";
import type { GivenIssue } from "./import-list.ts";

export type GitHubQuery = { readonly repo: string; readonly label?: string; readonly limit: number };

export const GITHUB_REPO = /^[A-Za-z0-9._-]{1,100}\/[A-Za-z0-9._-]{1,100}$/u;

const listed = z.array(
  z.object({
    number: z.int().positive(),
    title: z.string(),
    body: z.string().nullish(),
    labels: z.array(z.object({ name: z.string() })).default([]),
    url: z.string(),
  }),
);

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
  const issues = listed.safeParse(printed.value);
  if (!issues.success)
    return err({ code: "gh_unreadable", message: `gh printed something else than the issues of ${repo}.` });
  return ok(
    issues.data
      .sort((one, other) => one.number - other.number)
      .map(({ number, title, body, labels, url }) => ({
        place: `issue ${number}`,
        // Titles and bodies can be longer than a ticket's; the link leads to the full text.
        values: { number, title: title.slice(0, 200), body: withLink(body ?? "", url), labels },
      })),
  );
}

const BODY_CHARS = 60_000;

export function withLink(body: string, url: string): string {
  const isCut = body.length > BODY_CHARS;
  return `${body.slice(0, BODY_CHARS)}${isCut ? "\n…" : ""}\n\nFrom: ${url.slice(0, 500)}`;
}
