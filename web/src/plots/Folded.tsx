import { type ReactNode, useState } from "react";
import { Fold } from "@/show/Fold";

/** Something that is made only when it is wanted. */
export function Folded({ title, children }: { title: string; children: ReactNode }) {
  const [wanted, setWanted] = useState(false);
  return (
    <Fold title={title} onOpen={() => setWanted(true)}>
      {wanted ? children : null}
    </Fold>
  );
}
