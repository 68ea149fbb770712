const MINUTE = 60_000;
const DAY = 86_400_000;

/** Two windows for each name: a minute that starts with the first request, and the UTC day. In memory. */
export class Limits {
  #windows = new Map();

  constructor() {
    setInterval(() => this.#sweep(), MINUTE).unref();
  }

  /** Counts one request if both windows have room for it, and returns the state of the one with fewer requests left. */
  admit(name, { perMinute, perDay }) {
    const now = Date.now();
    const day = Math.floor(now / DAY);
    let windows = this.#windows.get(name);
    if (!windows) {
      windows = { minuteEnds: 0, minuteUsed: 0, day, dayUsed: 0 };
      this.#windows.set(name, windows);
    }
    if (now >= windows.minuteEnds) {
      windows.minuteEnds = now + MINUTE;
      windows.minuteUsed = 0;
    }
    if (windows.day !== day) {
      windows.day = day;
      windows.dayUsed = 0;
    }
    const admitted = windows.minuteUsed < perMinute && windows.dayUsed < perDay;
    if (admitted) {
      windows.minuteUsed++;
      windows.dayUsed++;
    }
    const minuteLeft = perMinute - windows.minuteUsed;
    const dayLeft = perDay - windows.dayUsed;
    const isMinute = minuteLeft < dayLeft;
    const ends = isMinute ? windows.minuteEnds : (day + 1) * DAY;
    return {
      admitted,
      limit: isMinute ? perMinute : perDay,
      remaining: Math.max(0, isMinute ? minuteLeft : dayLeft),
      reset: Math.ceil(ends / 1000),
      retryAfter: Math.max(1, Math.ceil((ends - now) / 1000)),
    };
  }

  #sweep() {
    const now = Date.now();
    const today = Math.floor(now / DAY);
    for (const [name, { minuteEnds, day }] of this.#windows) {
      if (now >= minuteEnds && day !== today) this.#windows.delete(name);
    }
  }
}
