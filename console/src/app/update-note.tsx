import { useState } from "react";
import { IconButton } from "../shared/basic-controls.tsx";
import { wasUpdated } from "../shared/load-part.ts";
import { say } from "../shared/translate.ts";

/** Says that the page reloaded because of an update. */
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
