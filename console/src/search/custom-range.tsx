import { lazy, Suspense, useId, useState } from "react";
import {
  instant,
  type Range,
  resolve,
  typed,
  untyped,
  type Zone,
  zoneWords,
} from "../address/range.ts";
import { loadPart } from "../shared/load-part.ts";
import { TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";
import { Button } from "../shared/basic-controls.tsx";

const RangeCalendar = lazy(() => loadPart(() => import("./range-calendar.tsx")));

/** A form for a range: times in the displayed zone, or words like now-3h. */
export function CustomRange({ range, zone, onChoose }: {
  range: Range;
  zone: Zone;
  onChoose: (range: Range) => void;
}) {
  const [from, setFrom] = useState(typed(range.from, zone));
  const [to, setTo] = useState(typed(range.to, zone));
  const [wrong, setWrong] = useState<string | null>(null);
  const [hasCalendar, setCalendar] = useState(false);
  const id = useId();
  const submit = () => {
    const now = Date.now();
    const unread = [from, to].find((word) => instant(word, now, zone) === null);
    if (unread !== undefined) {
      return setWrong(
        say('"{text}" is not a time. Write 2026-11-21T09:00 or now-3h.', { text: unread }),
      );
    }
    const wanted = {
      // A typed time has less precision, so an unchanged time is kept.
      from: from === typed(range.from, zone) ? range.from : untyped(from, zone, now),
      to: to === typed(range.to, zone) ? range.to : untyped(to, zone, now),
    };
    if (resolve(wanted, now) === null) {
      return setWrong(say("The range ends before it begins."));
    }
    onChoose(wanted);
  };
  return (
    <form
      className="custom-range"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextField label={say("From")} value={from} onChange={setFrom} spellCheck={false} />
      <TextField label={say("To")} value={to} onChange={setTo} spellCheck={false} />
      <p className="about">{zoneWords(zone)}</p>
      <Button
        look="small quiet"
        aria-expanded={hasCalendar}
        onClick={() => setCalendar(!hasCalendar)}
      >
        {say("Choose days")}
      </Button>
      {hasCalendar && (
        <Suspense>
          <RangeCalendar
            from={from}
            to={to}
            zone={zone}
            onChoose={(first, last) => {
              setFrom(first);
              setTo(last);
              setWrong(null);
            }}
          />
        </Suspense>
      )}
      {wrong && <p id={id} className="field-error" role="alert">{wrong}</p>}
      <button type="submit" className="button" aria-describedby={wrong ? id : undefined}>
        {say("Use this range")}
      </button>
    </form>
  );
}
