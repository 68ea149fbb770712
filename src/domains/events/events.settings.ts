import { setting } from "../../settings/setting.ts";

export const eventSettings = {
  PETSTORE_EVENT_DAYS: setting<number>({
    meaning: "How many days events are stored. The newest is always kept.",
    fallback: "30",
    expects: "a whole number of days from 7 to 3650",
    parse: (text) => {
      const days = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
      return days >= 7 && days <= 3650 ? days : undefined;
    },
  }),
};
