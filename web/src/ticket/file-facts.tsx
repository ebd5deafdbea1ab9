// The front matter of a ticket's file.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { SafeText } from "../ui/safe-text.tsx";

type Detail = AnswerTo<"showTicket">;

export function FileFacts({
  file,
  frontMatter,
}: {
  readonly file: NonNullable<Detail["file"]>;
  readonly frontMatter: string | null;
}): ReactNode {
  const texts = [
    ["file", file.path],
    ["status", file.status],
    ["repo", file.repo],
    ["branch", file.branch],
    ["group", file.group],
    ["variantHint", file.variantHint],
    ["priority", file.priority === null ? null : String(file.priority)],
    ["workflow", file.workflow],
    ["last_error", file.lastError],
  ] as const;
  return (
    <div className="flex flex-col gap-3 text-sm">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        {texts.map(([name, value]) =>
          value === null ? null : (
            <Fact key={name} name={name}>
              <SafeText max={1000}>{value}</SafeText>
            </Fact>
          ),
        )}
        <Fact name="request">
          <Link to="/work" search={{ request: file.request }}>
            <SafeText max={40}>{file.request}</SafeText>
          </Link>
        </Fact>
      </dl>
      {frontMatter !== null && (
        <details className="rounded-md border border-line">
          <summary className="min-h-9 cursor-pointer px-3 py-2 font-medium pointer-coarse:min-h-11">
            Front matter as written in the file
          </summary>
          <pre tabIndex={0} className="overflow-x-auto border-t border-line p-3 font-mono text-xs">
            <SafeText max={16 * 1024}>{frontMatter}</SafeText>
          </pre>
        </details>
      )}
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <>
      <dt className="font-mono text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
