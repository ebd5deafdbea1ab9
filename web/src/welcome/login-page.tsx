import { type ReactNode, useState } from "react";
import { login } from "../base/login.ts";
import { Button } from "../ui/button.tsx";

/** The login with a one-time code from the terminal. */
export function LoginPage({ why }: { readonly why: string }): ReactNode {
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState(why);
  const [busy, setBusy] = useState(false);
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 p-6">
      <h1 className="text-2xl font-semibold">Passrail</h1>
      <p className="text-muted">
        Run <code className="rounded bg-sunken px-1.5 py-0.5 font-mono text-ink">passrail open</code> in your terminal.
        It opens this page with a one-time code that is valid for one minute.
      </p>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          setBusy(true);
          void login(code).then((done) => {
            setBusy(false);
            if (!done.ok) setProblem(done.why);
          });
        }}
      >
        <label className="flex flex-col gap-1 text-sm font-medium">
          Login code
          <input
            value={code}
            onChange={(event) => setCode(event.target.value)}
            autoComplete="off"
            spellCheck={false}
            className="rounded-md border border-line bg-panel px-3 py-2 font-mono text-sm"
          />
        </label>
        <Button
          type="submit"
          look="primary"
          disabledBecause={code.trim() === "" ? "Paste the code first." : busy ? "You are being logged in." : undefined}
        >
          Log in
        </Button>
      </form>
      {problem !== "" && (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
    </main>
  );
}
