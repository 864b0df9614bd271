import { ScreenHead } from "../shared/basic-controls.tsx";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

/** Shown for an address that names no screen. */
export function UnknownScreen() {
  return (
    <div className="page">
      <ScreenHead
        title={say("There is no screen {address}", { address: plain(oneLine(location.hash, 60)) })}
        about={say("Choose one at the top.")}
      />
    </div>
  );
}
