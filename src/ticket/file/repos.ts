// The values of `repo` that name a repository for tickets: the project itself, by its folder's name or its remote, and those in the
// settings. Others are refused: the value comes from the ticket's author.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

/** The first is the project's name in new tickets. */
export function ownRepoNames(project: string): readonly string[] {
  const url = originOf(project);
  const remote = url === undefined ? undefined : /^[^/]+\/(.+)$/u.exec(placeOf(url) ?? "")?.[1];
  return [
    ...(remote === undefined ? [] : [remote]),
    basename(resolve(project)),
    ".",
    ...(url === undefined ? [] : [url]),
  ];
}

export function repoRule(project: string, repos: Readonly<Record<string, string>>): (repo: string) => boolean {
  const allowed = new Set([...ownRepoNames(project), ...Object.keys(repos)].map((name) => name.toLowerCase()));
  const places = new Set([...allowed].flatMap((name) => placeOf(name) ?? []));
  return (repo) => {
    const name = repo.toLowerCase();
    const place = placeOf(name);
    return allowed.has(name) || (place !== undefined && places.has(place));
  };
}

const ADDRESS = /^(?:(?:https|ssh):\/\/(?:[^/@]+@)?([\w.:-]+)\/|git@([\w.-]+):)([\w.-]+(?:\/[\w.-]+)+)$/u;

/** Two addresses of one repository have one place: https://host/owner/name.git and git@host:owner/name -> host/owner/name. */
function placeOf(url: string): string | undefined {
  const match = url.length > 500 ? null : ADDRESS.exec(url.replace(/\/$/u, "").replace(/\.git$/u, ""));
  return match === null ? undefined : `${match[1] ?? match[2]}/${match[3]}`;
}

/** Parses the configuration's text: starting git for one line is slow, and a repository's includes must not matter here. */
function originOf(project: string): string | undefined {
  const config = readSmall(join(project, ".git", "config")) ?? configOfWorktree(project);
  let isOrigin = false;
  for (const line of (config ?? "").split("\n").map((each) => each.trim())) {
    if (line.startsWith("[")) isOrigin = line === '[remote "origin"]';
    else if (isOrigin && /^url\s*=/u.test(line)) return line.slice(line.indexOf("=") + 1).trim();
  }
  return undefined;
}

function configOfWorktree(project: string): string | undefined {
  const link = readSmall(join(project, ".git"));
  if (link?.startsWith("gitdir:") !== true) return undefined;
  const folder = resolve(project, link.slice("gitdir:".length).trim());
  return readSmall(join(folder, readSmall(join(folder, "commondir"))?.trim() ?? ".", "config"));
}

function readSmall(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    return stat.isFile() && stat.size <= 256 * 1024 ? readFileSync(descriptor, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
