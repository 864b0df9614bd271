import { useLayoutEffect, useState } from "react";
import { useAddress } from "../address/address.ts";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { say, type Words } from "../shared/translate.ts";
import { Button } from "../shared/basic-controls.tsx";
import { useIsNarrow } from "../shared/use-is-narrow.ts";

/** The notes of a first visit. Each has the selector of the element that it explains, which is on one screen only. */
const notes: [place: string, words: Words][] = [
  [".services", "Your services, compared with the day before. Click one to see its records."],
  [
    ".shell:has(.services) :is(.nav a[href*=search], .nav-button)",
    "Search shows every record. Each screen stays as you left it.",
  ],
  [".query-field", "Search for words or field:value. Add | count() by service for numbers."],
  [".histogram .chart-place", "Drag over the chart for a narrower range, double-click to go back."],
  [
    ".result-tabs",
    "Patterns groups similar messages. What changed? compares with the time before.",
  ],
  ["[data-row]", "Click a record to see it at the side, with the others of its request."],
];

interface Place {
  at: number;
  left: number;
  top: number;
}

const width = 290;
/** The size of the longest note. */
const height = 112;

/** Shows six short notes on a first visit, each beside what it explains; on a phone at the bottom edge. */
export function VisitNotes() {
  const { knowsItsWay } = usePreferences();
  const { screen } = useAddress();
  const isNarrow = useIsNarrow();
  const [seen, setSeen] = useState<ReadonlySet<number>>(new Set());
  const [place, setPlace] = useState<Place | null>(null);
  useLayoutEffect(() => {
    if (knowsItsWay) return;
    // Parts of a screen appear one after another: the next note waits for its part.
    const look = () => setPlace((before) => placeOfNext(seen, before));
    look();
    const timer = setInterval(look, 400);
    return () => clearInterval(timer);
  }, [knowsItsWay, seen, screen]);
  if (knowsItsWay || place === null) return null;
  const note = notes[place.at];
  const end = () => prefer({ knowsItsWay: true });
  const go = () => {
    const told = new Set(seen).add(place.at);
    if (told.size === notes.length) return end();
    setSeen(told);
    setPlace(null);
  };
  return (
    <aside
      className="visit-note"
      aria-label={say("A first look")}
      style={isNarrow ? undefined : { left: place.left, top: place.top, width }}
    >
      <p role="status">{note && say(note[1])}</p>
      <div className="row">
        <span className="about">{seen.size + 1}/{notes.length}</span>
        <span className="spring" />
        <Button look="small quiet" onClick={end}>{say("No more notes")}</Button>
        <Button look="small primary" onClick={go}>{say("Got it")}</Button>
      </div>
    </aside>
  );
}

function placeOfNext(seen: ReadonlySet<number>, before: Place | null): Place | null {
  if (document.querySelector("dialog[open], .first-event")) return null;
  for (const [at, [selector]] of notes.entries()) {
    if (seen.has(at)) continue;
    const box = document.querySelector(selector)?.getBoundingClientRect();
    if (!box || box.width === 0 || box.bottom < 0 || box.top > innerHeight) continue;
    const { left, top } = beside(box);
    const isSame = before?.at === at && before.left === left && before.top === top;
    return isSame ? before : { at, left, top };
  }
  return null;
}

/**
 * Finds a place for a note: below the element that it explains, or above, to the right or left; otherwise over the
 * element's lower corner.
 */
function beside(box: DOMRect): { left: number; top: number } {
  const inX = Math.max(8, Math.min(box.left, innerWidth - width - 12));
  const inY = Math.max(8, Math.min(box.top, innerHeight - height - 8));
  const places = [
    { left: inX, top: box.bottom + 8 },
    { left: inX, top: box.top - height - 8 },
    { left: box.right + 8, top: inY },
    { left: box.left - width - 8, top: inY },
  ];
  const free = places.find(({ left, top }) =>
    left >= 0 && top >= 0 && left + width <= innerWidth && top + height <= innerHeight
  );
  const { left, top } = free ??
    { left: innerWidth - width - 12, top: Math.min(box.bottom, innerHeight) - height - 8 };
  return { left: Math.round(left), top: Math.round(top) };
}
