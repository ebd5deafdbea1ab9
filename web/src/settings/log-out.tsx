import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { whoQuery } from "../base/queries.ts";
import { nameOf } from "../inbox/words.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure } from "../ui/states.tsx";
import { logOut } from "./sign-off.ts";

/** Who is here, and the way out. */
export function LogOut(): ReactNode {
  const who = useQuery(whoQuery).data;
  const leaving = useMutation({ mutationFn: logOut });
  return (
    <div className="flex flex-col items-start gap-3 text-sm">
      <p>
        {who === undefined ? (
          "…"
        ) : (
          <>
            You are{" "}
            <strong>
              <SafeText max={100}>{nameOf(who.name)}</SafeText>
            </strong>
            , {who.kind}
            {who.isSession ? ", by a session of this browser" : ", by a key"}.
          </>
        )}
      </p>
      {leaving.error !== null && <Failure error={leaving.error} />}
      <Button onClick={() => leaving.mutate()} disabledBecause={leaving.isPending ? "It is being done." : undefined}>
        Log out
      </Button>
    </div>
  );
}
