import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Fragment, useMemo } from "react";
import type { LogRecord } from "../service/logloom.ts";
import { useHas, useService } from "../service/operation-hooks.ts";
import { shortTime, type Zone } from "./format-time.ts";
import { oneLine, plain } from "./safe-text.ts";
import { say } from "./translate.ts";

/** A deployment: a record with `kind:marker` and its release. */
interface Marker {
  id: string;
  /** In seconds since 1970. */
  at: number;
  release: string;
  service: string | null;
  url: string | undefined;
}

const most = 50;

/** The newest markers of a range of seconds, the oldest first. Empty for a reader who may not see them. */
function useMarkers(from: number, to: number): Marker[] {
  const service = useService();
  const hasSearch = useHas("search_logs");
  // A range that ends now moves with each run of the search. Rounded, it is asked again only from time to time.
  const step = Math.max(60, 2 ** Math.ceil(Math.log2((to - from) / 60)));
  const parameters = {
    p_query_dsl: "level:info @kind:marker",
    p_ts_from: instant(Math.floor(from / step) * step),
    p_ts_to: instant(Math.ceil(to / step) * step),
    p_limit: most,
  };
  const { data } = useQuery({
    // Not the name of the operation: whether markers are refused says nothing about the search.
    queryKey: ["markers", parameters.p_ts_from, parameters.p_ts_to],
    queryFn: ({ signal }) => service.call("search_logs", parameters, { signal }),
    enabled: hasSearch && from < to,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  return useMemo(
    () => (data?.logs ?? []).flatMap(markerOf).filter(({ at }) => at >= from && at <= to).reverse(),
    [data, from, to],
  );
}

const instant = (seconds: number) => new Date(seconds * 1000).toISOString();

function markerOf({ id, ts, service, attrs }: LogRecord): Marker[] {
  const { release, url } = Object(attrs);
  if (release === undefined || release === null) return [];
  const isLink = typeof url === "string" && /^https?:\/\//i.test(url);
  return [{
    id,
    at: Date.parse(ts) / 1000,
    release: oneLine(plain(String(release)), 200),
    service: service === null ? null : oneLine(plain(service), 100),
    url: isLink ? url : undefined,
  }];
}

function wordsOf({ at, release, service }: Marker, zone: Zone): string {
  const time = shortTime(at * 1000, zone);
  return service === null
    ? say("Release {release} was deployed at {time}.", { release, time })
    : say("Release {release} of {service} was deployed at {time}.", { release, service, time });
}

/** Markers closer than this share of the chart's width are drawn as one. */
const least = 0.015;

/** Lines over a chart where releases were deployed. Each has its name as far as there is room. */
export function ChartMarkers({ range: [from, to], zone }: { range: [number, number]; zone: Zone }) {
  const groups: { place: number; markers: Marker[] }[] = [];
  for (const marker of useMarkers(from, to)) {
    const place = (marker.at - from) / (to - from);
    const last = groups.at(-1);
    if (last && place - last.place < least) last.markers.push(marker);
    else groups.push({ place, markers: [marker] });
  }
  if (groups.length === 0) return null;
  return (
    <ul className="chart-markers" aria-label={say("Releases")}>
      {groups.map(({ place, markers }, i) => (
        <li
          key={markers[0]?.id}
          style={{
            left: `${100 * place}%`,
            width: `${100 * ((groups[i + 1]?.place ?? 1) - place)}%`,
          }}
        >
          <Flag markers={markers} zone={zone} isRight={place < 0.5} />
        </li>
      ))}
    </ul>
  );
}

function Flag({ markers, zone, isRight }: { markers: Marker[]; zone: Zone; isRight: boolean }) {
  const words = markers.map((marker) => wordsOf(marker, zone));
  const newest = markers.at(-1);
  const others = markers.length > 1 ? ` +${markers.length - 1}` : "";
  const shown = (
    <>
      <bdi>{newest?.release}</bdi>
      {others}
      <span className={isRight ? "chart-tip" : "chart-tip left"} aria-hidden="true">
        {words.map((line, i) => <p key={i}>{line}</p>)}
      </span>
    </>
  );
  const named = { className: "chart-marker", "aria-label": words.join(" ") };
  return newest?.url === undefined
    ? <span {...named} role="img" tabIndex={0}>{shown}</span>
    : <a {...named} href={newest.url} target="_blank" rel="noreferrer noopener">{shown}</a>;
}

/** How long before a range a deployment may be to explain it, in seconds. */
const shortly = 3600;

/** A sentence for each release that was deployed in a range or shortly before it, the newest first. */
export function MarkerNote({ from, to, zone }: { from: string; to: string; zone: Zone }) {
  const [start, end] = [Date.parse(from) / 1000, Date.parse(to) / 1000];
  const markers = useMarkers(start - Math.min(shortly, end - start), end).slice(-5).reverse();
  if (markers.length === 0) return null;
  return (
    <p className="about">
      {markers.map((marker) => (
        <Fragment key={marker.id}>
          {marker.url === undefined
            ? wordsOf(marker, zone)
            : (
              <a href={marker.url} target="_blank" rel="noreferrer noopener">
                {wordsOf(marker, zone)}
              </a>
            )}
          {" "}
        </Fragment>
      ))}
    </p>
  );
}
