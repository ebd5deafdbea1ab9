import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { whoQuery } from "../base/queries.ts";
import { nameOf } from "../inbox/words.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure } from "../ui/states.tsx";
import { logOut } from "./sign-off.ts";

/** The logged-in user, and the logout button. */
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
            {who.isSession ? ", with a session of this browser" : ", with a key"}.
          </>
        )}
      </p>
      {leaving.error !== null && <Failure error={leaving.error} />}
      <Button
        onClick={() => leaving.mutate()}
        disabledBecause={leaving.isPending ? "You are being logged out." : undefined}
      >
        Log out
      </Button>
    </div>
  );
}
