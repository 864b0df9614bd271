import { seconds } from "../shared/format-number.ts";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useShortcuts } from "../shared/shortcuts.ts";
import { IconButton } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";

const choices = [0, 10, 30];

/** Runs the search again now, or every ten or thirty seconds. */
export function RefreshMenu({ again }: { again: () => void }) {
  const queries = useQueryClient();
  const [every, setEvery] = useState(0);
  const latest = useRef(again);
  latest.current = again;
  useShortcuts({ r: again });
  useEffect(() => {
    if (every === 0) return;
    const timer = setInterval(() => {
      // A request that takes longer than the interval must not be restarted.
      if (!document.hidden && queries.isFetching() === 0) latest.current();
    }, every * 1000);
    return () => clearInterval(timer);
  }, [every, queries]);
  return (
    <div className="refresh">
      <IconButton icon="refresh" label={say("Run again (r)")} onClick={again} />
      <select
        aria-label={say("Refresh")}
        value={every}
        onChange={(event) => setEvery(Number(event.target.value))}
      >
        {choices.map((one) => (
          <option key={one} value={one}>
            {one === 0 ? say("Refresh: off") : say("Refresh: {span}", { span: seconds(one) })}
          </option>
        ))}
      </select>
    </div>
  );
}
