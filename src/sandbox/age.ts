/** An age as kubectl prints it: two units at most, coarser with time. */
export function humanAge(since: string | undefined, now: Date): string {
  if (!since) return "<unknown>";
  const seconds = Math.floor((now.getTime() - Date.parse(since)) / 1000);
  if (Number.isNaN(seconds)) return "<invalid>";
  if (seconds < -1) return "<invalid>";
  return humanDuration(Math.max(seconds, 0));
}

function humanDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return pair([minutes, "m"], [seconds % 60, "s"]);
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return pair([hours, "h"], [minutes % 60, "m"]);
  if (hours < 48) return `${hours}h`;
  if (days < 8) return pair([days, "d"], [hours % 24, "h"]);
  if (days < 730) return `${days}d`;
  if (days < 8 * 365) return pair([Math.floor(days / 365), "y"], [days % 365, "d"]);
  return `${Math.floor(days / 365)}y`;
}

function pair(large: readonly [number, string], small: readonly [number, string]): string {
  return small[0] === 0 ? large.join("") : large.join("") + small.join("");
}
