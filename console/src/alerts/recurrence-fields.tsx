import type { AlertRecurrence } from "../service/logloom.ts";
import { CheckField, TextField } from "../shared/form-fields.tsx";
import { locale } from "../shared/format-number.ts";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { databaseZone } from "./time-zone.ts";

/** The days of a week, which begins on Monday. */
const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** 1 January 2024 is a Monday. */
const nameOf = (day: typeof days[number]) =>
  new Intl.DateTimeFormat(locale, { weekday: "short", timeZone: "UTC" })
    .format(Date.UTC(2024, 0, 1 + days.indexOf(day)));

export const everyNight: AlertRecurrence = {
  days: [...days],
  start: "02:00",
  minutes: 60,
  time_zone: databaseZone(Intl.DateTimeFormat().resolvedOptions().timeZone),
};

/** When a silence recurs. */
export function RecurrenceFields({ value, onChange }: {
  value: AlertRecurrence;
  onChange: (value: AlertRecurrence) => void;
}) {
  return (
    <>
      <fieldset className="check-grid">
        <legend>{say("On these days")}</legend>
        {days.map((day) => (
          <CheckField
            key={day}
            label={nameOf(day)}
            checked={value.days.includes(day)}
            onChange={(isOn) => {
              const others = value.days.filter((one) => one !== day);
              onChange({ ...value, days: isOn ? [...others, day] : others });
            }}
          />
        ))}
      </fieldset>
      <div className="form-pair">
        <TextField
          label={say("Begins at")}
          type="time"
          required
          value={value.start}
          onChange={(start) => onChange({ ...value, start })}
        />
        <TextField
          label={say("Minutes")}
          type="number"
          required
          min={1}
          max={10_080}
          value={value.minutes}
          onChange={(minutes) => onChange({ ...value, minutes: Number(minutes) })}
        />
      </div>
      <TextField
        label={say("Time zone")}
        required
        placeholder="Europe/Berlin"
        spellCheck={false}
        value={value.time_zone}
        onChange={(time_zone) => onChange({ ...value, time_zone })}
      />
    </>
  );
}

/** Such as "Sat, Sun 02:00, 90 min, Europe/Berlin". */
export function recurrenceText({ days: chosen, start, minutes, time_zone }: AlertRecurrence) {
  return say("{days} {start}, {minutes} min, {zone}", {
    days: chosen.length === days.length ? say("Every day") : chosen.map(nameOf).join(", "),
    start: plain(start),
    minutes: `${minutes}`,
    zone: plain(time_zone),
  });
}
