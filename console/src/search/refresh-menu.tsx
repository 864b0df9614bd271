import { seconds } from "../shared/numbers.ts";
import { useEffect, useRef, useState } from "react";
import { IconButton } from "../shared/controls.tsx";
import type { Run } from "./use-search.ts";
import { say } from "../shared/words.ts";

const choices = [0, 10, 30];

/** Runs again: now, or every ten or thirty seconds. */
export function RefreshMenu({ run }: { run: Run & { again: () => void } }) {
  const [every, setEvery] = useState(0);
  const again = useRef(run.again);
  again.current = run.again;
  useEffect(() => {
    if (every === 0 || run.isLive) return;
    const timer = setInterval(() => {
      if (!document.hidden) again.current();
    }, every * 1000);
    return () => clearInterval(timer);
  }, [every, run.isLive]);
  return (
    <div className="refresh">
      <IconButton
        icon="refresh"
        label={say("Run again (r)")}
        onClick={run.again}
        disabled={run.isLive}
      />
      <select
        aria-label={say("Run repeatedly")}
        value={every}
        disabled={run.isLive}
        onChange={(event) => setEvery(Number(event.target.value))}
      >
        {choices.map((one) => (
          <option key={one} value={one}>
            {one === 0 ? say("Off") : seconds(one)}
          </option>
        ))}
      </select>
    </div>
  );
}
