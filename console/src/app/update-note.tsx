import { useState } from "react";
import { IconButton } from "../shared/controls.tsx";
import { wasUpdated } from "../shared/update.ts";
import { say } from "../shared/words.ts";

/** Says why the page reloaded by itself. */
export function UpdateNote() {
  const [isShown, setShown] = useState(wasUpdated);
  if (!isShown) return null;
  return (
    <p className="connection update" role="status">
      {say("The console was updated and reloaded.")}
      <IconButton icon="close" label={say("Close this note")} onClick={() => setShown(false)} />
    </p>
  );
}
