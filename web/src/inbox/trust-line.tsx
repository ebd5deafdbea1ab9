// A line above the inbox while files that decide what runs wait for an approval.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { trustQuery, whoQuery } from "../base/queries.ts";

export function TrustLine(): ReactNode {
  const mayOperate = useQuery(whoQuery).data?.scopes.includes("operate") === true;
  const { data } = useQuery({ ...trustQuery, enabled: mayOperate });
  if (data === undefined || (data.state !== "changed" && data.state !== "new")) return null;
  const count = data.files.filter(({ change }) => change !== "same").length;
  return (
    <p className="mb-3 rounded-md bg-attention-soft px-3 py-2 text-sm text-attention">
      <span aria-hidden="true">⚠ </span>
      {count === 1 ? "A file that decides" : `${count} files that decide`} what runs {count === 1 ? "waits" : "wait"}{" "}
      for your approval.{" "}
      <Link to="/trust" className="underline">
        Look at {count === 1 ? "it" : "them"}
      </Link>
    </p>
  );
}
