import { ScreenHead } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";
import { StreamsTab } from "../streams/streams-tab.tsx";

/** The log streams that the customer made. */
export default function StreamsPart() {
  return (
    <div className="page">
      <ScreenHead title={say("Log streams")} />
      <StreamsTab />
    </div>
  );
}
