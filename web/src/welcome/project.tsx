import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ownProjectQuery } from "../base/queries.ts";
import { CopyLine } from "../ui/copy-line.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Icon } from "../ui/icon.tsx";

/** The project folder, and whether runs can have separate branches in it. */
export function Project(): ReactNode {
  const { data, error, refetch } = useQuery(ownProjectQuery);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the repository" />;
  const { path, git } = data;
  return (
    <div className="flex flex-col items-start gap-2 text-sm">
      <p className="font-mono text-xs break-all">
        <SafeText max={500}>{path === "" ? "no folder" : path}</SafeText>
      </p>
      {git === null ? (
        <>
          <Badge tone="attention">
            <Icon name="warning" /> no git repository
          </Badge>
          <p>Agents would work in the folder itself, without their own branch.</p>
          <CopyLine>git init && git commit --allow-empty -m start</CopyLine>
        </>
      ) : git.commit === null ? (
        <>
          <Badge tone="attention">
            <Icon name="warning" /> no commit yet
          </Badge>
          <p>Runs need a commit to branch from.</p>
          <CopyLine>git commit --allow-empty -m start</CopyLine>
        </>
      ) : (
        <>
          <Badge tone="good">
            <Icon name="check" /> git repository
          </Badge>
          <p>
            {git.branch === null ? (
              "No branch is checked out"
            ) : (
              <code>
                <SafeText max={200}>{git.branch}</SafeText>
              </code>
            )}{" "}
            at <code>{git.commit.slice(0, 10)}</code>
            {git.changes && ". Agents do not see uncommitted changes"}.
          </p>
        </>
      )}
    </div>
  );
}
