import { say } from "../shared/translate.ts";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { LogloomError } from "../service/logloom.ts";
import { useService } from "../service/operation-hooks.ts";

/** Says that the service is unreachable. When it is back, repeats the failed requests. */
export function ConnectionNote() {
  const queries = useQueryClient();
  const service = useService();
  const [isAway, setAway] = useState(false);

  useEffect(() =>
    queries.getQueryCache().subscribe(({ query: { state: { error } } }) => {
      if (error instanceof LogloomError && error.isAway) setAway(true);
    }), [queries]);
  // Shows the note at once, while failed calls are still being retried.
  useEffect(() => service.away.subscribe(() => setAway(true)), [service]);

  useEffect(() => {
    if (!isAway) return;
    const stop = new AbortController();
    const timer = setInterval(async () => {
      try {
        await service.health(undefined, { signal: stop.signal });
      } catch {
        return;
      }
      setAway(false);
      void queries.refetchQueries({ type: "active", predicate: (one) => one.state.error !== null });
    }, 1500);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [isAway, queries, service]);

  if (!isAway) return null;
  return (
    <p className="connection" role="status">
      {say("The service cannot be reached. Trying again…")}
    </p>
  );
}
