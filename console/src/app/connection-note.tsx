import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ServiceError } from "../service/errors.ts";
import { useService } from "../service/hooks.ts";

/** Says that the service is unreachable, waits until it is back, and then reloads failed requests. */
export function ConnectionNote() {
  const queries = useQueryClient();
  const service = useService();
  const [isAway, setAway] = useState(false);

  useEffect(() =>
    queries.getQueryCache().subscribe(({ query }) => {
      const error = query.state.error ?? query.state.fetchFailureReason;
      if (error instanceof ServiceError && error.isAway) setAway(true);
    }), [queries]);

  useEffect(() => {
    if (!isAway) return;
    const stop = new AbortController();
    const timer = setInterval(async () => {
      try {
        await service.health(stop.signal);
      } catch {
        return;
      }
      setAway(false);
      void queries.refetchQueries({
        type: "active",
        predicate: (one) => one.state.error !== null,
      });
    }, 1500);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [isAway, queries, service]);

  if (!isAway) return null;
  return (
    <p className="connection" role="status">
      The service cannot be reached. Trying again…
    </p>
  );
}
