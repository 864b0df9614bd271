import { useId, useRef, useState } from "react";
import {
  instant,
  presets,
  type Range,
  rangeLabel,
  resolve,
  typed,
  untyped,
  type Zone,
  zoneWords,
} from "../address/range.ts";
import { Icon } from "../shared/icons.tsx";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { runRange } from "./use-search.ts";
import { say } from "../shared/words.ts";

export function RangePicker(
  { range, isLive }: { range: Range; isLive: boolean },
) {
  const { zone } = usePreferences();
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const choose = (wanted: Range) => {
    menu.current?.hidePopover();
    runRange(wanted);
  };
  return (
    <div className="range">
      <button
        type="button"
        className="button"
        popoverTarget={id}
      >
        <Icon name="clock" />
        <span className="hidden">Range:</span>
        <span className="range-label">
          {isLive ? say("Live") : say(rangeLabel(range, zone))}
        </span>
        <Icon name="down" />
      </button>
      <div ref={menu} id={id} popover="auto" className="popover range-menu">
        <ul>
          {presets.map((preset) => (
            <li key={preset.from}>
              <button
                type="button"
                className="menu-item"
                aria-pressed={preset.from === range.from && range.to === "now"}
                onClick={() => choose({ from: preset.from, to: "now" })}
              >
                {say(preset.label)}
              </button>
            </li>
          ))}
        </ul>
        <CustomRange
          key={`${range.from} ${range.to} ${zone}`}
          range={range}
          zone={zone}
          onChoose={choose}
        />
        <fieldset className="segments">
          <legend>{say("Times in")}</legend>
          {(["local", "utc"] as const).map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="range-zone"
                checked={zone === one}
                onChange={() => prefer({ zone: one })}
              />
              {one === "utc" ? "UTC" : "local"}
            </label>
          ))}
        </fieldset>
      </div>
    </div>
  );
}

/** Times in the displayed zone, or words like now-3h. */
function CustomRange({ range, zone, onChoose }: {
  range: Range;
  zone: Zone;
  onChoose: (range: Range) => void;
}) {
  const [from, setFrom] = useState(typed(range.from, zone));
  const [to, setTo] = useState(typed(range.to, zone));
  const [wrong, setWrong] = useState<string | null>(null);
  const id = useId();
  const submit = () => {
    const now = Date.now();
    const unread = [from, to].find((word) => instant(word, now, zone) === null);
    if (unread !== undefined) {
      return setWrong(
        `"${unread}" is no time: write 2026-11-21T09:00 or now-3h.`,
      );
    }
    const wanted = {
      // An unchanged time stays as exact as it is.
      from: from === typed(range.from, zone) ? range.from : untyped(from, zone, now),
      to: to === typed(range.to, zone) ? range.to : untyped(to, zone, now),
    };
    if (resolve(wanted, now) === null) {
      return setWrong("The range ends before it begins.");
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
      <label className="field">
        <span>{say("From")}</span>
        <input
          value={from}
          onChange={(event) => setFrom(event.target.value)}
          spellCheck={false}
        />
      </label>
      <label className="field">
        <span>{say("To")}</span>
        <input
          value={to}
          onChange={(event) => setTo(event.target.value)}
          spellCheck={false}
        />
      </label>
      <p className="about">{zoneWords(zone)}</p>
      {wrong && <p id={id} className="field-error" role="alert">{wrong}</p>}
      <button
        type="submit"
        className="button"
        aria-describedby={wrong ? id : undefined}
      >
        {say("Use this range")}
      </button>
    </form>
  );
}
