import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { onLive, queryClient } from "./base/queries.ts";
import { router } from "./frame/router.tsx";
import { currentToken, onSession } from "./base/session.ts";
import { openSession } from "./base/login.ts";
import { applyDensity } from "./base/density.ts";
import { prefetchWhenIdle } from "./base/prefetch.ts";
import { applyTheme } from "./base/theme.ts";
import { onChanges, startLive } from "./base/live/live.ts";
import { LoginPage } from "./welcome/login-page.tsx";
import "./styles.css";

applyTheme();
applyDensity();
const opened = await openSession();
onChanges(onLive);
onSession(() => {
  queryClient.clear();
  startLive();
});
startLive();

function Root() {
  const token = useSyncExternalStore(onSession, currentToken);
  if (token === null) return <LoginPage why={opened.ok ? "The session has ended." : opened.why} />;
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

const root = document.querySelector("#root");
if (root === null) throw new Error("the page has no root");
prefetchWhenIdle();
createRoot(root).render(
  <StrictMode>
    <Root />
  </StrictMode>,
);
