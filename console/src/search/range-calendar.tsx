import { wholeDay } from "../shared/format-time.ts";
import { useState } from "react";
import { type DateRange, DayPicker } from "react-day-picker";
import "react-day-picker/style.css";
import { instant, type Zone } from "../address/range.ts";

/** A calendar to choose days from. It loads when it is opened. */
export default function RangeCalendar({ from, to, zone, onChoose }: {
  from: string;
  to: string;
  zone: Zone;
  /** Gets the start of the first day and the end of the last day, as typed times. */
  onChoose: (from: string, to: string) => void;
}) {
  const now = Date.now();
  const [days, setDays] = useState<DateRange | undefined>(() => {
    const [start, end] = [instant(from, now, zone), instant(to, now, zone)];
    // A range like now-1h selects no days.
    if (start === null || end === null || end <= start || from.startsWith("now")) return undefined;
    return { from: new Date(start), to: new Date(end - 1) };
  });
  const choose = (range: DateRange | undefined, day: Date) => {
    // A second click on a single day keeps it.
    const chosen = range?.from ? range : { from: day, to: day };
    setDays(chosen);
    if (!chosen.from) return;
    const last = dayWord(chosen.to ?? chosen.from);
    onChoose(`${dayWord(chosen.from)}T00:00`, `${dayAfter(last)}T00:00`);
  };
  return (
    <DayPicker
      mode="range"
      className="calendar"
      timeZone={zone === "utc" ? "UTC" : undefined}
      weekStartsOn={1}
      defaultMonth={days?.to ?? new Date(now)}
      selected={days}
      disabled={{ after: new Date(now) }}
      onSelect={choose}
      labels={{ labelDayButton: dayName }}
    />
  );
}

const pad = (value: number) => String(value).padStart(2, "0");

/** The full date, for screen readers. */
function dayName(day: Date): string {
  const utc = new Date(Date.UTC(day.getFullYear(), day.getMonth(), day.getDate()));
  return wholeDay(utc);
}

/** The day in the calendar's own zone. */
function dayWord(day: Date): string {
  return `${day.getFullYear()}-${pad(day.getMonth() + 1)}-${pad(day.getDate())}`;
}

function dayAfter(word: string): string {
  return new Date(Date.parse(word) + 86_400_000).toISOString().slice(0, 10);
}
