import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function FlowsPage(): ReactNode {
  return <PageHead title="flows" />;
}
