import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function AgentsPage(): ReactNode {
  return <PageHead title="agents" />;
}
