import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function FlowPage(): ReactNode {
  return <PageHead title="flow" />;
}
