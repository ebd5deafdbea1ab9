// What an agent may do without asking anybody, by its permission: one rule for all vendors. It looks at what a call says that it does. That
// keeps an honest agent from accidents; only a sandbox holds a hostile one.

import { realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import type { Permission } from "../../core/flow/agent-options.ts";
import type { PermissionRequest } from "../runner.ts";
import { reachesOutside } from "./shell-reach.ts";

export type PermissionRules = {
  readonly permission: Permission;
  /** Where the agent works. */
  readonly cwd: string;
  /** Folders that it may change: its workspace, and those of its own report. */
  readonly folders: readonly string[];
  readonly home: string;
  /** The folder for temporary files: written freely, but nothing there is deleted without a question. */
  readonly temporary: string;
  /** A sandbox holds it: paths outside of the workspace are not those of this machine. */
  readonly isConfined: boolean;
  readonly denyTools: readonly string[];
  /** The only tools that it may use; undefined: its permission decides. */
  readonly tools?: readonly string[];
};

export type Judgement =
  | { readonly type: "allow" }
  | { readonly type: "refuse"; readonly why: string }
  | { readonly type: "ask"; readonly why: string };

const ALLOW: Judgement = { type: "allow" };

export function judge(request: PermissionRequest, rules: PermissionRules): Judgement {
  const { permission, denyTools, tools } = rules;
  const { kind, tool } = request;
  if (denyTools.includes(tool)) return { type: "refuse", why: `${tool} is denied to this agent.` };
  if (permission === "full") return ALLOW;
  if (permission === "read")
    return kind === "command" || kind === "write" ? { type: "refuse", why: "This agent may only read." } : ALLOW;
  const otherwise = permission === "ask" ? "ask" : "refuse";
  if (tools !== undefined && !tools.includes(tool))
    return { type: otherwise, why: `${tool} is not among the tools of this agent.` };
  const outside = rules.isConfined ? undefined : outsideOf(request, rules);
  if (outside !== undefined)
    return { type: otherwise, why: `It reaches outside of the workspace (${outside.slice(0, 200)}).` };
  if (permission === "edit" || kind === "look" || (kind === "write" && request.paths.length > 0)) return ALLOW;
  return { type: "ask", why: "The agent's program does not allow this by itself." };
}

/** The first place outside that the call names as changed; undefined if it names none. */
function outsideOf({ kind, what, paths }: PermissionRequest, rules: PermissionRules): string | undefined {
  const roots = rules.folders.map(realPath);
  const isInside = (path: string, more: readonly string[] = []): boolean => {
    const real = realPath(resolve(rules.cwd, path));
    return [...roots, ...more].some((root) => real === root || real.startsWith(root === sep ? root : root + sep));
  };
  if (kind === "write") return paths.find((path) => !isInside(withHome(path, rules.home)));
  if (kind !== "command") return undefined;
  return reachesOutside(what, {
    cwd: rules.cwd,
    home: rules.home,
    mayDelete: (path) => isInside(path) && !roots.includes(realPath(path)),
    mayWrite: (path) => isInside(path, [realPath(rules.temporary), "/dev"]),
  });
}

function withHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? home + path.slice(1) : path;
}

/** Through links, as far as the path exists: a link in the workspace may lead out of it. */
function realPath(path: string): string {
  const missing: string[] = [];
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      return join(realpathSync(at), ...missing);
    } catch {
      if (dirname(at) === at) return resolve(path);
      missing.unshift(at.slice(dirname(at).length).replace(sep, ""));
    }
  }
}
