import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ApiError, call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { toast } from "../ui/toast.ts";

/** Starts the runs of the demo and opens the first one. */
export function useStartDemo() {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => call("startDemo", { body: {} }),
    onSuccess: ({ runs: [first] }) => {
      toast("The demo started: one run works, the other waits for you.");
      void queryClient.invalidateQueries();
      if (first !== undefined) void navigate({ to: "/runs/$run", params: { run: String(first.number) } });
    },
    onError: (error) => toast(error instanceof ApiError ? error.problem.detail : "The demo did not start.", "bad"),
  });
}
