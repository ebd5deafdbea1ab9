import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function RunPage(): ReactNode {
  return <PageHead title="run" />;
}
